"""What one line cannot say: that the lines of a trace follow on from each other.

Sequence numbers count without gaps, time does not go back, replicas are those of the header, and a message arrives, is
lost or is doubled only while a copy of it is on its way.
"""

from msgspec import UNSET, UnsetType

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedSend
from kraft_traces.errors import (
    DuplicateSequenceError,
    FieldError,
    SequenceGapError,
    TimeGoesBackError,
    UnknownMessageError,
    UnknownReplicaError,
)
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.vocabulary import EVENTS

FOLLOWED_MAX = 1_000_000
"""With more messages on their way than this, a trace leaves out that they were lost; they are no longer followed."""


def check_sequence(
    sequence: int, expected: int, source: str, line_number: int, earlier_line: int | None = None
) -> None:
    """Hold a line to its number; `earlier_line` is that of the line which has it, if it is known.

    Raises:
        DuplicateSequenceError, SequenceGapError: it is not the expected one.
    """
    if sequence == expected:
        return
    if sequence < expected:
        user = "an earlier line" if earlier_line is None else f"line {earlier_line}"
        detail = f"{user} has sequence {sequence} already, expected {expected}"
        raise DuplicateSequenceError(detail, source, line_number, "$.sequence")
    detail = f"sequence {sequence} leaves a gap, expected {expected}"
    raise SequenceGapError(detail, source, line_number, "$.sequence")


class Continuity:
    """Follows the lines of one trace; its memory grows with the messages on their way, not with the lines.

    Attributes:
        sequence: that of the newest line, 0 before the first.
        time_ms: that of the newest line that has one, 0 before the first.
        knows_messages: whether every send so far was observed with its id, so that an id that is not on its way
            is an error; false for the rest of a foreign trace from the first line that leaves sends out, or once more
            than `FOLLOWED_MAX` messages never arrive.
    """

    def __init__(self, header: HeaderLine, source: str) -> None:
        self.sequence = 0
        self.knows_messages = True
        self._source = source
        self._replicas = frozenset(replica.id for replica in header.replicas)
        self.time_ms = 0
        self._checkpoints = 0
        self._copies: dict[str, int] = {}
        self.has_gaps = False
        """True if a line said that events before it are not recorded."""

    def __len__(self) -> int:
        """How many messages on their way are followed."""
        return len(self._copies)

    def follow(self, line: EventLine, line_number: int) -> None:
        """Take the next line.

        Raises:
            DuplicateSequenceError, SequenceGapError, TimeGoesBackError, UnknownReplicaError, UnknownMessageError:
                the line does not follow on from those before it.
        """
        expected = self.sequence + 1
        # Without gaps and blank lines, the line of every earlier sequence number is known.
        earlier = line_number - expected + line.sequence if not self._checkpoints else None
        check_sequence(line.sequence, expected, self._source, line_number, earlier)
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self._check_time(line.time_ms, line_number)
        self._check_replicas(line, line_number)
        if self.knows_messages:
            self._follow_messages(line, line_number)

    def skip(self, sequence: int, time_ms: int, copies: dict[str, int]) -> None:
        """Go on after lines that follow on, up to this sequence, after which these messages are on their way."""
        self.sequence = sequence
        self.time_ms = time_ms
        self._copies = copies

    def follow_checkpoint(self, line: CheckpointLine, line_number: int) -> None:
        """Take a checkpoint.  What it says beyond sequence, time and replicas is for the model to judge.

        Raises:
            DuplicateSequenceError, SequenceGapError, TimeGoesBackError, UnknownReplicaError, FieldError:
                it does not follow on from the lines before it.
        """
        check_sequence(line.sequence, self.sequence, self._source, line_number)
        self._check_time(line.time_ms, line_number)
        there: set[int] = set()
        for index, replica in enumerate(line.replicas):
            key = replica.state.replica_key
            if key is not UNSET:
                self._check_replica(key.id, f"$.replicas[{index}].state.replica_key.id", line_number)
                there.add(key.id)
        for index, flight in enumerate(line.network):
            for name in ("source", "destination"):
                self._check_replica(getattr(flight.message, name), f"$.network[{index}].message.{name}", line_number)
        for index, cut in enumerate(line.cuts):
            for replica_id in cut:
                self._check_replica(replica_id, f"$.cuts[{index}]", line_number)
        for index, votes in enumerate(line.history.votes):
            self._check_replica(votes.replica, f"$.history.votes[{index}].replica", line_number)
        voters = {votes.replica for votes in line.history.votes}
        for field, named in (("$.replicas", there), ("$.history.votes", voters)):
            if named != self._replicas:
                lacking = ", ".join(map(str, sorted(self._replicas - named)))
                detail = f"replica {lacking} is missing, expected each replica of the header"
                raise FieldError(detail, self._source, line_number, field, problem="missing")
        self._checkpoints += 1

    def _check_time(self, time_ms: int, line_number: int) -> None:
        if time_ms < self.time_ms:
            detail = f"time {time_ms} ms is before {self.time_ms} ms, the time of an earlier line"
            raise TimeGoesBackError(detail, self._source, line_number, "$.time_ms")
        self.time_ms = time_ms

    def _check_replicas(self, line: EventLine, line_number: int) -> None:
        self._check_replica(line.replica, "$.replica", line_number)
        if line.unrecorded is not UNSET:
            self.has_gaps = True
            for index, replica in enumerate(line.unrecorded):
                self._check_replica(replica, f"$.unrecorded[{index}]", line_number)
        if line.message is not UNSET:
            self._check_replica(line.message.source, "$.message.source", line_number)
        if line.input is not UNSET:
            self._check_replica(line.input.source, "$.input.source", line_number)
            self._check_replica(line.input.destination, "$.input.destination", line_number)
        if line.answer is not UNSET:
            self._check_replica(line.answer.source, "$.answer.source", line_number)
            self._check_replica(line.answer.destination, "$.answer.destination", line_number)
        if line.effects:
            for index, effect in enumerate(line.effects):
                if type(effect) is TracedSend:
                    field = f"$.effects[{index}].message.destination"
                    self._check_replica(effect.message.destination, field, line_number)

    def _check_replica(self, replica: int | UnsetType, field: str, line_number: int) -> None:
        if replica not in self._replicas and replica is not UNSET:
            known = ", ".join(str(known) for known in sorted(self._replicas))
            detail = f"replica {replica} is not in the header, which lists {known}"
            raise UnknownReplicaError(detail, self._source, line_number, field)

    def _follow_messages(self, line: EventLine, line_number: int) -> None:
        name = line.event
        if EVENTS[name].at_replica:
            if line.message is not UNSET and line.message.id is not UNSET:
                self._take(line.message.id, "$.message.id", line_number)
            elif line.cause is not UNSET and line.cause.message_id is not UNSET:
                self._take(line.cause.message_id, "$.cause.message_id", line_number)
            if line.effects is UNSET:
                self._forget()
                return
            for effect in line.effects:
                if type(effect) is TracedSend:
                    self._send(effect.message.id)
            return
        identifier = UNSET if line.input is UNSET else line.input.message_id
        if name == "DuplicateMessage":
            if identifier is UNSET:
                self._forget()
            else:
                self._check_on_its_way(identifier, "$.input.message_id", line_number)
                self._copies[identifier] += 1
        elif identifier is not UNSET:
            self._take(identifier, "$.input.message_id", line_number)
        if name == "AnswerUnsupportedVersion":
            self._send(UNSET if line.answer is UNSET else line.answer.id)

    def _send(self, identifier: str | UnsetType) -> None:
        if identifier is UNSET:
            self._forget()
        else:
            self._copies[identifier] = 1
            if len(self._copies) > FOLLOWED_MAX:
                self._forget()

    def _take(self, identifier: str, field: str, line_number: int) -> None:
        copies = self._check_on_its_way(identifier, field, line_number)
        if copies == 1:
            del self._copies[identifier]
        else:
            self._copies[identifier] = copies - 1

    def _check_on_its_way(self, identifier: str, field: str, line_number: int) -> int:
        copies = self._copies.get(identifier, 0)
        if not copies:
            detail = (
                f"message {identifier} is not in flight: it was not sent before this line, "
                "or all copies of it have arrived or were lost"
            )
            raise UnknownMessageError(detail, self._source, line_number, field)
        return copies

    def _forget(self) -> None:
        self.knows_messages = False
        self._copies.clear()

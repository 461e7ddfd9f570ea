"""Checks across the lines of a trace.

Sequence numbers count without gaps, time does not go back, replicas are those of the header, and a message is
delivered, dropped or duplicated only while a copy of it is in flight.
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
"""Maximum number of in-flight messages that are followed.  A trace with more does not record their loss."""


def check_sequence(
    sequence: int, expected: int, source: str, line_number: int, earlier_line: int | None = None
) -> None:
    """Check a line's sequence; `earlier_line` is the line that has the same one, if it is known.

    Raises:
        DuplicateSequenceError, SequenceGapError: it is not the expected sequence.
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
    """Checker of the lines of one trace; its memory grows with the in-flight messages, not with the lines.

    Attributes:
        sequence: sequence of the newest line, 0 before the first.
        time_ms: time of the newest line that has one, 0 before the first.
        knows_messages: True if every send so far was recorded with its id, so that an id that is not in flight is an
            error.  False from the first line of a foreign trace without its sends, or once more than `FOLLOWED_MAX`
            messages are in flight.
    """

    def __init__(self, header: HeaderLine, source: str) -> None:
        self.sequence = 0
        self.knows_messages = True
        self._source = source
        self._replicas = frozenset(replica.id for replica in header.replicas)
        self._opaque = set(header.opaque)
        self._has_history = not header.opaque
        self._with_gaps: set[int] = set()
        """Replicas with unrecorded events."""
        self.time_ms = 0
        self._checkpoints = 0
        self._copies: dict[str, int] = {}
        self.has_gaps = False
        """True if a line marked events before it as unrecorded."""

    @property
    def unobserved(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Replicas that are not observed at present, and those with unrecorded events."""
        return tuple(sorted(self._opaque)), tuple(sorted(self._with_gaps))

    @unobserved.setter
    def unobserved(self, unobserved: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        self._opaque, self._with_gaps = map(set, unobserved)

    def __len__(self) -> int:
        """Return the number of in-flight messages that are followed."""
        return len(self._copies)

    def follow(self, line: EventLine, line_number: int) -> None:
        """Check the next line.

        Raises:
            DuplicateSequenceError, SequenceGapError, TimeGoesBackError, UnknownReplicaError, UnknownMessageError:
                the line contradicts those before it.
        """
        expected = self.sequence + 1
        # Without gaps and blank lines, the line of every earlier sequence number is known.
        earlier = line_number - expected + line.sequence if not self._checkpoints else None
        check_sequence(line.sequence, expected, self._source, line_number, earlier)
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self._check_time(line.time_ms, line_number)
        self._check_replicas(line, line_number)
        if self._opaque:
            self._check_opaque(line, line_number)
        if self.knows_messages:
            self._follow_messages(line, line_number)

    def skip(self, sequence: int, time_ms: int, copies: dict[str, int]) -> None:
        """Continue after lines that were checked elsewhere, from this sequence and with these messages in flight."""
        self.sequence = sequence
        self.time_ms = time_ms
        self._copies = copies

    def follow_checkpoint(self, line: CheckpointLine, line_number: int) -> None:
        """Check sequence, time and replicas of a checkpoint; the model checks the rest.

        Raises:
            DuplicateSequenceError, SequenceGapError, TimeGoesBackError, UnknownReplicaError, FieldError:
                the checkpoint contradicts the lines before it.
        """
        check_sequence(line.sequence, self.sequence, self._source, line_number)
        self._check_time(line.time_ms, line_number)
        recorded: set[int] = set()
        for index, replica in enumerate(line.replicas):
            key = replica.state.replica_key
            if key is not UNSET:
                self._check_replica(key.id, f"$.replicas[{index}].state.replica_key.id", line_number)
                recorded.add(key.id)
        for index, flight in enumerate(line.network):
            for name in ("source", "destination"):
                self._check_replica(getattr(flight.message, name), f"$.network[{index}].message.{name}", line_number)
        for index, cut in enumerate(line.cuts):
            for replica_id in cut:
                self._check_replica(replica_id, f"$.cuts[{index}]", line_number)
        for index, replica_id in enumerate(line.observed):
            self._check_replica(replica_id, f"$.observed[{index}]", line_number)
            if replica_id not in self._opaque | self._with_gaps:
                detail = (
                    f"replica {replica_id} is observed already, expected one that is not, or with unrecorded events"
                )
                raise FieldError(detail, self._source, line_number, f"$.observed[{index}]", problem="inconsistent")
        self._check_states(line, recorded, line_number)
        self._check_history(line, line_number)
        self._opaque.difference_update(line.observed)
        self._with_gaps.difference_update(line.observed)
        self._checkpoints += 1

    def _check_states(self, line: CheckpointLine, recorded: set[int], line_number: int) -> None:
        """Check that a checkpoint has the states of the replicas that are observed, or begin to be."""
        expected = set(line.observed) or self._replicas - self._opaque
        observed = "observed " if self._opaque else ""
        listed = "each replica of $.observed" if line.observed else f"each {observed}replica of the header"
        for missing in sorted(expected - recorded):
            detail = f"replica {missing} is missing, expected {listed}"
            raise FieldError(detail, self._source, line_number, "$.replicas", problem="missing")
        for other in sorted(recorded - expected):
            detail = f"replica {other} is not expected here: expected {listed}, and no other"
            raise FieldError(detail, self._source, line_number, "$.replicas", problem="inconsistent")
        if line.observed and (line.cuts or any(flight.copies for flight in line.network)):
            field = "$.cuts" if line.cuts else "$.network"
            detail = "expected none in a checkpoint with 'observed', except Fetches with 0 copies in the network"
            raise FieldError(detail, self._source, line_number, field, problem="inconsistent")

    def _check_history(self, line: CheckpointLine, line_number: int) -> None:
        if line.history is UNSET:
            if self._has_history and not line.observed:
                detail = "missing field 'history', which a checkpoint requires where all replicas are observed"
                raise FieldError(detail, self._source, line_number, "$.history", problem="missing")
            return
        if not self._has_history or line.observed:
            detail = "expected no history, because it is not known: the trace does not observe all replicas throughout"
            raise FieldError(detail, self._source, line_number, "$.history", problem="inconsistent")
        for index, votes in enumerate(line.history.votes):
            self._check_replica(votes.replica, f"$.history.votes[{index}].replica", line_number)
        missing = self._replicas - {votes.replica for votes in line.history.votes}
        if missing:
            detail = f"replica {', '.join(map(str, sorted(missing)))} is missing, expected each replica of the header"
            raise FieldError(detail, self._source, line_number, "$.history.votes", problem="missing")

    def _check_time(self, time_ms: int, line_number: int) -> None:
        if time_ms < self.time_ms:
            detail = f"time {time_ms} ms is before {self.time_ms} ms, the time of an earlier line"
            raise TimeGoesBackError(detail, self._source, line_number, "$.time_ms")
        self.time_ms = time_ms

    def _check_replicas(self, line: EventLine, line_number: int) -> None:
        self._check_replica(line.replica, "$.replica", line_number)
        if line.unrecorded is not UNSET:
            self.has_gaps = True
            self._with_gaps.update(line.unrecorded)
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

    def _check_opaque(self, line: EventLine, line_number: int) -> None:
        """Check that no replica that is not observed has a line, and that no message from it has an id."""
        unrecorded = () if line.unrecorded is UNSET else line.unrecorded
        places = [
            ("$.replica", line.replica),
            *[(f"$.unrecorded[{i}]", replica) for i, replica in enumerate(unrecorded)],
        ]
        for field, replica in places:
            if replica in self._opaque:
                detail = f"replica {replica} is not observed, according to the header, so no line is about its events"
                raise FieldError(detail, self._source, line_number, field, problem="inconsistent")
        message, cause = line.message, line.cause
        if message is not UNSET and message.source in self._opaque:
            has_id = message.id is not UNSET or (cause is not UNSET and cause.message_id is not UNSET)
            if has_id:
                field = "$.message.id" if message.id is not UNSET else "$.cause.message_id"
                detail = f"expected no id, because replica {message.source}, which sent the message, is not observed"
                raise FieldError(detail, self._source, line_number, field, problem="inconsistent")

    def _check_replica(self, replica: int | UnsetType, field: str, line_number: int) -> None:
        if replica not in self._replicas and replica is not UNSET:
            listed = ", ".join(map(str, sorted(self._replicas)))
            detail = f"replica {replica} is not in the header, which lists {listed}"
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
                if type(effect) is TracedSend and effect.message.destination not in self._opaque:
                    self._send(effect.message.id)
            return
        identifier = UNSET if line.input is UNSET else line.input.message_id
        if name == "DuplicateMessage":
            if identifier is UNSET:
                self._forget()
            else:
                self._check_in_flight(identifier, "$.input.message_id", line_number)
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
        copies = self._check_in_flight(identifier, field, line_number)
        if copies == 1:
            del self._copies[identifier]
        else:
            self._copies[identifier] = copies - 1

    def _check_in_flight(self, identifier: str, field: str, line_number: int) -> int:
        copies = self._copies.get(identifier, 0)
        if not copies:
            detail = (
                f"message {identifier} is not in flight: it was not sent before this line, "
                "or all copies of it have arrived or were lost"
            )
            if self._opaque:
                unseen = ", ".join(map(str, sorted(self._opaque)))
                detail += f"; messages to and from replica {unseen}, which is not observed, are not in flight"
            raise UnknownMessageError(detail, self._source, line_number, field)
        return copies

    def _forget(self) -> None:
        self.knows_messages = False
        self._copies.clear()

"""The messages on their way as their senders' lines show them.

A message that arrives must be the one that was sent; where both lines are complete, that is one comparison here, and
the model need not be asked for its network.
"""

from collections.abc import Iterator

from msgspec import UNSET

from kraft_spec.difference import Difference
from kraft_traces.check.binding import delivered_id
from kraft_traces.check.differences import message_differences
from kraft_traces.check.observation import canonical_message, is_whole
from kraft_traces.check.wording import MISSING
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import CHANGE_ANSWERS, TracedAddVoterRequest, TracedMessage
from kraft_traces.values import CHANGE_SUFFIX

CONSUMING = frozenset(("DropMessage", "AnswerUnsupportedVersion"))
"""Events of the network after which one copy of a message is gone."""


REMEMBERED_MAX = 100_000
"""With more messages on their way than this, the trace leaves out where they went; they are no longer remembered."""


class Flights:
    """Follows the sends and arrivals of one trace; its size is the number of messages on their way."""

    def __init__(self, cluster_id: str, *, own: bool) -> None:
        """`own` says that all lines are complete, so that nothing may be missing in a message."""
        self._cluster_id = cluster_id
        self._own = own
        self._copies: dict[str, int] = {}
        self._messages: dict[str, TracedMessage] = {}
        self._knows_arrivals = True

    def __len__(self) -> int:
        return len(self._messages)

    def is_sure(self, line: EventLine) -> bool:
        """Is what the line delivers, if anything, known to be what was sent?"""
        message = line.message
        if message is UNSET:
            return not line.event.startswith("Handle")
        return message.id is not UNSET and self._messages.get(message.id) == message

    def differences(self, line: EventLine) -> tuple[Difference, ...]:
        """Where a line delivers or sends something else than it can: for the model's own fields see the comparison."""
        found = list(self._delivered(line))
        if line.effects:
            for place, effect in enumerate(line.effects):
                if isinstance(effect, TracedSend):
                    message = effect.message
                    found.extend(self._beyond_the_model(f"effects[{place}].message.", message))
                    if message.id is UNSET and self._own:
                        suffix = CHANGE_SUFFIX if isinstance(message, CHANGE_ANSWERS) else ""
                        expected = f"{line.sequence}.{message.destination}{suffix}"
                        found.append(Difference(f"effects[{place}].message.id", expected, MISSING))
        return tuple(found)

    def _delivered(self, line: EventLine) -> Iterator[Difference]:
        message = line.message
        if message is UNSET:
            return
        yield from self._compared("message.", message)

    def _compared(self, prefix: str, message: TracedMessage) -> Iterator[Difference]:
        """Where a message is not what its sender's line showed."""
        sent = UNSET if message.id is UNSET else self._messages.get(message.id, UNSET)
        if sent is UNSET:
            yield from self._beyond_the_model(prefix, message)
        elif sent != message:
            expected = canonical_message(sent)
            if is_whole(expected):
                shown = canonical_message(message)
                yield from message_differences(prefix, expected, shown, complete=self._own)
            yield from self._beyond_the_model(prefix, message)
            if isinstance(message, TracedAddVoterRequest) and isinstance(sent, TracedAddVoterRequest):
                times = (sent.timeout_ms, message.timeout_ms)
                if UNSET not in times and times[0] != times[1]:
                    yield Difference(f"{prefix}timeout_ms", *map(str, times))

    def _beyond_the_model(self, prefix: str, message: TracedMessage) -> Iterator[Difference]:
        """A request carries the cluster's id; software that knows none sends null.  The model has no durations."""
        if self._own and isinstance(message, TracedAddVoterRequest) and message.timeout_ms is UNSET:
            yield Difference(f"{prefix}timeout_ms", "a duration", MISSING)
        shown = getattr(message, "cluster_id", self._cluster_id)
        if shown == self._cluster_id or (shown in (UNSET, None) and not self._own):
            return
        actual = MISSING if shown is UNSET else "null" if shown is None else str(shown)
        yield Difference(f"{prefix}cluster_id", self._cluster_id, actual)

    def checkpoint_differences(self, line: CheckpointLine) -> tuple[Difference, ...]:
        """Where a checkpoint shows a message otherwise than its sender's line did."""
        found: list[Difference] = []
        for flight in line.network:
            found.extend(self._compared(f"network[id={flight.message.id}].message.", flight.message))
        return tuple(found)

    def begin_at(self, line: CheckpointLine) -> None:
        """Remember what a checkpoint shows, and nothing else."""
        self._knows_arrivals = True
        self._messages = {str(flight.message.id): flight.message for flight in line.network}
        self._copies = {str(flight.message.id): flight.copies for flight in line.network}
        if len(self._messages) > REMEMBERED_MAX:
            self._forget()

    def on_their_way(self) -> dict[str, tuple[int, TracedMessage]] | None:
        """The messages on their way by id, how many copies and what was sent; None if some are not remembered."""
        if not self._knows_arrivals:
            return None
        return {identifier: (self._copies[identifier], message) for identifier, message in self._messages.items()}

    def skip(self, on_their_way: dict[str, tuple[int, TracedMessage]]) -> None:
        """Go on with these, after lines that somebody else has followed."""
        self._messages = {identifier: message for identifier, (_, message) in on_their_way.items()}
        self._copies = {identifier: copies for identifier, (copies, _) in on_their_way.items()}

    def message(self, identifier: str) -> TracedMessage | None:
        """A message on its way, as far as it is remembered."""
        return self._messages.get(identifier)

    def send(self, message: TracedMessage) -> None:
        """Take a message that no line sends."""
        self._sent(message)

    def follow(self, line: EventLine) -> None:
        """Take a line that was right."""
        if line.effects:
            for effect in line.effects:
                if isinstance(effect, TracedSend):
                    self._sent(effect.message)
        if line.answer is not UNSET:
            self._sent(line.answer)
        if line.event.startswith("Handle"):
            self._arrived(delivered_id(line))
        elif line.event in CONSUMING:
            self._arrived(UNSET if line.input is UNSET else line.input.message_id)
        elif line.event == "DuplicateMessage":
            identifier = UNSET if line.input is UNSET else line.input.message_id
            if identifier in self._copies:
                self._copies[identifier] += 1
            elif identifier is UNSET:
                self._forget()

    def _sent(self, message: TracedMessage) -> None:
        if self._knows_arrivals and message.id is not UNSET:
            self._messages[message.id] = message
            self._copies[message.id] = 1
            if len(self._messages) > REMEMBERED_MAX:
                self._forget()

    def _arrived(self, identifier: object) -> None:
        if identifier is UNSET:
            self._forget()
            return
        copies = self._copies.get(identifier)  # type: ignore[call-overload]
        if copies == 1:
            del self._copies[identifier]  # type: ignore[arg-type]
            del self._messages[identifier]  # type: ignore[arg-type]
        elif copies is not None:
            self._copies[identifier] = copies - 1  # type: ignore[index]

    def _forget(self) -> None:
        """Without knowing what arrived, what is remembered would only grow."""
        self._knows_arrivals = False
        self._messages.clear()
        self._copies.clear()

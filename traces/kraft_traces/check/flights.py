"""In-flight messages as recorded in their senders' lines.

A delivered message must equal the message that was sent.  If both lines are complete, comparing them here is enough,
and the model's network is not evaluated.
"""

from collections.abc import Collection, Iterator

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
"""Events of the network that consume one copy of a message."""


REMEMBERED_MAX = 100_000
"""Maximum number of remembered in-flight messages.  A trace with more does not record their loss."""


class Flights:
    """In-flight messages of one trace; its size is their number."""

    def __init__(self, cluster_id: str, *, own: bool, opaque: Collection[int] = ()) -> None:
        """`own` if all lines are complete, so that no field of a message may be missing.

        No line receives a message to a replica that is in `opaque` when the message is sent.
        """
        self._opaque = opaque
        self._cluster_id = cluster_id
        self._own = own
        self._copies: dict[str, int] = {}
        self._messages: dict[str, TracedMessage] = {}
        self._knows_arrivals = True

    def __len__(self) -> int:
        return len(self._messages)

    def is_sure(self, line: EventLine) -> bool:
        """True if the line delivers no message, or one that equals the message that was sent."""
        message = line.message
        if message is UNSET:
            return not line.event.startswith("Handle")
        return message.id is not UNSET and self._messages.get(message.id) == message

    def differences(self, line: EventLine) -> tuple[Difference, ...]:
        """Return the differences of delivered messages, and of fields of sent messages that the model does not have."""
        differences = list(self._delivered(line))
        if line.effects:
            for place, effect in enumerate(line.effects):
                if isinstance(effect, TracedSend):
                    message = effect.message
                    differences.extend(self._beyond_the_model(f"effects[{place}].message.", message))
                    if message.id is UNSET and self._own:
                        suffix = CHANGE_SUFFIX if isinstance(message, CHANGE_ANSWERS) else ""
                        expected = f"{line.sequence}.{message.destination}{suffix}"
                        differences.append(Difference(f"effects[{place}].message.id", expected, MISSING))
        return tuple(differences)

    def _delivered(self, line: EventLine) -> Iterator[Difference]:
        message = line.message
        if message is UNSET:
            return
        yield from self._compared("message.", message)

    def _compared(self, prefix: str, message: TracedMessage) -> Iterator[Difference]:
        """Yield the differences between a message and the one recorded in its sender's line."""
        sent = UNSET if message.id is UNSET else self._messages.get(message.id, UNSET)
        if sent is UNSET:
            yield from self._beyond_the_model(prefix, message)
        elif sent != message:
            expected = canonical_message(sent)
            if is_whole(expected):
                actual = canonical_message(message)
                yield from message_differences(prefix, expected, actual, complete=self._own)
            yield from self._beyond_the_model(prefix, message)
            if isinstance(message, TracedAddVoterRequest) and isinstance(sent, TracedAddVoterRequest):
                times = (sent.timeout_ms, message.timeout_ms)
                if UNSET not in times and times[0] != times[1]:
                    yield Difference(f"{prefix}timeout_ms", *map(str, times))

    def _beyond_the_model(self, prefix: str, message: TracedMessage) -> Iterator[Difference]:
        """Yield the differences in fields that the model does not have; software without a cluster id sends null."""
        if self._own and isinstance(message, TracedAddVoterRequest) and message.timeout_ms is UNSET:
            yield Difference(f"{prefix}timeout_ms", "a duration", MISSING)
        cluster_id = getattr(message, "cluster_id", self._cluster_id)
        if cluster_id == self._cluster_id or (cluster_id in (UNSET, None) and not self._own):
            return
        actual = MISSING if cluster_id is UNSET else "null" if cluster_id is None else str(cluster_id)
        yield Difference(f"{prefix}cluster_id", self._cluster_id, actual)

    def checkpoint_differences(self, line: CheckpointLine) -> tuple[Difference, ...]:
        """Return the differences between the messages of a checkpoint and those of their senders' lines."""
        differences: list[Difference] = []
        for flight in line.network:
            differences.extend(self._compared(f"network[id={flight.message.id}].message.", flight.message))
        return tuple(differences)

    def begin_at(self, line: CheckpointLine) -> None:
        """Remember the messages of a checkpoint, and no others."""
        self._knows_arrivals = True
        with_ids = [(flight.message.id, flight) for flight in line.network if flight.message.id is not UNSET]
        self._messages = {identifier: flight.message for identifier, flight in with_ids}
        self._copies = {identifier: flight.copies for identifier, flight in with_ids}
        if len(self._messages) > REMEMBERED_MAX:
            self._forget()

    def in_flight(self) -> dict[str, tuple[int, TracedMessage]] | None:
        """Return the number of copies and the message by id; None if some messages are not remembered."""
        if not self._knows_arrivals:
            return None
        return {identifier: (self._copies[identifier], message) for identifier, message in self._messages.items()}

    def skip(self, in_flight: dict[str, tuple[int, TracedMessage]]) -> None:
        """Continue with these messages, after lines that the compiled model has checked."""
        self._messages = {identifier: message for identifier, (_, message) in in_flight.items()}
        self._copies = {identifier: copies for identifier, (copies, _) in in_flight.items()}

    def message(self, identifier: str) -> TracedMessage | None:
        """Return an in-flight message; None if it is not remembered."""
        return self._messages.get(identifier)

    def send(self, message: TracedMessage) -> None:
        """Add a message that no line sends."""
        self._sent(message)

    def follow(self, line: EventLine) -> None:
        """Take a line that was accepted."""
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
        if self._knows_arrivals and message.id is not UNSET and message.destination not in self._opaque:
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
        """Forget all messages: without the deliveries, the number of remembered messages would only grow."""
        self._knows_arrivals = False
        self._messages.clear()
        self._copies.clear()

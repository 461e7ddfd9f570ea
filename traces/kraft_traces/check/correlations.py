"""Translation of the correlation ids of a foreign trace to the model's numbers.

Software may use any correlation id that no other open request on the connection has.
The model uses the sequence of the line that sent the request; each line is translated before it is checked.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_spec.difference import Difference
from kraft_traces.check.binding import delivered_id, message_place
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import STARTS

REMEMBERED_MAX = 1000
"""Maximum number of remembered requests of a connection; the ids of older ones are not compared."""

_SENDS_REQUESTS = frozenset(("Poll", "PollFetch"))

_BEFORE = 0
"""Number of a request from before its sender or receiver became observed, which no line sent."""

Connection = tuple[int, int]
"""Requester and receiver."""


class Correlations:
    """Requests of one trace with their correlation ids."""

    def __init__(self) -> None:
        self._lines: dict[Connection, dict[int, int]] = defaultdict(dict)
        """Sequence of the line that sent the newest request with an id, by id."""
        self._open: dict[Connection, set[int]] = defaultdict(set)
        """Ids of requests that may still get a response."""
        self._unsure: set[int] = set()
        """Replicas that sent a request whose id is not recorded, or no longer remembered."""
        self._differences: list[Difference] = []

    def begin_at(self, line: CheckpointLine, in_numbers: CheckpointLine) -> None:
        """Take the requests of a checkpoint, and no others, with their ids.

        `in_numbers` is the same checkpoint in the model's numbers.
        """
        for remembered in (self._lines, self._open, self._unsure):
            remembered.clear()
        for flight, numbered_flight in zip(line.network, in_numbers.network, strict=True):
            connection, correlation_id = _connection(flight.message), flight.message.correlation_id
            if connection is not None and correlation_id is not UNSET:
                self._lines[connection][correlation_id] = numbered_flight.message.correlation_id
        for replica, numbered in zip(line.replicas, in_numbers.replicas, strict=True):
            assert replica.state.replica_key is not UNSET, "a checkpoint has every field"
            own, pending = replica.state.replica_key.id, replica.state.pending_change
            awaited = zip(replica.state.awaiting or (), numbered.state.awaiting or (), strict=True)
            for (to, correlation_id), (_, number) in awaited:
                self._remember((own, to), correlation_id, number)
            if pending and isinstance(pending.requester, int):
                # The requester may no longer wait for the response.
                change = numbered.state.pending_change
                self._lines[pending.requester, own][pending.request] = change.request  # type: ignore[union-attr]

    def snapshot(self) -> tuple[object, ...]:
        """Return everything remembered, as JSON values: per connection the lines and the open ids, then the unsure."""
        connections = sorted({*self._lines, *self._open})
        return (
            [[*pair, list(self._lines[pair].items()), sorted(self._open[pair])] for pair in connections],
            sorted(self._unsure),
        )

    def restore(self, snapshot: Sequence[Any]) -> None:
        """Continue from a snapshot, after lines that the compiled model has checked."""
        connections, unsure = snapshot
        self._lines.clear()
        self._open.clear()
        for requester, receiver, lines, are_open in connections:
            self._lines[requester, receiver] = dict(lines)
            self._open[requester, receiver] = set(are_open)
        self._unsure = set(unsure)

    def lose(self, replica: int) -> None:
        """Note that some requests and responses of a replica are not recorded."""
        self._unsure.add(replica)
        self._close(replica)

    def _close(self, replica: int) -> None:
        for connection in [pair for pair in self._open if pair[0] == replica]:
            del self._open[connection]

    def resume(self, replica: int, awaiting: Mapping[int, int], sequence: int) -> None:
        """Take the ids that a replica awaits, as if the line of this sequence had sent the unrecorded requests."""
        for to, correlation_id in awaiting.items():
            self._lines[replica, to].setdefault(correlation_id, sequence)

    def checkpoint(self, line: CheckpointLine) -> tuple[CheckpointLine, tuple[Difference, ...]]:
        """Translate a checkpoint, and return it with differences for ids that no request has.

        An id of a request that may be unrecorded stays, because a checkpoint must have every field.
        """
        network = []
        for flight in line.network:
            message = self._translated(flight.message, f"network[id={flight.message.id}].message.")
            network.append(flight if message.correlation_id is UNSET else replace(flight, message=message))
        replicas = []
        for traced in line.replicas:
            assert traced.state.replica_key is not UNSET, "a checkpoint has every field"
            replica = traced.state.replica_key.id
            state = self._state(replica, traced.state, f"replicas[id={replica}].state.", leaves_out=False)
            replicas.append(replace(traced, state=state))
        return replace(line, network=tuple(network), replicas=tuple(replicas)), self._take_differences()

    def _take_differences(self) -> tuple[Difference, ...]:
        differences = tuple(self._differences)
        self._differences.clear()
        return differences

    def number_of(self, message: TracedMessage) -> int | None:
        """Return the model's number of the request that a message is or answers; None if it is not known."""
        connection = _connection(message)
        if connection is None or message.correlation_id is UNSET:
            return None
        return self._lines[connection].get(message.correlation_id)

    def observe(self, replica: int, awaiting: Mapping[int, int], sequence: int) -> None:
        """Take the requests that a replica awaits where it becomes observed, after the event of this sequence."""
        self._close(replica)
        self.resume(replica, awaiting, sequence)
        for to, correlation_id in awaiting.items():
            self._open[replica, to].add(correlation_id)

    def note(self, connection: Connection, correlation_id: int, number: int) -> None:
        """Remember a request that no line sends."""
        self._remember(connection, correlation_id, number)
        self._open[connection].discard(correlation_id)

    def state(self, state: TracedState, replica: int) -> TracedState:
        """Translate a whole state, whose requests are all known."""
        return self._state(replica, state, "", leaves_out=False)

    def line(
        self, line: EventLine, *, unsent: bool = False, anew: bool = False
    ) -> tuple[EventLine, tuple[Difference, ...]]:
        """Translate an event line, and return it with differences for ids that no request has, or that are in use.

        With `unsent`, no line sent the delivered message, so its request need not be known; with `anew`, the number of
        a delivered request is that of this line.
        """
        replica = line.replica
        if replica is UNSET:
            return self._answered_by_network(line)
        if line.event in STARTS:
            self._close(replica)
        changed: dict[str, Any] = {}
        if line.message is not UNSET:
            changed["message"] = self._delivered(line, replica, line.message, unsent=unsent, anew=anew)
        if line.effects is UNSET:
            if line.event in _SENDS_REQUESTS:
                self._await(line, replica, None)
        elif line.effects:
            changed["effects"] = tuple(
                [self._effect(line.sequence, replica, place, effect) for place, effect in enumerate(line.effects)]
            )
            hidden = [effect.message.destination for effect in line.effects if _hides_its_id(effect)]  # type: ignore[union-attr]
            if hidden:
                self._await(line, replica, None if UNSET in hidden else hidden)
        if line.state is not UNSET:
            changed["state"] = self._state(replica, line.state, "state.")
        return replace(line, **changed), self._take_differences()

    def _await(self, line: EventLine, replica: int, receivers: Collection[object] | None) -> None:
        """Learn the unrecorded ids of requests that a line sends from the requests that its replica then awaits.

        `receivers` are the receivers of these requests; None if they are not recorded.  A replica that dies in the
        step awaits nothing.
        """
        if line.state is UNSET or line.state.awaiting is UNSET or line.crash is not UNSET:
            self._unsure.add(replica)
            return
        for to, correlation_id in line.state.awaiting:
            # An unrecorded id may belong to an earlier request.
            is_new = replica not in self._unsure if receivers is None else to in receivers
            if is_new and correlation_id not in self._open[replica, to]:
                self._remember((replica, to), correlation_id, line.sequence)

    def _remember(self, connection: Connection, correlation_id: int, sequence: int) -> None:
        self._open[connection].add(correlation_id)
        lines = self._lines[connection]
        lines.pop(correlation_id, None)
        lines[correlation_id] = sequence
        if len(lines) > REMEMBERED_MAX:
            oldest = next(iter(lines))
            del lines[oldest]
            self._open[connection].discard(oldest)
            self._unsure.add(connection[0])

    def _answered_by_network(self, line: EventLine) -> tuple[EventLine, tuple[Difference, ...]]:
        if line.answer is UNSET:
            return line, ()
        answer = self._translated(line.answer, "answer.")
        return replace(line, answer=answer), self._take_differences()

    def _delivered(
        self, line: EventLine, replica: int, message: TracedMessage, *, unsent: bool, anew: bool
    ) -> TracedMessage:
        sender, correlation_id = message.source, message.correlation_id
        whole = replace(message, destination=replica)
        if sender is UNSET or correlation_id is UNSET:
            return replace(message, correlation_id=UNSET)
        if not is_request(message):
            self._open[replica, sender].discard(correlation_id)
            if unsent and self.number_of(whole) is None:
                # Its receiver does not await it, so any number does that no request has.
                return replace(message, correlation_id=line.sequence)
        elif anew:
            self.note((sender, replica), correlation_id, line.sequence)
        elif unsent and self.number_of(whole) is None:
            self.note((sender, replica), correlation_id, _BEFORE)
        elif sender in self._unsure and (identifier := delivered_id(line)) is not UNSET:
            # The sender's line did not record the id; this line does.
            self._lines[sender, replica].setdefault(correlation_id, message_place(identifier).sent)
        return replace(self._translated(whole, "message."), destination=message.destination)

    def _effect(self, sequence: int, replica: int, place: int, effect: TracedEffect) -> TracedEffect:
        if not isinstance(effect, TracedSend):
            return effect
        message, path = effect.message, f"effects[{place}].message."
        if not is_request(message):
            whole = self._translated(replace(message, source=replica), path)
            return TracedSend(replace(whole, source=message.source))
        to, correlation_id = message.destination, message.correlation_id
        if to is UNSET or correlation_id is UNSET:
            return TracedSend(replace(message, correlation_id=UNSET))
        connection = (replica, to)
        if correlation_id in self._open[connection]:
            free = f"an id that no other open request from {replica} to {to} uses"
            self._differences.append(Difference(f"{path}correlation_id", free, str(correlation_id)))
        self._remember(connection, correlation_id, sequence)
        return TracedSend(replace(message, correlation_id=sequence))

    def _translated(self, message: TracedMessage, path: str) -> TracedMessage:
        correlation_id, connection = message.correlation_id, _connection(message)
        if correlation_id is UNSET:
            return message
        if connection is None:
            return replace(message, correlation_id=UNSET)
        sent: int | UnsetType = self._lines[connection].get(correlation_id, UNSET)
        if sent is UNSET and connection[0] not in self._unsure:
            requester, receiver = connection
            self._differences.append(
                Difference(
                    f"{path}correlation_id", f"the id of a request from {requester} to {receiver}", str(correlation_id)
                )
            )
        return replace(message, correlation_id=sent)

    def _state(self, replica: int, state: TracedState, path: str, *, leaves_out: bool = True) -> TracedState:
        """Translate a state; an id whose request may be unrecorded is dropped if `leaves_out`, else it stays."""
        changed: dict[str, Any] = {}
        is_sure = replica not in self._unsure
        if state.awaiting:
            translated = [
                (to, self._lines[replica, to].get(correlation_id, UNSET)) for to, correlation_id in state.awaiting
            ]
            is_known = all(sent is not UNSET for _, sent in translated)
            if is_known or (leaves_out and not is_sure):
                changed["awaiting"] = tuple(translated)
            elif is_sure:
                unknown = [pair for pair, (_, sent) in zip(state.awaiting, translated, strict=True) if sent is UNSET]
                ids = ", ".join(f"{correlation_id} from {replica} to {to}" for to, correlation_id in unknown)
                self._differences.append(
                    Difference(f"{path}awaiting", f"ids of requests that replica {replica} has sent", ids)
                )
        pending = state.pending_change
        if pending is not UNSET and pending is not None and isinstance(pending.requester, int):
            sent = self._lines[pending.requester, replica].get(pending.request)
            if sent is not None:
                changed["pending_change"] = replace(pending, request=sent)
            elif pending.requester not in self._unsure:
                expected = f"the id of a request from {pending.requester} to {replica}"
                self._differences.append(Difference(f"{path}pending_change.request", expected, str(pending.request)))
            elif leaves_out:
                # The other fields are still compared.
                changed["pending_change"] = replace(pending, request=UNSET)
        return replace(state, **changed) if changed else state


def _hides_its_id(effect: TracedEffect) -> bool:
    """True if the effect sends a request whose receiver or id is not recorded."""
    if not isinstance(effect, TracedSend) or not is_request(effect.message):
        return False
    return effect.message.destination is UNSET or effect.message.correlation_id is UNSET


def _connection(message: TracedMessage) -> Connection | None:
    if message.source is UNSET or message.destination is UNSET:
        return None
    ends = (message.source, message.destination)
    return ends if is_request(message) else (ends[1], ends[0])

"""The correlation ids of a foreign trace in the model's numbers.

A correlation id is a name: any number that no other open request on its connection has.
In the model it is the sequence of the line that sent the request; each line is put that way before it is checked.
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
"""So many requests on one connection are told apart; of older ones the ids are not compared."""

_SENDS_REQUESTS = frozenset(("Poll", "PollFetch"))

Connection = tuple[int, int]
"""Who asks, and who is asked."""


class Correlations:
    """Follows the requests of one trace."""

    def __init__(self) -> None:
        self._lines: dict[Connection, dict[int, int]] = defaultdict(dict)
        """By id: the sequence of the line that sent the newest request of that id."""
        self._open: dict[Connection, set[int]] = defaultdict(set)
        """Ids of requests that may still be answered."""
        self._unsure: set[int] = set()
        """Who has sent a request of which the trace does not show the id, or no longer remembers it."""
        self._found: list[Difference] = []

    def begin_at(self, line: CheckpointLine, in_numbers: CheckpointLine) -> None:
        """Take the requests of a checkpoint, and no others, with the ids that it gives them.

        `in_numbers` is the same checkpoint in the model's numbers.
        """
        for known in (self._lines, self._open, self._unsure):
            known.clear()
        for flight, known_as in zip(line.network, in_numbers.network, strict=True):
            connection, given = _connection(flight.message), flight.message.correlation_id
            if connection is not None and given is not UNSET:
                self._lines[connection][given] = known_as.message.correlation_id
        for replica, numbered in zip(line.replicas, in_numbers.replicas, strict=True):
            assert replica.state.replica_key is not UNSET, "a checkpoint leaves nothing out"
            own, pending = replica.state.replica_key.id, replica.state.pending_change
            awaited = zip(replica.state.awaiting or (), numbered.state.awaiting or (), strict=True)
            for (to, given), (_, number) in awaited:
                self._remember((own, to), given, number)
            if pending and isinstance(pending.requester, int):
                # Who asked may not wait for the answer any more.
                change = numbered.state.pending_change
                self._lines[pending.requester, own][pending.request] = change.request  # type: ignore[union-attr]

    def known(self) -> tuple[object, ...]:
        """All that is known: of each connection who asks whom, the lines of its ids and the open ones; the unsure."""
        connections = sorted({*self._lines, *self._open})
        return (
            [[*one, list(self._lines[one].items()), sorted(self._open[one])] for one in connections],
            sorted(self._unsure),
        )

    def go_on(self, known: Sequence[Any]) -> None:
        """Go on with what `known` gave, after lines that somebody else has followed."""
        connections, unsure = known
        self._lines.clear()
        self._open.clear()
        for asker, asked, lines, are_open in connections:
            self._lines[asker, asked] = dict(lines)
            self._open[asker, asked] = set(are_open)
        self._unsure = set(unsure)

    def lose(self, replica: int) -> None:
        """Take note that some requests and responses of a replica are not in the trace."""
        self._unsure.add(replica)
        for connection in [one for one in self._open if one[0] == replica]:
            del self._open[connection]

    def resume(self, replica: int, awaiting: Mapping[int, int], sequence: int) -> None:
        """Take the ids that a replica awaits; the line of this sequence stands for one that the trace lacks."""
        for to, given in awaiting.items():
            self._lines[replica, to].setdefault(given, sequence)

    def checkpoint(self, line: CheckpointLine) -> tuple[CheckpointLine, tuple[Difference, ...]]:
        """A checkpoint in the model's numbers, and the ids in it that no request has.

        An id that an earlier line may have hidden stays, because a checkpoint leaves nothing out.
        """
        network = []
        for flight in line.network:
            message = self._translated(flight.message, f"network[id={flight.message.id}].message.")
            network.append(flight if message.correlation_id is UNSET else replace(flight, message=message))
        replicas = []
        for one in line.replicas:
            assert one.state.replica_key is not UNSET, "a checkpoint leaves nothing out"
            replica = one.state.replica_key.id
            state = self._state(replica, one.state, f"replicas[id={replica}].state.", leaves_out=False)
            replicas.append(replace(one, state=state))
        return replace(line, network=tuple(network), replicas=tuple(replicas)), self._take_found()

    def _take_found(self) -> tuple[Difference, ...]:
        found = tuple(self._found)
        self._found.clear()
        return found

    def line(self, line: EventLine) -> tuple[EventLine, tuple[Difference, ...]]:
        """An event line in the model's numbers, and the ids in it that no request has, or an open one already."""
        replica = line.replica
        if replica is UNSET:
            return self._answered_by_network(line)
        if line.event in STARTS:
            for connection in [one for one in self._open if one[0] == replica]:
                del self._open[connection]
        changed: dict[str, Any] = {}
        if line.message is not UNSET:
            changed["message"] = self._delivered(line, replica, line.message)
        if line.effects is UNSET:
            if line.event in _SENDS_REQUESTS:
                self._await(line, replica, None)
        elif line.effects:
            changed["effects"] = tuple(
                [self._effect(line.sequence, replica, place, one) for place, one in enumerate(line.effects)]
            )
            hidden = [one.message.destination for one in line.effects if _hides_its_id(one)]  # type: ignore[union-attr]
            if hidden:
                self._await(line, replica, None if UNSET in hidden else hidden)
        if line.state is not UNSET:
            changed["state"] = self._state(replica, line.state, "state.")
        return replace(line, **changed), self._take_found()

    def _await(self, line: EventLine, replica: int, receivers: Collection[object] | None) -> None:
        """Take the ids of requests that a line sends and does not show from what its replica then awaits.

        It has sent them to these receivers; None if the line does not say so. A replica that dies in the step awaits
        nothing any more.
        """
        if line.state is UNSET or line.state.awaiting is UNSET or line.crash is not UNSET:
            self._unsure.add(replica)
            return
        for to, given in line.state.awaiting:
            # An id that no line has shown may be that of an earlier request.
            is_new = replica not in self._unsure if receivers is None else to in receivers
            if is_new and given not in self._open[replica, to]:
                self._remember((replica, to), given, line.sequence)

    def _remember(self, connection: Connection, given: int, sequence: int) -> None:
        self._open[connection].add(given)
        lines = self._lines[connection]
        lines.pop(given, None)
        lines[given] = sequence
        if len(lines) > REMEMBERED_MAX:
            oldest = next(iter(lines))
            del lines[oldest]
            self._open[connection].discard(oldest)
            self._unsure.add(connection[0])

    def _answered_by_network(self, line: EventLine) -> tuple[EventLine, tuple[Difference, ...]]:
        if line.answer is UNSET:
            return line, ()
        answer = self._translated(line.answer, "answer.")
        return replace(line, answer=answer), self._take_found()

    def _delivered(self, line: EventLine, replica: int, message: TracedMessage) -> TracedMessage:
        sender, given = message.source, message.correlation_id
        whole = replace(message, destination=replica)
        if sender is UNSET or given is UNSET:
            return replace(message, correlation_id=UNSET)
        if not is_request(message):
            self._open[replica, sender].discard(given)
        elif sender in self._unsure and (identifier := delivered_id(line)) is not UNSET:
            # Its sender's line did not show the id; this one does.
            self._lines[sender, replica].setdefault(given, message_place(identifier).sent)
        return replace(self._translated(whole, "message."), destination=message.destination)

    def _effect(self, sequence: int, replica: int, place: int, effect: TracedEffect) -> TracedEffect:
        if not isinstance(effect, TracedSend):
            return effect
        message, path = effect.message, f"effects[{place}].message."
        if not is_request(message):
            whole = self._translated(replace(message, source=replica), path)
            return TracedSend(replace(whole, source=message.source))
        to, given = message.destination, message.correlation_id
        if to is UNSET or given is UNSET:
            return TracedSend(replace(message, correlation_id=UNSET))
        connection = (replica, to)
        if given in self._open[connection]:
            free = f"an id that no other open request from {replica} to {to} uses"
            self._found.append(Difference(f"{path}correlation_id", free, str(given)))
        self._remember(connection, given, sequence)
        return TracedSend(replace(message, correlation_id=sequence))

    def _translated(self, message: TracedMessage, path: str) -> TracedMessage:
        given, connection = message.correlation_id, _connection(message)
        if given is UNSET:
            return message
        if connection is None:
            return replace(message, correlation_id=UNSET)
        sent: int | UnsetType = self._lines[connection].get(given, UNSET)
        if sent is UNSET and connection[0] not in self._unsure:
            asker, asked = connection
            self._found.append(
                Difference(f"{path}correlation_id", f"the id of a request from {asker} to {asked}", str(given))
            )
        return replace(message, correlation_id=sent)

    def _state(self, replica: int, state: TracedState, path: str, *, leaves_out: bool = True) -> TracedState:
        """A state in the model's numbers; an id whose request the trace hides is left out, or stays."""
        changed: dict[str, Any] = {}
        is_sure = replica not in self._unsure
        if state.awaiting:
            known = [(to, self._lines[replica, to].get(given, UNSET)) for to, given in state.awaiting]
            is_known = all(sent is not UNSET for _, sent in known)
            if is_known or (leaves_out and not is_sure):
                changed["awaiting"] = tuple(known)
            elif is_sure:
                unknown = [pair for pair, (_, sent) in zip(state.awaiting, known, strict=True) if sent is UNSET]
                shown = ", ".join(f"{given} from {replica} to {to}" for to, given in unknown)
                self._found.append(
                    Difference(f"{path}awaiting", f"ids of requests that replica {replica} has sent", shown)
                )
        pending = state.pending_change
        if pending is not UNSET and pending is not None and isinstance(pending.requester, int):
            sent = self._lines[pending.requester, replica].get(pending.request)
            if sent is not None:
                changed["pending_change"] = replace(pending, request=sent)
            elif pending.requester not in self._unsure:
                expected = f"the id of a request from {pending.requester} to {replica}"
                self._found.append(Difference(f"{path}pending_change.request", expected, str(pending.request)))
            elif leaves_out:
                # All but the id is still compared.
                changed["pending_change"] = replace(pending, request=UNSET)
        return replace(state, **changed) if changed else state


def _hides_its_id(effect: TracedEffect) -> bool:
    """Is a request sent of which the receiver or the id is not shown?"""
    if not isinstance(effect, TracedSend) or not is_request(effect.message):
        return False
    return effect.message.destination is UNSET or effect.message.correlation_id is UNSET


def _connection(message: TracedMessage) -> Connection | None:
    if message.source is UNSET or message.destination is UNSET:
        return None
    ends = (message.source, message.destination)
    return ends if is_request(message) else (ends[1], ends[0])

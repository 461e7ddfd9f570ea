"""Merge of the events of replicas whose agents still write.

A request is known by the correlation id that its client uses; its receiver sees the one on the wire, which the sender's
file has in a line of its own.  The socket server answers ApiVersions, so the event of the asked replica is added before
the response is received.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_kafka.agent.drafts import Begin
from kraft_kafka.agent.raw import StartLine
from kraft_kafka.agent.watch.process import AgentProcess
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.deliveries import Place, SendPlace, sends_of
from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request, message_type
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import TracedCause
from kraft_traces.watch.merging import GrowingMerge, Merged, SavedMerge

_VERSIONS = "ApiVersionsResponse"
_LOSS_SECONDS = 1.0
"""Time in which the receivers of messages are waited for that missing lines have sent."""
_RECEIVED_MAX = 10_000
"""Maximum number of received requests whose response is awaited."""


class SavedAgentMerge(Struct, frozen=True):
    """State of an `AgentMerge` as JSON, without its processes."""

    merge: SavedMerge
    opaque: tuple[int, ...]
    stopped: tuple[int, ...]
    received: tuple[tuple[int, int, int, int], ...]
    """Receiver, sender, id on the wire and own id of requests that are not answered."""
    states: dict[int, TracedState]


class AgentMerge(GrowingMerge):
    """Merge that goes on while the agents write."""

    def __init__(
        self,
        patience_s: float,
        checkpoint_of: Callable[[Begin], CheckpointLine],
        find_unknown: Callable[[], frozenset[int]],
        saved: SavedAgentMerge | None = None,
    ) -> None:
        """Begin without processes.

        Args:
            patience_s: time to wait for the line that sends a received message.
            checkpoint_of: returns the checkpoint that makes a replica observed.
            find_unknown: returns the replicas whose state is unknown after the lines so far.
            saved: the state of an earlier merge.
        """
        super().__init__(patience_s, None if saved is None else saved.merge)
        self.agents: list[AgentProcess] = []
        self._checkpoint_of, self._find_unknown = checkpoint_of, find_unknown
        self.opaque = set() if saved is None else set(saved.opaque)
        """Replicas that are not observed."""
        self.stopped = set() if saved is None else set(saved.stopped)
        """Replicas that do not run."""
        self._received = {} if saved is None else {(*key, wire): own for *key, wire, own in saved.received}
        self._states: dict[int, TracedState] = {} if saved is None else dict(saved.states)
        """State of each replica after its newest event."""

    def add(self, process: AgentProcess) -> None:
        """Add the events of a replica."""
        self.agents.append(process)
        self.processes.append(process)

    def save_all(self) -> SavedAgentMerge:
        """Return the state behind the last merged event."""
        received = tuple((receiver, source, wire, own) for (receiver, source, wire), own in self._received.items())
        opaque, stopped = tuple(sorted(self.opaque)), tuple(sorted(self.stopped))
        return SavedAgentMerge(self.save(), opaque, stopped, received, dict(self._states))

    # -------------------------------------------------------------------------------------------------------------
    # Events that may come next.
    # -------------------------------------------------------------------------------------------------------------

    def _is_due(self, index: int, now: float, *, is_forced: bool = False) -> bool:
        process = self.agents[index]
        message = process.events[process.position][1].message
        if self._follows_loss(process):
            return is_forced or self._may_go_on(process, now)
        if process.position in process.begins or message is UNSET or self._is_of_opaque(message):
            return True
        if index in self._receipts or index in self._unsent:
            return True
        if message.source not in self._owners:
            # Its file may still appear; else the watch declares it as not observed.
            process.since = now if process.since is None else process.since
            return is_forced or process.since + self._patience_s <= now
        if is_request(message):
            translated = self._with_own_id(index, message)
            is_lost = self._is_lost(message) or self._is_of_loss(process, message, now)
            is_forced = is_forced or (translated is None and is_lost)
        else:
            if self._deliveries.send_of(message) is None:
                if message_type(message) == _VERSIONS and message.source not in self.stopped:
                    return True
                is_lost = self._is_overtaken(process, message) or self._is_of_loss(process, message, now)
                is_forced = is_forced or is_lost
        return super()._is_due(index, now, is_forced=is_forced)

    def _is_of_opaque(self, message: TracedMessage) -> bool:
        """True for a message that its sender has sent before it is observed."""
        if message.source not in self.opaque:
            return False
        is_recorded = is_request(message) and message.source in self._owners
        return not (is_recorded and self._agent(message.source).has_sent(message.correlation_id))

    def _released(self, waiting: list[int], now: float) -> list[int]:
        owners = {index: self._awaited_from(index) for index in waiting}
        if not all(owner in waiting for owner in owners.values()):
            # Whoever waits for a replica that waits itself goes on with that one.
            return []
        # All wait in a circle.  The missing line is probably one of a process that was killed, or has dropped lines.
        lossy = [index for index, owner in owners.items() if owner is not None and self.agents[owner].is_lossy]
        return super()._released(lossy or waiting, now)

    def _awaited_from(self, index: int) -> int | None:
        """Return the index of the process whose message the next event of a process receives."""
        message = self.agents[index].events[self.agents[index].position][1].message
        return None if message is UNSET or message.source is UNSET else self._owners.get(message.source)

    def _with_own_id(self, index: int, message: TracedMessage) -> TracedMessage | None:
        """Give a request in the queue its sender's own correlation id; None if that is not known yet."""
        process = self.agents[index]
        key = (process.replica, message.source, message.correlation_id)
        if process.translated:
            return message
        assert message.correlation_id is not UNSET, "the agent records it"
        candidates = [
            replace(message, correlation_id=own) for own in self._agent(message.source).own_ids(message.correlation_id)
        ]
        chosen = next((it for it in candidates if self._deliveries.send_of(it) is not None), None)
        if chosen is None:
            return None
        assert chosen.correlation_id is not UNSET, "it has been set"
        self._received[key] = chosen.correlation_id
        if len(self._received) > _RECEIVED_MAX:
            del self._received[next(iter(self._received))]
        number, line = process.events[process.position]
        process.events[process.position] = (number, replace(line, message=chosen))
        process.translated = True
        return chosen

    def _agent(self, replica: object) -> AgentProcess:
        return self.agents[self._owners[replica]]  # type: ignore[index]

    def _is_lost(self, request: TracedMessage) -> bool:
        """True if the sender's file has later requests, and not this one."""
        sender, wire_id = self._agent(request.source), request.correlation_id
        return wire_id is not UNSET and sender.is_missing(wire_id)

    def _is_overtaken(self, receiver: AgentProcess, response: TracedMessage) -> bool:
        """True if the sender already waits for a later request: a connection has one request at a time."""
        sender = self._agent(response.source)
        if not sender.waiting:
            return False
        waited = sender.events[sender.position][1].message
        if waited is UNSET or not is_request(waited) or waited.source != receiver.replica or sender.translated:
            return False
        assert waited.correlation_id is not UNSET, "the agent records it"
        own_id = receiver.own_id(waited.correlation_id)
        return own_id is not None and own_id > response.correlation_id

    def _follows_loss(self, process: AgentProcess) -> bool:
        """True if lines may be missing before the next event: of a process that was killed, or of a gap."""
        is_again = process.position in process.begins and process.replica not in self.opaque
        return process.is_killed_next or is_again

    def _may_go_on(self, process: AgentProcess, now: float) -> bool:
        """True if nobody waits for a message that the missing lines may have sent.

        The receivers' lines may be read a little later.
        """
        process.since = now if process.since is None else process.since
        if now < process.since + _LOSS_SECONDS:
            return False
        for other in self.agents:
            message = other.events[other.position][1].message if other.waiting else UNSET
            if message is not UNSET and message.source == process.replica and self._is_of_loss(other, message, now):
                return False
        return True

    def _is_of_loss(self, receiver: AgentProcess, message: TracedMessage, now: float) -> bool:
        """True if missing lines before the sender's next event may have sent a message, and no line after them has."""
        sender = self._agent(message.source)
        if not (sender.waiting and self._follows_loss(sender) and sender.since is not None):
            return False
        if now < sender.since + _LOSS_SECONDS:
            return False
        if is_request(message):
            has_sent = sender.has_sent_later if sender.is_killed_next else sender.has_sent
            return not has_sent(message.correlation_id)
        # After them, the sender may have received the request.
        requests = (line.message for _, line in sender.events[sender.position :] if line.message is not UNSET)
        own = (it for it in requests if it.source == receiver.replica and is_request(it))
        return all(message.correlation_id not in receiver.all_own_ids(it.correlation_id) for it in own)

    # -------------------------------------------------------------------------------------------------------------
    # Lines of the merged trace.
    # -------------------------------------------------------------------------------------------------------------

    def _merge_event(self, index: int) -> Iterator[Merged]:
        process = self.agents[index]
        begin, resume = (them.pop(process.position, None) for them in (process.begins, process.resumes))
        if begin is None and resume is not None and process.replica in self._find_unknown():
            begin = resume
        if begin is not None:
            process.begun = process.merged_count + process.position + 1
            yield Merged(self._begin_observing(begin), *process.next_place)
            # The message that the event receives may not be sent yet.
            return
        message = process.events[process.position][1].message
        if (
            message is not UNSET
            and message_type(message) == _VERSIONS
            and message.source in self._owners
            and message.source not in self.opaque
            and index not in self._receipts
            and index not in self._unsent
        ):
            yield Merged(self._versions_answered(index, message), *process.next_place)
        process.translated = False
        process.begin_life()
        yield from super()._merge_event(index)

    def _begin_observing(self, begin: Begin) -> CheckpointLine:
        """Return the checkpoint from which on a replica is observed."""
        replica = begin.line.replica
        self.opaque.discard(replica)
        self._deliveries.observe((replica,))
        if isinstance(begin.line, StartLine):
            self.stopped.add(replica)
        else:
            self.stopped.discard(replica)
        line = self._checkpoint_of(begin)
        self.time_ms = max(self.time_ms, line.time_ms)
        return replace(line, sequence=self.sequence, time_ms=self.time_ms)

    def _versions_answered(self, index: int, response: TracedMessage) -> EventLine:
        """Return the event of a replica that is asked for its supported versions, and sends this response."""
        self.sequence += 1
        request = self._deliveries.request_in_flight(response)
        cause: TracedCause | msgspec.UnsetType = UNSET
        if request is None:
            ends = {"source": response.destination, "destination": response.source}
            fields = {"type": "ApiVersionsRequest", **ends, "correlation_id": response.correlation_id}
            request = msgspec.convert(fields, TracedMessage)
        else:
            assert request.id is not UNSET, "a message in flight has an id"
            is_known = self._deliveries.is_known(request.id)
            self._deliveries.receive(request.id)
            cause = TracedCause(request.id) if is_known else UNSET
            request = request if is_known else replace(request, id=UNSET)
        identifier = f"{self.sequence}.{response.destination}"
        answer = replace(response, id=identifier)
        self._deliveries.send(answer)
        self._receipts[index] = identifier
        replica = response.source
        return EventLine(
            sequence=self.sequence,
            time_ms=self.time_ms,
            replica=replica,
            event="HandleApiVersionsRequest",
            cause=cause,
            message=request,
            effects=(TracedSend(answer),),
            state=self._states.get(replica, UNSET),
        )

    def _take(self, index: int) -> EventLine:
        line = super()._take(index)
        replica = self.agents[index].replica
        if line.event == "Crash":
            self.stopped.add(replica)
            for key in [key for key in self._received if key[0] == replica]:
                del self._received[key]
        elif line.event == "Restart":
            self.stopped.discard(replica)
        if line.state is UNSET:
            self._states.pop(replica, None)
        else:
            self._states[replica] = line.state
        return line

    def _with_ids(self, line: EventLine, place: Place) -> EventLine:
        if line.effects is not UNSET:
            effects = list(line.effects)
            for at, message in sends_of(line):
                key = (line.replica, message.destination, message.correlation_id)
                if not is_request(message) and key in self._received:
                    effects[at] = TracedSend(replace(message, correlation_id=self._received.pop(key)))  # type: ignore[arg-type]
            line = replace(line, effects=tuple(effects))
        return super()._with_ids(line, place)

    def _identify(self, place: SendPlace, message: TracedMessage) -> None:
        if message.destination in self._owners:
            super()._identify(place, message)

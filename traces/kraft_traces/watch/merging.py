"""Merge of traces that still grow, in causal order, as `kraft_traces.merge` does for whole ones."""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.deliveries import Place, SendPlace, agree, key_of, sends_of
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.merge import Merging
from kraft_traces.message_types import TracedMessage, message_type
from kraft_traces.process_trace import MergeError
from kraft_traces.vocabulary import EVENTS
from kraft_traces.watch.deliveries import LiveDeliveries, SavedDeliveries
from kraft_traces.watch.process import MergedProcess

LOST_AFTER = 20_000
"""Number of merged events after which a message that nobody received counts as lost."""

_RECEIVED_BEFORE_MAX = 1_000
"""Maximum number of remembered messages that were received before any line sent them."""


class SavedMerge(Struct, frozen=True):
    """State of a `GrowingMerge` as JSON, without its processes."""

    sequence: int
    time_ms: int
    deliveries: SavedDeliveries
    without_trace: tuple[int, ...]
    """Replicas without a trace that the merged trace has marked."""
    received_before: tuple[TracedMessage, ...]


class Merged(NamedTuple):
    """Line of the merged trace."""

    line: EventLine | CheckpointLine
    source: str
    number: int
    gap: str | None = None
    """The message that no line sends, if the line receives one."""


class GrowingMerge(Merging):
    """Merge that goes on while its processes grow.

    A receipt waits for its send.  If no process writes the send for `patience_s` seconds, the lines of the sender count
    as missing.  No other event waits, so a silent process holds up only the receivers of its messages.
    """

    def __init__(self, patience_s: float, saved: SavedMerge | None = None) -> None:
        super().__init__([])
        self.processes: list[MergedProcess] = []
        self._traces = self.processes
        self._patience_s = patience_s
        self._deliveries = LiveDeliveries(None if saved is None else saved.deliveries)
        if saved is not None:
            self.sequence, self.time_ms = saved.sequence, saved.time_ms
            self._marked_replicas = set(saved.without_trace)
        self._receipts: dict[int, str] = {}
        """Ids of the messages that the next events of processes receive."""
        self._unsent: dict[int, bool] = {}
        """Processes whose next event receives a message that no process sends, with True if its sender was not silent
        before."""
        self._given_up: dict[int, int] = {}
        """Number of lines that a process had written when one of its messages was waited for in vain."""
        self._received_before: list[TracedMessage] = [] if saved is None else list(saved.received_before)
        """Messages that were received before any line sent them."""
        self._late_effects: frozenset[int] = frozenset()
        """Effects of the newest line that send such messages."""
        self._reason: str | None = None
        """The message that no line sends, if the newest line receives one."""

    def save(self) -> SavedMerge:
        """Return the state behind the last merged event."""
        return SavedMerge(
            self.sequence,
            self.time_ms,
            self._deliveries.save(),
            tuple(sorted(self._marked_replicas)),
            tuple(self._received_before),
        )

    def ready(self, now: float) -> Iterator[Merged]:
        """Yield the events that may come next, until every process waits.

        Raises:
            MergeError: two processes have events of one replica, or an event is none of a process.
        """
        self._owners = self._find_owners()
        while True:
            waiting = [index for index, process in enumerate(self.processes) if process.waiting]
            possible = [index for index in waiting if self._is_due(index, now)] or self._released(waiting, now)
            if not possible:
                break
            yield from self._merge_event(min(possible, key=self._time))
        for process in self.processes:
            process.drop_merged()
            if process.waiting:
                process.quiet_since = None
            elif process.quiet_since is None:
                process.quiet_since = now

    def _find_owners(self) -> dict[int, int]:
        owners: dict[int, int] = {}
        for index, process in enumerate(self.processes):
            for replica in process.own:
                if owners.setdefault(replica, index) != index:
                    other = self.processes[owners[replica]].source
                    raise MergeError(f"{process.source}: has events of replica {replica}, and so has {other}")
        return owners

    def _merge_event(self, index: int) -> Iterator[Merged]:
        process = self.processes[index]
        _, event = process.events[process.position]
        source, number = process.next_place
        if not EVENTS[event.event].at_replica:
            detail = f"{event.event} is an event of the network, which no process records"
            raise MergeError(f"{source}:{number}: {detail}; watch the trace of a whole cluster by itself")
        self._reason = None
        self._deliveries.restart(event)
        line = self._take(index)
        process.since = None
        yield Merged(line, source, number, self._reason)
        for identifier in self._deliveries.lost(self.sequence - LOST_AFTER):
            self.sequence += 1
            lost = EventLine(
                sequence=self.sequence,
                time_ms=self.time_ms,
                event="DropMessage",
                input=TracedInput(message_id=identifier),
            )
            yield Merged(lost, source, number)

    def _released(self, waiting: list[int], now: float) -> list[int]:
        """Return the process that waits longest, if all wait for each other and nothing else can happen."""
        expired = [index for index in waiting if self._since(index) + self._patience_s <= now]
        if not expired or len(expired) < len(waiting):
            return []
        longest = min(expired, key=self._since)
        self._is_due(longest, now, is_forced=True)
        return [longest]

    def _since(self, index: int) -> float:
        since = self.processes[index].since
        return inf if since is None else since

    def _is_due(self, index: int, now: float, *, is_forced: bool = False) -> bool:
        """True if the next event of a process may come next; with `is_forced`, it may.

        Only a process without events of its own that wait is silent.
        """
        process = self.processes[index]
        message = process.events[process.position][1].message
        if message is UNSET or index in self._receipts or index in self._unsent:
            return True
        identifier = self._deliveries.send_of(message)
        if identifier is None:
            process.since = now if process.since is None else process.since
            if not is_forced and not self._is_silent(message.source, process.since, now):
                return False
            identifier = self._deliveries.send_of(message, whatever=True)
        if identifier is None:
            self._unsent[index] = True
            if (owner := self._owners.get(message.source)) is not None:
                lines = self.processes[owner].lines_read
                self._unsent[index] = self._given_up.get(owner) != lines
                self._given_up[owner] = lines
        else:
            self._receipts[index] = identifier
        return True

    def _is_silent(self, source: int | UnsetType, since: float, now: float) -> bool:
        """True if a replica's send has been waited for, and its process has no events that still wait.

        After one vain wait, further messages do not wait until the process writes again.
        """
        owner = self._owners.get(source)  # type: ignore[arg-type]
        if owner is None:
            return source in self._marked_replicas or since + self._patience_s <= now
        process = self.processes[owner]
        if process.quiet_since is None or process.waiting:
            return False
        return (
            self._given_up.get(owner) == process.lines_read or max(since, process.quiet_since) + self._patience_s <= now
        )

    def _mark(self, place: Place, line: EventLine) -> tuple[int, ...]:
        process = self.processes[place[0]]
        marked: set[int] = set()
        reasons: list[str] = []
        if place[1] in process.gaps:
            marked |= process.own
        self._late_effects = frozenset(self._late_sends(line))
        if self._late_effects:
            marked |= process.own
        is_first = self._unsent.pop(place[0], None)
        if is_first is not None and line.message is not UNSET and line.message.source is not UNSET:
            source = line.message.source
            kind = message_type(line.message)
            if source in self._owners:
                marked.add(source)
                self._receive_unsent(line.message)
                if is_first:
                    reasons.append(f"no line of replica {source} sends the {kind} that replica {line.replica} receives")
            elif source not in self._marked_replicas:
                self._marked_replicas.add(source)
                marked.add(source)
                reasons.append(f"replica {source} has no trace, and its {kind} arrives at replica {line.replica}")
        self._reason = "; ".join(reasons) or None
        return tuple(sorted(marked))

    def _receive_unsent(self, message: TracedMessage) -> None:
        self._received_before.append(message)
        del self._received_before[:-_RECEIVED_BEFORE_MAX]

    def _late_sends(self, line: EventLine) -> Iterator[int]:
        """Yield the effects that send messages that were received, in the merged trace, before this line."""
        for at, message in sends_of(line):
            key = key_of(message)
            late = next((it for it in self._received_before if key_of(it) == key and agree(it, message)), None)
            if late is not None:
                self._received_before.remove(late)
                yield at

    def _identify(self, place: SendPlace, message: TracedMessage) -> None:
        self._deliveries.send(message)

    def _id_of_receipt(self, place: Place) -> str | None:
        return self._receipts.pop(place[0], None)

    def _with_ids(self, line: EventLine, place: Place) -> EventLine:
        # An event receives the request before it sends the response.
        if place[0] in self._receipts:
            identifier = self._receipts[place[0]]
            if not self._deliveries.is_known(identifier):
                del self._receipts[place[0]]
            self._deliveries.receive(identifier)
        if self._late_effects and line.effects is not UNSET:
            # Its receiver has it already, so the line, which is not judged, must not send it again.
            kept = [effect for at, effect in enumerate(line.effects) if at not in self._late_effects]
            line = replace(line, effects=tuple(kept))
        if line.message is not UNSET and line.message.id is not UNSET:
            line = replace(line, message=replace(line.message, id=UNSET))
        return super()._with_ids(line, place)

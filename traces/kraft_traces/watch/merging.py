"""Merge of traces that still grow, in causal order, as `kraft_traces.merge` does for whole ones."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_traces.deliveries import Place, SendPlace
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.merge import Merging
from kraft_traces.message_types import TracedMessage, message_type
from kraft_traces.process_trace import MergeError
from kraft_traces.vocabulary import EVENTS
from kraft_traces.watch.deliveries import LiveDeliveries, SavedDeliveries
from kraft_traces.watch.process import GrowingProcess

LOST_AFTER = 20_000
"""Number of merged events after which a message that nobody received counts as lost."""


class SavedMerge(Struct, frozen=True):
    """State of a `GrowingMerge` as JSON, without its processes."""

    sequence: int
    time_ms: int
    deliveries: SavedDeliveries
    without_trace: tuple[int, ...]
    """Replicas without a trace that the merged trace has marked."""


class Merged(NamedTuple):
    """Line of the merged trace."""

    line: EventLine
    source: str
    number: int
    gap: str | None = None
    """Reason why the line marks events as unrecorded."""


class GrowingMerge(Merging):
    """Merge that goes on while its processes grow.

    A receipt waits for its send.  If no process writes the send for `patience_s` seconds, the lines of the sender count
    as missing.  No other event waits, so a silent process holds up only the receivers of its messages.
    """

    def __init__(self, patience_s: float, saved: SavedMerge | None = None) -> None:
        super().__init__([])
        self.processes: list[GrowingProcess] = []
        self._traces = self.processes
        self._patience_s = patience_s
        self._deliveries = LiveDeliveries(None if saved is None else saved.deliveries)
        if saved is not None:
            self.sequence, self.time_ms = saved.sequence, saved.time_ms
            self._marked_replicas = set(saved.without_trace)
        self._receipts: dict[int, str] = {}
        """Ids of the messages that the next events of processes receive."""
        self._unsent: set[int] = set()
        """Processes whose next event receives a message that no process sends."""
        self._reason: str | None = None
        """Reason of the gap that the newest line marks."""

    def save(self) -> SavedMerge:
        """Return the state behind the last merged event."""
        return SavedMerge(
            self.sequence, self.time_ms, self._deliveries.save(), tuple(sorted(self._marked_replicas))
        )

    def ready(self, now: float) -> Iterator[Merged]:
        """Yield the events that may come next, until every process waits.

        Raises:
            MergeError: two processes have events of one replica, or an event is none of a process.
        """
        self._owners = self._find_owners()
        while True:
            waiting = [index for index, process in enumerate(self.processes) if process.waiting]
            possible = [index for index in waiting if self._is_due(index, now)]
            if not possible:
                break
            yield from self._merge_event(min(possible, key=self._time))
        for process in self.processes:
            process.drop_merged()

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

    def _is_due(self, index: int, now: float) -> bool:
        """True if the next event of a process may come next."""
        process = self.processes[index]
        message = process.events[process.position][1].message
        if message is UNSET or index in self._receipts or index in self._unsent:
            return True
        identifier = self._deliveries.send_of(message)
        if identifier is None:
            process.since = now if process.since is None else process.since
            if now < process.since + self._patience_s:
                return False
            identifier = self._deliveries.send_of(message, whatever=True)
        if identifier is None:
            self._unsent.add(index)
        else:
            self._receipts[index] = identifier
        return True

    def _mark(self, place: Place, line: EventLine) -> tuple[int, ...]:
        process = self.processes[place[0]]
        marked: set[int] = set()
        reasons: list[str] = []
        if (gap := process.gaps.get(place[1])) is not None:
            marked |= process.own
            reasons.append(gap)
        if place[0] in self._unsent and line.message is not UNSET and line.message.source is not UNSET:
            source = line.message.source
            kind = message_type(line.message)
            if source in self._owners:
                marked.add(source)
                reasons.append(f"no line of replica {source} sends the {kind} that replica {line.replica} receives")
            elif source not in self._marked_replicas:
                self._marked_replicas.add(source)
                marked.add(source)
                reasons.append(f"replica {source} has no trace, and its {kind} arrives at replica {line.replica}")
        self._unsent.discard(place[0])
        self._reason = "; ".join(reasons) or None
        return tuple(sorted(marked))

    def _identify(self, place: SendPlace, message: TracedMessage) -> None:
        self._deliveries.send(message)

    def _id_of_receipt(self, place: Place) -> str | None:
        return self._receipts.pop(place[0], None)

    def _with_ids(self, line: EventLine, place: Place) -> EventLine:
        # An event receives the request before it sends the response.
        if place[0] in self._receipts:
            self._deliveries.receive(self._receipts[place[0]])
        if line.message is not UNSET and line.message.id is not UNSET:
            line = replace(line, message=replace(line.message, id=UNSET))
        return super()._with_ids(line, place)

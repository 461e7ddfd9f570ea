"""Merge of the traces of several processes in causal order: each process's own order, and sends before receipts.

A process records its own replicas only, without message ids; `kraft_traces.deliveries` finds the send of each receipt.
Messages that were in flight when a replica became observed get no id, because the checkpoint does not list them.
Unrecorded events, of a replica without a trace or in a gap of one, are marked; messages without a send come from them.
Of several possible next events, the earliest by the clocks comes first.
"""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.deliveries import Place, SendPlace, deliveries, handled_at, sends_of
from kraft_traces.effects import TracedSend
from kraft_traces.encode import encode_line
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage, is_request, message_type
from kraft_traces.process_trace import MergeError, ProcessTrace, merged_header, owners_of
from kraft_traces.vocabulary import TracedCause


def merge(traces: Sequence[ProcessTrace]) -> Iterator[bytes]:
    """Yield the lines of the merged trace.

    Raises:
        MergeError: two traces have events of one replica, belong to different clusters, or a message is received before
            it is sent; the error has file, line and message.
    """
    header = merged_header(traces)
    yield encode_line(header)
    merging = Merging(traces, header.opaque)
    yield from map(encode_line, merging.lines())
    is_complete = not merging.has_unrecorded and all(trace.is_complete for trace in traces)
    yield encode_line(EndLine(sum(len(trace.events) for trace in traces), is_complete))


def replicas_without_trace(traces: Sequence[ProcessTrace]) -> tuple[int, ...]:
    """Return the replicas that sent a received message and have no trace."""
    traced = {replica for trace in traces for replica in trace.replicas}
    sources = {line.message.source for trace in traces for _, line in trace.events if line.message is not UNSET}
    return tuple(sorted(source for source in sources - traced if source is not UNSET))


class Merging:
    """Merge of the traces of several processes, for one pass."""

    def __init__(self, traces: Sequence[ProcessTrace], opaque: frozenset[int] = frozenset()) -> None:
        """Find the send of each received message; `opaque` are the replicas that the merged trace does not observe.

        Raises:
            MergeError: two traces have events of one replica.
        """
        self._traces = traces
        self._opaque = opaque
        self._owners = owners_of(traces)
        self._sends = deliveries(traces)
        self._handled_at = handled_at(traces) if any(trace.checkpoints for trace in traces) else {}
        self._ids: dict[SendPlace, str] = {}
        self.sequence = self.time_ms = 0
        """Sequence and time of the newest line of the merged trace."""
        self._sent_at: dict[SendPlace, int] = {}
        """Number of checkpoints before each send."""
        self._observed: dict[int, int] = {}
        """Number of checkpoints up to the newest one of a trace, by the index of the trace."""
        self._checkpoints = 0
        self._taken: set[Place] = set()
        """Places of the checkpoints in the merged trace."""
        self._marked: set[tuple[int, int]] = set()
        """Gaps marked in the merged trace: index of the trace and of the event after the gap."""
        self._marked_replicas: set[int] = set()
        """Replicas without a trace that are marked in the merged trace."""

    @property
    def has_unrecorded(self) -> bool:
        """True if the merged trace so far marks unrecorded events."""
        return bool(self._marked or self._marked_replicas)

    def lines(self) -> Iterator[EventLine | CheckpointLine]:
        """Yield the events and checkpoints of the merged trace.

        Raises:
            MergeError: a message is received before it is sent; the error has file, line and message.
        """
        while any(trace.position < len(trace.events) for trace in self._traces):
            index = self._next()
            checkpoint = self._checkpoint(index)
            yield self._take(index) if checkpoint is None else self._observe(index, checkpoint)

    def _checkpoint(self, index: int) -> CheckpointLine | None:
        """Return the checkpoint that precedes the next event of a trace, unless the merged trace has it."""
        trace = self._traces[index]
        if (index, trace.position) in self._taken:
            return None
        return trace.checkpoints.get(trace.position)

    def _observe(self, index: int, line: CheckpointLine) -> CheckpointLine:
        """Take a checkpoint of a trace, as a line of the merged trace."""
        self._taken.add((index, self._traces[index].position))
        self._checkpoints += 1
        self._observed[index] = self._checkpoints
        self.time_ms = max(self.time_ms, line.time_ms)
        return replace(line, sequence=self.sequence, time_ms=self.time_ms)

    def _take(self, index: int) -> EventLine:
        """Take the next event of a trace, as a line of the merged trace."""
        trace = self._traces[index]
        place = (index, trace.position)
        line = trace.events[trace.position][1]
        unrecorded = self._mark(place, line)
        trace.position += 1
        self.sequence += 1
        self.time_ms = max(self.time_ms, 0 if line.time_ms is UNSET else line.time_ms)
        line = self._with_ids(replace(line, sequence=self.sequence, time_ms=self.time_ms), place)
        return replace(line, unrecorded=unrecorded) if unrecorded else line

    def _next(self) -> int:
        """Return the trace whose next event comes next: the earliest of those that are possible."""
        waiting = [index for index, trace in enumerate(self._traces) if trace.position < len(trace.events)]
        ready = [index for index in waiting if self._may_happen(index)]
        if not ready:
            raise self._blocked(min(waiting, key=self._time))
        return min(ready, key=self._time)

    def _time(self, index: int) -> int:
        if (checkpoint := self._checkpoint(index)) is not None:
            return checkpoint.time_ms
        time_ms = self._following(index)[1].time_ms
        return 0 if time_ms is UNSET else time_ms

    def _following(self, index: int) -> tuple[int, EventLine]:
        trace = self._traces[index]
        return trace.events[trace.position]

    def _may_happen(self, index: int) -> bool:
        message = self._following(index)[1].message
        if message is UNSET or self._checkpoint(index) is not None:
            return True
        send = self._sends.get((index, self._traces[index].position))
        if send is not None:
            return send[1] < self._traces[send[0]].position
        if message.source not in self._owners:
            return True
        owner = self._owners[message.source]
        gap = self._gap_before(owner)
        if self._traces[owner].checkpoints:
            # Its replica sent the message before it was observed, or in a gap, unless it handled the request later.
            handled_at = self._handled_at.get((index, self._traces[index].position))
            return handled_at is None or (gap is not None and gap >= handled_at)
        # A replica that is observed later awaits responses to requests that are not recorded.
        return gap is not None or (bool(self._traces[index].checkpoints) and not is_request(message))

    def _gap_before(self, index: int) -> int | None:
        """Return the newest gap of a trace that all merged events precede; None if there is none."""
        trace = self._traces[index]
        return max((gap for gap in trace.lost | trace.kills if gap <= trace.position), default=None)

    def _mark(self, place: Place, line: EventLine) -> tuple[int, ...]:
        """Return the replicas with unrecorded events before this one that no earlier line marks."""
        index, position = place
        gaps = [place] if position in self._traces[index].gaps else []
        marked: set[int] = set()
        if line.message is not UNSET and place not in self._sends:
            owner = self._owners.get(line.message.source)
            if owner is None:
                marked = {line.message.source} - self._marked_replicas - self._opaque
            elif (gap := self._gap_before(owner)) is not None:
                gaps.append((owner, gap))
        self._marked_replicas |= marked
        for gap_place in gaps:
            if gap_place not in self._marked:
                self._marked.add(gap_place)
                marked |= self._traces[gap_place[0]].replicas
        return tuple(sorted(marked))

    def _with_ids(self, line: EventLine, place: Place) -> EventLine:
        """Return the line with the ids of its messages."""
        if line.effects is not UNSET:
            taken: set[str] = set()
            effects = list(line.effects)
            for at, message in sends_of(line):
                identifier = _identifier(line.sequence, message, taken)
                taken.add(identifier)
                self._identify((*place, at), replace(message, id=identifier))
                self._sent_at[*place, at] = self._checkpoints
                effects[at] = TracedSend(replace(message, id=identifier))
            line = replace(line, effects=tuple(effects))
        received = self._id_of_receipt(place)
        if line.message is UNSET or received is None:
            return line
        return replace(line, cause=TracedCause(received), message=replace(line.message, id=received))

    def _identify(self, place: SendPlace, message: TracedMessage) -> None:
        """Note the id of a message that the newest line sends."""
        assert message.id is not UNSET, "the caller has set it"
        self._ids[place] = message.id

    def _id_of_receipt(self, place: Place) -> str | None:
        """Return the id of the message that an event receives; None if no event sends it."""
        send = self._sends.get(place)
        if send is None:
            return None
        # A message that was in flight at a checkpoint of either end is not in flight to the model.
        observed = max(self._observed.get(place[0], 0), self._observed.get(send[0], 0))
        return self._ids[send] if self._sent_at[send] >= observed else None

    def _blocked(self, index: int) -> MergeError:
        message = self._following(index)[1].message
        assert message is not UNSET, "only a message waits for something"
        is_sent = (index, self._traces[index].position) in self._sends
        why = "is received before it is sent" if is_sent else "was never sent, or is received a second time"
        correlation = "missing" if message.correlation_id is UNSET else message.correlation_id
        described = f"{message_type(message)} from replica {message.source} (correlation id {correlation})"
        trace = self._traces[index]
        return MergeError(f"{trace.place(trace.position)}: {described} {why}")


def _identifier(sequence: int, message: TracedMessage, taken: set[str]) -> str:
    plain = f"{sequence}.{message.destination}"
    if isinstance(message, CHANGE_ANSWERS):
        return f"{plain}.change"
    return f"{plain}.fetch" if plain in taken else plain

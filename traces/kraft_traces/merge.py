"""The traces of several processes as one, in causal order: each process's own order, and sent before received.

A process tells of its own replicas only, and knows no ids of messages: `kraft_traces.deliveries` says what was sent
where.
Events that are not recorded, of a replica without a trace or in a gap of one, are marked: what is received and was
never sent comes from these.
Among what may come next, the clocks decide.
"""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.deliveries import Place, SendPlace, deliveries, sends_of
from kraft_traces.effects import TracedSend
from kraft_traces.encode import encode_line
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage, type_of
from kraft_traces.process_trace import MergeError, ProcessTrace, merged_header, owners_of
from kraft_traces.vocabulary import TracedCause


def merge(traces: Sequence[ProcessTrace]) -> Iterator[bytes]:
    """The lines of the merged trace.

    Raises:
        MergeError: two traces tell of one replica, belong to different clusters, or a message is received before it is
            sent; the message names file, line and message.
    """
    yield encode_line(merged_header(traces))
    merging = Merging(traces)
    yield from map(encode_line, merging.events())
    is_complete = not merging.has_unrecorded and all(trace.is_complete for trace in traces)
    yield encode_line(EndLine(sum(len(trace.events) for trace in traces), is_complete))


def replicas_without_trace(traces: Sequence[ProcessTrace]) -> tuple[int, ...]:
    """The replicas that have sent what is received here, and of which there is no trace."""
    known = {replica for trace in traces for replica in trace.replicas}
    sources = {line.message.source for trace in traces for _, line in trace.events if line.message is not UNSET}
    return tuple(sorted(source for source in sources - known if source is not UNSET))


class Merging:
    """One pass over the traces of several processes."""

    def __init__(self, traces: Sequence[ProcessTrace]) -> None:
        """Find out what was sent where.

        Raises:
            MergeError: two traces tell of one replica.
        """
        self._traces = traces
        self._owners = owners_of(traces)
        self._sends = deliveries(traces)
        self._ids: dict[SendPlace, str] = {}
        self._marked: set[tuple[int, int]] = set()
        """Gaps that the merged trace has marked: the trace, and the index of the event after the gap."""
        self._marked_replicas: set[int] = set()
        """Replicas without a trace that it has marked."""

    @property
    def has_unrecorded(self) -> bool:
        """True if the merged trace, as far as it is made, marks events that are not recorded."""
        return bool(self._marked or self._marked_replicas)

    def events(self) -> Iterator[EventLine]:
        """The events of the merged trace.

        Raises:
            MergeError: a message is received before it is sent; the message names file, line and message.
        """
        sequence = time_ms = 0
        while any(trace.position < len(trace.events) for trace in self._traces):
            index = self._next()
            trace = self._traces[index]
            place = (index, trace.position)
            line = trace.events[trace.position][1]
            unrecorded = self._mark(place, line)
            trace.position += 1
            sequence += 1
            time_ms = max(time_ms, 0 if line.time_ms is UNSET else line.time_ms)
            line = self._with_ids(replace(line, sequence=sequence, time_ms=time_ms), place)
            yield replace(line, unrecorded=unrecorded) if unrecorded else line

    def _next(self) -> int:
        """The trace whose next event may come next; of several the one with the earliest."""
        waiting = [index for index, trace in enumerate(self._traces) if trace.position < len(trace.events)]
        ready = [index for index in waiting if self._may_happen(index)]
        if not ready:
            raise self._blocked(min(waiting, key=self._time))
        return min(ready, key=self._time)

    def _time(self, index: int) -> int:
        time_ms = self._following(index)[1].time_ms
        return 0 if time_ms is UNSET else time_ms

    def _following(self, index: int) -> tuple[int, EventLine]:
        trace = self._traces[index]
        return trace.events[trace.position]

    def _may_happen(self, index: int) -> bool:
        message = self._following(index)[1].message
        if message is UNSET:
            return True
        send = self._sends.get((index, self._traces[index].position))
        if send is not None:
            return send[1] < self._traces[send[0]].position
        return message.source not in self._owners or self._gap_before(self._owners[message.source]) is not None

    def _gap_before(self, index: int) -> int | None:
        """The newest gap of a trace that no event before it keeps waiting."""
        trace = self._traces[index]
        return max((gap for gap in trace.lost if gap <= trace.position), default=None)

    def _mark(self, place: Place, line: EventLine) -> tuple[int, ...]:
        """The replicas whose events before this one are not recorded, as far as no earlier line says so."""
        index, position = place
        gaps = [place] if position in self._traces[index].gaps else []
        marked: set[int] = set()
        if line.message is not UNSET and place not in self._sends:
            owner = self._owners.get(line.message.source)
            if owner is None:
                marked = {line.message.source} - self._marked_replicas
            elif (gap := self._gap_before(owner)) is not None:
                gaps.append((owner, gap))
        self._marked_replicas |= marked
        for gap_place in gaps:
            if gap_place not in self._marked:
                self._marked.add(gap_place)
                marked |= self._traces[gap_place[0]].replicas
        return tuple(sorted(marked))

    def _with_ids(self, line: EventLine, place: Place) -> EventLine:
        """The line with the ids of its messages."""
        if line.effects is not UNSET:
            taken: set[str] = set()
            effects = list(line.effects)
            for at, message in sends_of(line):
                identifier = _identifier(line.sequence, message, taken)
                taken.add(identifier)
                self._ids[*place, at] = identifier
                effects[at] = TracedSend(replace(message, id=identifier))
            line = replace(line, effects=tuple(effects))
        if line.message is UNSET or place not in self._sends:
            return line
        identifier = self._ids[self._sends[place]]
        return replace(line, cause=TracedCause(identifier), message=replace(line.message, id=identifier))

    def _blocked(self, index: int) -> MergeError:
        number, line = self._following(index)
        message = line.message
        assert message is not UNSET, "only a message waits for something"
        is_sent = (index, self._traces[index].position) in self._sends
        why = "is received before it is sent" if is_sent else "was never sent, or is received a second time"
        correlation = "missing" if message.correlation_id is UNSET else message.correlation_id
        described = f"{type_of(message)} from replica {message.source} (correlation id {correlation})"
        return MergeError(f"{self._traces[index].source}:{number}: {described} {why}")


def _identifier(sequence: int, message: TracedMessage, taken: set[str]) -> str:
    plain = f"{sequence}.{message.destination}"
    if isinstance(message, CHANGE_ANSWERS):
        return f"{plain}.change"
    return f"{plain}.fetch" if plain in taken else plain

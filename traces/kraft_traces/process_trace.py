"""Trace of one process, which has the events of its own replica."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.continuity import check_sequence
from kraft_traces.errors import DuplicateHeaderError, EmptyTraceError, EventCountError, LinesAfterEndError
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import parse_header, parse_line
from kraft_traces.raw_lines import RawLines
from kraft_traces.streams import open_bytes


class MergeError(Exception):
    """The traces are not from one run; the message has file and line."""


@dataclass(slots=True)
class ProcessTrace:
    """Trace of one process."""

    source: str
    header: HeaderLine
    events: list[tuple[int, EventLine]]
    """Events with their line numbers in the file."""
    is_torn: bool = False
    """True if its last line is incomplete."""
    gaps: Mapping[int, str] = field(default_factory=dict)
    """Descriptions of missing event lines, by the index in `events` of the event after the gap."""
    is_over: bool = True
    """False if the end line says that the run was not over."""
    kills: frozenset[int] = frozenset()
    """Indices in `events` before which lines are missing if a message shows so, because the process was killed."""
    checkpoints: Mapping[int, CheckpointLine] = field(default_factory=dict)
    """Checkpoints from which on its replica is observed, by the index in `events` of the event after it."""
    places: Sequence[str] = ()
    """File and line of each event, of a trace that was made from other files."""
    position: int = 0
    """Number of events that are merged."""

    def place(self, position: int) -> str:
        """Return file and line of an event, as `FILE:NUMBER`."""
        return self.places[position] if self.places else f"{self.source}:{self.events[position][0]}"

    @property
    def is_complete(self) -> bool:
        """True if no line is known to be missing; a process that was killed has no end line."""
        return not self.lost

    @property
    def lost(self) -> frozenset[int]:
        """Indices in `events` before which lines may be missing; `len(events)` for lines after the last."""
        return frozenset(self.gaps) | (frozenset() if self.is_over and not self.is_torn else {len(self.events)})

    @property
    def replicas(self) -> frozenset[int]:
        """Replicas whose events it has."""
        return frozenset(line.replica for _, line in self.events if line.replica is not UNSET)


def read_process_trace(path: Path) -> ProcessTrace:
    """Read the trace of a process, which has no end line and perhaps an incomplete last line if it was killed.

    Raises:
        TraceError: the file cannot be read, or a line is malformed.
        MergeError: the trace observes a replica from its middle on.
    """
    source = str(path)
    with open_bytes(path) as stream:
        lines = RawLines(stream, source)
        raw = lines.read()
        if not raw:
            raise EmptyTraceError("the file is empty, expected a header", source)
        trace = ProcessTrace(source, lines.parse(parse_header, raw, source), [])
        gaps: dict[int, str] = {}
        expected = 1
        end: EndLine | None = None
        while raw := lines.read():
            number = lines.line_number
            if not raw.endswith(b"\n"):
                trace.is_torn = True
                break
            if end is not None:
                raise LinesAfterEndError("expected nothing after the end line", source, number)
            line = parse_line(raw, source, number)
            if isinstance(line, HeaderLine):
                raise DuplicateHeaderError("a second header, expected one trace per file", source, number)
            if isinstance(line, EventLine):
                if line.sequence > expected:
                    gaps[len(trace.events)] = missing_events(expected, line.sequence - 1)
                else:
                    check_sequence(line.sequence, expected, source, number)
                expected = line.sequence + 1
                trace.events.append((number, line))
            elif isinstance(line, CheckpointLine) and line.observed:
                raise MergeError(
                    f"{source}:{number}: $.observed: cannot merge a trace that observes a replica from its middle on, "
                    "expected events from the start of the process on"
                )
            elif isinstance(line, EndLine):
                end = line
                if end.events > expected - 1:
                    gaps[len(trace.events)] = missing_events(expected, end.events)
                elif end.events < expected - 1:
                    detail = f"the end line counts {end.events} events, the last event has sequence {expected - 1}"
                    raise EventCountError(detail, source, number, "$.events")
    trace.gaps = gaps
    trace.is_over = end is None or end.complete
    return trace


def missing_events(first: int, last: int) -> str:
    """Return the description of missing events."""
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"


def owners_of(traces: Sequence[ProcessTrace]) -> dict[int, int]:
    """Return the index of the trace that has the events of each replica.

    Raises:
        MergeError: two traces have events of one replica.
    """
    owners: dict[int, int] = {}
    for index, trace in enumerate(traces):
        for replica in trace.replicas:
            if replica in owners:
                raise MergeError(
                    f"{trace.source}: has events of replica {replica}, and so has {traces[owners[replica]].source}"
                )
            owners[replica] = index
    return owners


_OF_THE_CLUSTER = ("cluster_id", "profile", "decisions", "switched_off", "fetch_max_records", "spec_hash")
"""Header fields that are equal in all traces of a run."""


def merged_header(traces: Sequence[ProcessTrace]) -> HeaderLine:
    """Return the merged header: each replica from its own process, and the voters from a process formatted with them.

    Raises:
        MergeError: two traces have events of one replica, or headers of different clusters or specifications.
    """
    first = traces[0]
    for trace in traces:
        for name in _OF_THE_CLUSTER:
            here, there = getattr(trace.header, name), getattr(first.header, name)
            if here != there:
                actual = "missing" if here is UNSET else repr(here)
                expected = "none" if there is UNSET else repr(there)
                raise MergeError(f"{trace.source}:1: {name}: expected {expected} as in {first.source}, got {actual}")
    owners = owners_of(traces)
    # A process that was formatted without voters only knows the endpoints of the others.
    headers = sorted((trace.header for trace in traces), key=lambda header: len(header.voters))
    replicas = {replica.id: replica for header in headers for replica in header.replicas}
    replicas |= {
        replica.id: replica
        for index, trace in enumerate(traces)
        for replica in trace.header.replicas
        if owners.get(replica.id) == index
    }
    formatted = headers[-1]
    return replace(
        formatted,
        replicas=tuple(replicas[number] for number in sorted(replicas)),
        bootstrap_servers=tuple(sorted({number for trace in traces for number in trace.header.bootstrap_servers})),
    )

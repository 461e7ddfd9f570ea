"""The trace of one process: its own replica's events, as far as the file has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.continuity import check_sequence
from kraft_traces.errors import DuplicateHeaderError, EmptyTraceError, EventCountError, LinesAfterEndError
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import parse_header, parse_line
from kraft_traces.raw_lines import RawLines
from kraft_traces.streams import open_bytes


class MergeError(Exception):
    """The traces are not of one run: the message names file and line."""


@dataclass(slots=True)
class ProcessTrace:
    """The trace of one process."""

    source: str
    header: HeaderLine
    events: list[tuple[int, EventLine]]
    """With the number of the line in the file."""
    is_torn: bool = False
    """True if its last line was not written to its end."""
    gaps: Mapping[int, str] = field(default_factory=dict)
    """By index in `events`: the event lines that are missing before it, in words; after the last at their number."""
    is_over: bool = True
    """False if the end line says that the run was not over."""
    position: int = 0
    """Number of events that are merged."""

    @property
    def is_complete(self) -> bool:
        """True if nothing says that lines are missing; a process that was killed has no end line."""
        return not self.lost

    @property
    def lost(self) -> frozenset[int]:
        """The indices in `events` before which lines may be missing, and after the last their number."""
        return frozenset(self.gaps) | (frozenset() if self.is_over and not self.is_torn else {len(self.events)})

    @property
    def replicas(self) -> frozenset[int]:
        """The replicas whose events it has."""
        return frozenset(line.replica for _, line in self.events if line.replica is not UNSET)


def read_process_trace(path: Path) -> ProcessTrace:
    """Read the trace of a process; one that was killed has no end line, and perhaps a torn last line.

    Raises:
        TraceError: the file cannot be read, or a line is no line of a trace.
    """
    source = str(path)
    with open_bytes(path) as stream:
        lines = RawLines(stream, source)
        raw = lines.read()
        if not raw:
            raise EmptyTraceError("the file is empty, expected a header", source)
        trace = ProcessTrace(source, lines.parsed(parse_header, raw, source), [])
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
                    gaps[len(trace.events)] = _missing(expected, line.sequence - 1)
                else:
                    check_sequence(line.sequence, expected, source, number)
                expected = line.sequence + 1
                trace.events.append((number, line))
            elif isinstance(line, EndLine):
                end = line
                if end.events > expected - 1:
                    gaps[len(trace.events)] = _missing(expected, end.events)
                elif end.events < expected - 1:
                    detail = f"the end line counts {end.events} events, the last event has sequence {expected - 1}"
                    raise EventCountError(detail, source, number, "$.events")
    trace.gaps = gaps
    trace.is_over = end is None or end.complete
    return trace


def _missing(first: int, last: int) -> str:
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"


def owners_of(traces: Sequence[ProcessTrace]) -> dict[int, int]:
    """The index of the trace that has the events of each replica.

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
"""Fields of the header that are equal in all traces of a run."""


def merged_header(traces: Sequence[ProcessTrace]) -> HeaderLine:
    """The header of all: each replica as its own process has it, the voters as those know them that were formatted so.

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
    # Who was formatted without voters knows of the others no more than their endpoints.
    headers = sorted((trace.header for trace in traces), key=lambda header: len(header.voters))
    known = {one.id: one for header in headers for one in header.replicas}
    known |= {
        one.id: one
        for index, trace in enumerate(traces)
        for one in trace.header.replicas
        if owners.get(one.id) == index
    }
    formatted = headers[-1]
    return replace(
        formatted,
        replicas=tuple(known[number] for number in sorted(known)),
        bootstrap_servers=tuple(sorted({number for trace in traces for number in trace.header.bootstrap_servers})),
    )

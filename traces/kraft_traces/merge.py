"""The traces of several processes as one, in causal order: each process's own order, and sent before received.

A process tells of its own replicas only, and knows no ids of messages.
A message is known by who sends what to whom with which correlation id; what nobody here has sent comes from a replica
of which there is no trace.
Among what may come next, the clocks decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UNSET, DecodeError
from msgspec.json import decode
from msgspec.structs import replace

from kraft_traces.effects import TracedSend
from kraft_traces.encode import encode_line
from kraft_traces.lines import EndLine, EventLine, HeaderLine, Line
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage, type_of
from kraft_traces.streams import open_bytes
from kraft_traces.vocabulary import TracedCause

Key = tuple[str, int, int, int]
"""Type of a message, who sent it, to whom, and its correlation id."""


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
    """Was its last line not written to its end?"""
    position: int = 0
    """How many are merged."""


@dataclass(slots=True)
class Sent:
    """What was sent, as far as it is merged."""

    ids: dict[Key, str] = field(default_factory=dict)
    expected: set[Key] = field(default_factory=set)
    """What some trace says was sent, sooner or later."""
    replicas: set[int] = field(default_factory=set)
    """Those of which there is a trace."""


def read_process_trace(path: Path) -> ProcessTrace:
    """The trace of a process; one that was killed has no last line, and perhaps a torn one.

    Raises:
        MergeError: a line is no line of a trace.
        TraceError: the file cannot be read.
    """
    header: HeaderLine | None = None
    events: list[tuple[int, EventLine]] = []
    with open_bytes(path) as stream:
        texts = stream.readlines()
    for number, text in enumerate(texts, start=1):
        if number == len(texts) and not text.endswith(b"\n"):
            return _process_trace(path, header, events, is_torn=True)
        try:
            line = decode(text, type=Line)
        except DecodeError as error:
            raise MergeError(f"{path}:{number}: {error}") from None
        if isinstance(line, HeaderLine):
            header = line
        elif isinstance(line, EventLine):
            events.append((number, line))
    return _process_trace(path, header, events, is_torn=False)


def _process_trace(
    path: Path, header: HeaderLine | None, events: list[tuple[int, EventLine]], is_torn: bool
) -> ProcessTrace:
    if header is None:
        raise MergeError(f"{path}:1: expected the header of a trace, found none")
    return ProcessTrace(str(path), header, events, is_torn)


def replicas_without_trace(traces: Sequence[ProcessTrace]) -> tuple[int, ...]:
    """Those that have sent what is received here, and of which there is no trace."""
    known = {line.replica for trace in traces for _, line in trace.events}
    sources = {line.message.source for trace in traces for _, line in trace.events if line.message is not UNSET}
    return tuple(sorted(sources - known))


def merge(traces: Sequence[ProcessTrace]) -> Iterator[bytes]:
    """The lines of the merged trace.

    Raises:
        MergeError: two traces tell of one replica, belong to different clusters, or a message is received before it is
            sent; the message names file, line and message.
    """
    yield encode_line(merged_header(traces))
    yield from map(encode_line, merged_events(traces))
    yield encode_line(EndLine(sum(len(trace.events) for trace in traces), True))


def merged_events(traces: Sequence[ProcessTrace]) -> Iterator[EventLine]:
    """The events of the merged trace.

    Raises:
        MergeError: a message is received before it is sent; the message names file, line and message.
    """
    sent = Sent()
    for trace in traces:
        for _, line in trace.events:
            sent.expected |= {key_of(effect.message) for effect in sends_of(line)}
            if line.replica is not UNSET:
                sent.replicas.add(line.replica)
    sequence = time_ms = 0
    while any(trace.position < len(trace.events) for trace in traces):
        trace = _next(traces, sent)
        line = trace.events[trace.position][1]
        trace.position += 1
        sequence += 1
        time_ms = max(time_ms, 0 if line.time_ms is UNSET else line.time_ms)
        yield _renumbered(line, sequence, time_ms, sent)


def _next(traces: Sequence[ProcessTrace], sent: Sent) -> ProcessTrace:
    """The trace whose next event may come next; of several the one with the earliest."""
    waiting = [trace for trace in traces if trace.position < len(trace.events)]
    ready = [trace for trace in waiting if _may_happen(trace.events[trace.position][1], sent)]
    if not ready:
        trace = min(waiting, key=_time)
        number, line = trace.events[trace.position]
        assert line.message is not UNSET, "only a message waits for something"
        message = line.message
        why = "is received before it is sent" if key_of(message) in sent.expected else "was never sent"
        said = f"{type_of(message)} of replica {message.source}"
        numbered = "left out" if message.correlation_id is UNSET else message.correlation_id
        raise MergeError(f"{trace.source}:{number}: {said}, correlation id {numbered}, {why}")
    return min(ready, key=_time)


def _time(trace: ProcessTrace) -> int:
    time_ms = trace.events[trace.position][1].time_ms
    return 0 if time_ms is UNSET else time_ms


def _may_happen(line: EventLine, sent: Sent) -> bool:
    if line.message is UNSET or line.message.source not in sent.replicas:
        return True
    return key_of(line.message) in sent.ids


def _renumbered(line: EventLine, sequence: int, time_ms: int, sent: Sent) -> EventLine:
    """The line at its place, with the ids of its messages."""
    effects = line.effects
    if effects is not UNSET:
        taken: set[str] = set()
        made = []
        for effect in effects:
            if isinstance(effect, TracedSend):
                identifier = _identifier(sequence, effect.message, taken)
                taken.add(identifier)
                sent.ids[key_of(effect.message)] = identifier
                effect = TracedSend(replace(effect.message, id=identifier))
            made.append(effect)
        effects = tuple(made)
    line = replace(line, sequence=sequence, time_ms=time_ms, effects=effects)
    if line.message is UNSET or key_of(line.message) not in sent.ids:
        return line
    identifier = sent.ids[key_of(line.message)]
    return replace(line, cause=TracedCause(identifier), message=replace(line.message, id=identifier))


def _identifier(sequence: int, message: TracedMessage, taken: set[str]) -> str:
    plain = f"{sequence}.{message.destination}"
    if isinstance(message, CHANGE_ANSWERS):
        return f"{plain}.change"
    return f"{plain}.fetch" if plain in taken else plain


def key_of(message: TracedMessage) -> Key:
    """By what a message is known on both sides."""
    return type(message).__name__, message.source, message.destination, message.correlation_id


def sends_of(line: EventLine) -> tuple[TracedSend, ...]:
    """The messages among the effects of an event."""
    return () if line.effects is UNSET else tuple(one for one in line.effects if isinstance(one, TracedSend))


def merged_header(traces: Sequence[ProcessTrace]) -> HeaderLine:
    """The header of all: each replica as its own process has it, the voters as those know them that were formatted so.

    Raises:
        MergeError: two traces tell of one replica, or belong to different clusters.
    """
    first = traces[0]
    owners: dict[int, ProcessTrace] = {}
    for trace in traces:
        if trace.header.cluster_id != first.header.cluster_id:
            raise MergeError(
                f"{trace.source}:1: cluster_id {trace.header.cluster_id!r}, expected that of {first.source}, "
                f"{first.header.cluster_id!r}"
            )
        for replica in {line.replica for _, line in trace.events if line.replica is not UNSET}:
            if replica in owners:
                raise MergeError(
                    f"{trace.source}: tells of replica {replica}, of which {owners[replica].source} does too"
                )
            owners[replica] = trace
    # Who was formatted without voters knows of the others no more than their endpoints.
    headers = sorted((trace.header for trace in traces), key=lambda header: len(header.voters))
    known = {one.id: one for header in headers for one in header.replicas}
    known |= {one.id: one for trace in traces for one in trace.header.replicas if owners.get(one.id) is trace}
    formatted = headers[-1]
    return replace(
        formatted,
        replicas=tuple(known[number] for number in sorted(known)),
        bootstrap_servers=tuple(sorted({number for trace in traces for number in trace.header.bootstrap_servers})),
    )

"""Conversion of a file to rows: each trace is checked, or goes to quarantine with all its bytes.

Errors of lines come from the reader of `kraft-spec validate`.
"""

from collections.abc import Callable
from contextlib import closing
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from msgspec import UNSET

from kraft_mutants import omittable_rules
from kraft_pipeline.observed import FIRST_ROLE, events_of
from kraft_pipeline.schemas import EVENTS, FILES, QUARANTINE, SEGMENTS, TRACES, VERDICTS
from kraft_pipeline.stretches import Stretch, stretches_of
from kraft_pipeline.units import Row, Write
from kraft_traces.errors import DuplicateHeaderError, EmptyTraceError, FieldError, LinesAfterEndError, TraceError
from kraft_traces.lines import HeaderLine
from kraft_traces.reader import TraceReader
from kraft_traces.restore import configuration_of
from kraft_traces.streams import LINE_BYTES_MAX

Judge = Callable[[Row, TraceReader], Row | None]
"""Maps the row of a trace and a reader after its header to its row of `VERDICTS`; None if an earlier run has it.

It raises a `TraceError` if a line is wrong, and may stop before the end.
"""


def take_in(
    write: Write,
    path: Path,
    source: str,
    size: int,
    judge: Judge,
    *,
    line_bytes_max: int = LINE_BYTES_MAX,
) -> None:
    """Write the rows of a file, and the verdict of `judge` on each well-formed trace."""
    lines = traces = 0
    for stretch in stretches_of(path, source, line_bytes_max=line_bytes_max):
        with closing(stretch):
            lines += stretch.lines
            traces += 1
            try:
                _take_in(write, stretch, judge, line_bytes_max)
            except TraceError as error:
                _write_quarantine(write, stretch, _describe_reason(error, stretch))
    write(FILES, {"source": source, "bytes": size, "lines": lines, "traces": traces})


def _take_in(write: Write, stretch: Stretch, judge: Judge, line_bytes_max: int) -> None:
    try:
        reader = _open_reader(stretch, line_bytes_max)
    except TraceError as error:
        # The parser of a header assumes that it is the first line of the file.
        error.line_number = error.line_number and stretch.first_line
        raise
    verdict = None
    if stretch.broken is None:
        verdict = judge(_trace_row(stretch, reader.header), reader)
    while reader.next_line() is not None:
        pass
    if stretch.broken is not None:
        raise stretch.broken
    _write_trace(write, stretch, reader)
    if verdict is not None:
        write(VERDICTS, verdict)


def _open_reader(stretch: Stretch, line_bytes_max: int) -> TraceReader:
    """Return a reader of a stretch whose header is valid."""
    reader = TraceReader(
        cast(BufferedIOBase, stretch.reading()),
        stretch.source,
        line_bytes_max=line_bytes_max,
        first_line=stretch.first_line,
    )
    configuration_of(reader.header, stretch.source)
    for index, rule in enumerate(reader.header.switched_off):
        if rule not in omittable_rules():
            detail = f"the model cannot omit rule {rule!r}"
            raise FieldError(detail, stretch.source, 1, f"$.switched_off[{index}]")
    return reader


def _trace_row(stretch: Stretch, header: HeaderLine) -> Row:
    """Return the columns of a trace that follow from its header and its bytes."""
    generator = header.generator
    return {
        "trace_id": stretch.trace_id,
        "source": stretch.source,
        "first_line": stretch.first_line,
        "lines": stretch.lines,
        "bytes": stretch.size,
        "sha256": stretch.sha256,
        "generator": generator.name,
        "generator_version": generator.version,
        "seed": generator.seed,
        "workload": generator.workload,
        "profile": header.profile,
        "spec_hash": None if header.spec_hash is UNSET else header.spec_hash,
        "switched_off": list(header.switched_off),
    }


def _write_trace(write: Write, stretch: Stretch, reader: TraceReader) -> None:
    """Write the rows of a well-formed trace: `traces`, `segments` and `events`."""
    facts = {"events": reader.events, "ended": reader.end is not None, "complete": reader.complete}
    write(TRACES, {**_trace_row(stretch, reader.header), **facts, "header": reader.raw_header})
    roles: dict[int, str | None] = {replica.id: FIRST_ROLE for replica in reader.header.replicas}
    for number, segment in enumerate(stretch.segments):
        raw = segment.raw()
        columns = {"segment": number, "first_line": segment.first_line, "lines": segment.lines, "raw": raw}
        write(SEGMENTS, {"trace_id": stretch.trace_id, **columns})
        write(EVENTS, events_of(stretch.trace_id, raw, segment.first_line, roles))


def _describe_reason(error: TraceError, stretch: Stretch) -> TraceError:
    """Return the error of a stretch, or a more specific one that its reader cannot know."""
    if stretch.broken is not None and isinstance(error, EmptyTraceError):
        return stretch.broken
    if stretch.follows_end and not stretch.has_header and error is not stretch.broken:
        detail = "a line after the end line, expected another header or nothing"
        return LinesAfterEndError(detail, stretch.source, stretch.first_line)
    if isinstance(error, EmptyTraceError) and stretch.next_header is not None:
        detail = f"line {stretch.next_header} is a second header, without an event before it"
        return DuplicateHeaderError(detail, stretch.source)
    return error


def _write_quarantine(write: Write, stretch: Stretch, error: TraceError) -> None:
    """Write every byte of a stretch, with the wrong line apart: by default the last one."""
    common: dict[str, Any] = {
        "trace_id": stretch.trace_id,
        "source": stretch.source,
        "first_line": stretch.first_line,
        "reason": reason_of(error),
        "field": error.field,
        "detail": error.detail,
    }

    def write_bytes(line: int, lines: int, raw: bytes, *, wrong: bool = False) -> None:
        if raw or wrong or lines:
            write(QUARANTINE, {**common, "line": line, "lines": lines, "wrong": wrong, "raw": raw})

    broken = stretch.broken_segment if error is stretch.broken else None
    last = stretch.first_line + stretch.lines - 1
    number = last if error.line_number is None else error.line_number
    for segment in stretch.segments:
        first, lines, raw = segment.first_line, segment.lines, segment.raw()
        if segment is broken:
            write_bytes(first, lines, raw, wrong=True)
        elif broken is None and first <= number < first + lines:
            begin = 0
            for _ in range(number - first):
                begin = raw.index(b"\n", begin) + 1
            end = raw.find(b"\n", begin) + 1 or len(raw)
            write_bytes(first, number - first, raw[:begin])
            write_bytes(number, 1, raw[begin:end], wrong=True)
            write_bytes(number + 1, first + lines - number - 1, raw[end:])
        else:
            write_bytes(first, lines, raw)


def reason_of(error: TraceError) -> str:
    """Return the code of an error, with the kind of problem for a wrong field."""
    if isinstance(error, FieldError):
        return f"{error.code}_{error.problem.replace('-', '_').upper()}"
    return error.code

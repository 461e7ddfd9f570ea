"""One file to rows: each trace in it either can be checked, or goes to quarantine whole, with every byte of it.

The reader of `kraft-spec validate` stops at the first thing that is wrong; here a wrong trace must not cost the traces
beside it, so the lines of a file are told apart by their headers first.
What follows a trace and is no header, and what precedes the first header, counts as a trace without one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import decode

from kraft_spec.experiments import switchable_rules
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.continuity import Continuity
from kraft_traces.errors import (
    DuplicateHeaderError,
    EmptyTraceError,
    EventCountError,
    FieldError,
    InvalidUtf8Error,
    LinesAfterEndError,
    LineTooLongError,
    MalformedJsonError,
    TraceError,
    TruncatedFileError,
)
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import parse_header, parse_line
from kraft_traces.pipeline.assembly import SEGMENT_BYTES, Assembly, Wrong
from kraft_traces.pipeline.splitting import Piece, Remains, pieces_of
from kraft_traces.restore import configuration_of
from kraft_traces.streams import LINE_BYTES_MAX

Row = dict[str, Any]


class _KindOnly(Struct):
    kind: Raw | UnsetType = UNSET


def _is_header(raw: bytes) -> bool:
    """Does the line say that it is a header, right or wrong?"""
    if b'"header"' not in raw:
        return False
    try:
        kind = decode(raw, type=_KindOnly).kind
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return kind is not UNSET and bytes(kind) == b'"header"'


def take_in(path: Path, source: str, size: int, *, line_bytes_max: int = LINE_BYTES_MAX) -> Iterator[Row]:
    """The rows of a file, each under the name of its kind; the row of `files` is the last."""
    intake = _Intake(source, line_bytes_max)
    try:
        for piece in pieces_of(path, source, line_bytes_max=line_bytes_max):
            if isinstance(piece, Remains):
                yield from intake.break_off(piece)
            elif piece.whole:
                yield from intake.line(piece)
            else:
                yield from intake.part(piece)
        yield from intake.finish()
    finally:
        intake.close()
    yield {"file": {"source": source, "bytes": size, "lines": intake.lines, "traces": intake.traces}}


class _Intake:
    """Where a file stands between two lines: in a trace, in something wrong, or between traces."""

    def __init__(self, source: str, line_bytes_max: int) -> None:
        self.lines = 0
        self.traces = 0
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._trace: Assembly | None = None
        self._continuity: Continuity | None = None
        self._wrong: Wrong | None = None
        self._after_end = False
        self._held = bytearray()
        self._held_from = 0
        self._held_lines = 0

    def line(self, piece: Piece) -> Iterator[Row]:
        """A line within the limit."""
        self.lines += 1
        number, raw = piece.number, piece.raw
        if _is_header(raw):
            yield from self._leave(number)
            yield from self._begin(number, raw, piece.error)
        elif piece.error is not None:
            yield from self._spoil(piece.error, number, 1, raw)
        elif self._wrong is not None:
            yield from self._hold(number, raw)
        elif self._trace is not None:
            yield from self._follow(self._trace, number, raw)
        else:
            yield from self._begin(number, raw)

    def part(self, piece: Piece) -> Iterator[Row]:
        """A part of a line beyond the limit."""
        self.lines += piece.first
        if piece.first:
            error = LineTooLongError(f"a line of more than {self._line_bytes_max} bytes", self._source, piece.number)
            yield from self._spoil(error, piece.number, 1, piece.raw)
        elif self._wrong is not None:
            yield self._wrong.row(piece.number, 0, piece.raw)

    def break_off(self, remains: Remains) -> Iterator[Row]:
        """The file cannot be read to its end.  A trace that has ended before is not touched by that."""
        self.lines += remains.lines
        if self._wrong is None or remains.raw:
            yield from self._spoil(remains.error, self.lines, remains.lines, remains.raw)

    def finish(self) -> Iterator[Row]:
        """After the last line."""
        yield from self._leave(None)
        if self.traces == 0:
            error = EmptyTraceError("the file is empty, expected a header", self._source)
            yield from self._spoil(error, 0, 0, b"")
            yield from self._leave(None)

    def close(self) -> None:
        """Forget what is held."""
        if self._trace is not None:
            self._trace.close()

    def _begin(self, number: int, raw: bytes, wrong: TraceError | None = None) -> Iterator[Row]:
        """A line where a header is expected; `wrong` is what is known to be wrong with it."""
        try:
            if wrong is not None:
                raise wrong
            header = self._header(number, raw)
        except TraceError as error:
            error = self._placed(error, number, raw)
            if self._after_end and not _is_header(raw):
                error = LinesAfterEndError("expected nothing but another header after an end line", self._source)
            yield from self._spoil(error, number, 1, raw)
            return
        self.traces += 1
        self._after_end = False
        self._trace = Assembly(self._source, number, raw, header)
        self._continuity = Continuity(header, self._source)

    def _header(self, number: int, raw: bytes) -> HeaderLine:
        header = parse_header(raw, self._source)
        configuration_of(header, self._source)
        for index, rule in enumerate(header.switched_off):
            if rule not in switchable_rules():
                detail = f"{rule!r} is no rule that the model can switch off"
                raise FieldError(detail, self._source, number, f"$.switched_off[{index}]")
        return header

    def _follow(self, trace: Assembly, number: int, raw: bytes) -> Iterator[Row]:
        """A line within a trace."""
        assert self._continuity is not None
        try:
            line = parse_line(raw, self._source, number)
            if type(line) is EventLine:
                self._continuity.follow(line, number)
                trace.add_event(number, raw, line)
                return
            if isinstance(line, CheckpointLine):
                self._continuity.follow_checkpoint(line, number)
                trace.add_checkpoint(raw, line)
                return
            assert isinstance(line, EndLine), "headers are told apart before"
            if line.events != trace.events:
                detail = f"the end line counts {line.events} events, the trace has {trace.events}"
                raise EventCountError(detail, self._source, number, "$.events")
            if not trace.events:
                raise EmptyTraceError("a header and an end, and no event between them", self._source)
        except TraceError as error:
            yield from self._spoil(self._placed(error, number, raw), number, 1, raw)
            return
        trace.add_end(raw, line)
        yield from trace.accepted()
        self._trace = None
        self._after_end = True

    def _placed(self, error: TraceError, number: int, raw: bytes) -> TraceError:
        """A last line that breaks off is malformed for that reason."""
        if isinstance(error, MalformedJsonError | InvalidUtf8Error) and not raw.endswith(b"\n"):
            detail = f"the file stops in the middle of a line ({error.detail})"
            return TruncatedFileError(detail, self._source, number, column=error.column)
        return error

    def _leave(self, next_header: int | None) -> Iterator[Row]:
        """Leave what the file is in, because the next header or its end has come."""
        if self._trace is not None and not self._trace.events:
            # Counted already: only its row is missing.
            trace, self._trace = self._trace, None
            error: TraceError = EmptyTraceError("a header and no event", self._source)
            if next_header is not None:
                detail = f"line {next_header} is a second header, and no event between the two"
                error = DuplicateHeaderError(detail, self._source)
            wrong = Wrong(error, self._source, trace.first_line)
            for index, row in enumerate(trace.quarantined(wrong)):
                row["quarantine"]["wrong"] = index == 0
                yield row
        elif self._trace is not None:
            yield from self._trace.accepted()
        self._trace = None
        yield from self._release()
        self._wrong = None
        self._after_end = False

    def _spoil(self, error: TraceError, line: int, lines: int, raw: bytes) -> Iterator[Row]:
        """Something is wrong: with the trace that the file is in, else with a trace that has no header."""
        if self._wrong is not None:
            yield from self._release()
            yield self._wrong.row(line, lines, raw)
            return
        if self._trace is not None:
            trace, self._trace = self._trace, None
            self._wrong = Wrong(error, self._source, trace.first_line)
            yield from trace.quarantined(self._wrong)
        else:
            # After the last line nothing else can begin, so a line of its own keeps the name apart.
            first_line = line if lines else line + (self.lines > 0)
            self._wrong = Wrong(error, self._source, first_line)
            self.traces += 1
        yield self._wrong.row(line, lines, raw, wrong=True)

    def _hold(self, number: int, raw: bytes) -> Iterator[Row]:
        """A line after the wrong one, in the same trace."""
        if not self._held:
            self._held_from = number
        self._held += raw
        self._held_lines += 1
        if len(self._held) >= SEGMENT_BYTES:
            yield from self._release()

    def _release(self) -> Iterator[Row]:
        if self._held and self._wrong is not None:
            yield self._wrong.row(self._held_from, self._held_lines, bytes(self._held))
        self._held.clear()
        self._held_lines = 0

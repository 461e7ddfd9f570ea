"""Split of a file into stretches of lines, each of which is a trace or goes to quarantine.

The reader of `kraft-spec validate` stops at the first error.  Here a wrong trace must not affect the others in its
file, so a file is first split at header and end lines, without decoding other lines.
Lines before the first header, or after an end line and before the next header, are a stretch without a header.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import decode

from kraft_pipeline.blocks import PIECE_BYTES_MAX, Remains, WrongRow, blocks_of
from kraft_traces.errors import EmptyTraceError, TraceError
from kraft_traces.streams import LINE_BYTES_MAX

SEGMENT_BYTES = 2**19
"""Size at which a segment is closed."""

SPOOL_BYTES_MAX = 2**25
"""Maximum part of a stretch in memory; a larger one is kept in a temporary file."""

_HEADER, _END = _KINDS = (b'"header"', b'"end"')
_TRACE_ID_DIGITS = 20


def trace_id_of(source: str, first_line: int) -> str:
    """Return the id of the trace that begins at a line of a source, which is the same in every run."""
    return sha256(f"{source}\0{first_line}".encode("utf-8", "surrogateescape")).hexdigest()[:_TRACE_ID_DIGITS]


@dataclass(slots=True)
class Segment:
    """Consecutive lines of a stretch, with the place of their bytes."""

    spool: IO[bytes]
    offset: int
    size: int
    first_line: int
    lines: int
    """Number of lines that begin in it."""

    def raw(self) -> bytes:
        """Return its bytes."""
        self.spool.seek(self.offset)
        return self.spool.read(self.size)


class Stretch:
    """Lines of one trace, or lines without a header, as bytes.

    Attributes:
        source: the file or the run.
        first_line: number of its first line; without lines, a number that no other stretch has.
        has_header: True if its first line is marked as a header.
        follows_end: True if it follows an end line.
        next_header: number of the header that ends it; None at an end line and at the end of the file.
        broken: error of the file at the end of `reading`; None if there is none.
        lines: number of lines.
        size: number of bytes.
    """

    def __init__(self, source: str, first_line: int, *, has_header: bool, follows_end: bool = False) -> None:
        self.source = source
        self.first_line = first_line
        self.trace_id = trace_id_of(source, first_line)
        self.has_header = has_header
        self.follows_end = follows_end
        self.next_header: int | None = None
        self.broken: TraceError | None = None
        self.lines = 0
        self.size = 0
        self._sound: IO[bytes] = SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - it outlives this call
        self._broken_part: IO[bytes] | None = None
        self._digest = sha256()
        self._segments: list[Segment] = []
        self._is_open = False

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return self._digest.hexdigest()

    def add(self, raw: bytes, lines: int, *, alone: bool = False) -> None:
        """Add bytes in which `lines` lines begin; with `alone`, as a separate segment."""
        if alone or not self._is_open:
            spool = self._sound if self._broken_part is None else self._broken_part
            self._segments.append(Segment(spool, spool.tell(), 0, self.first_line + self.lines, 0))
        segment = self._segments[-1]
        segment.spool.write(raw)
        segment.size += len(raw)
        segment.lines += lines
        self._is_open = not alone and segment.size < SEGMENT_BYTES
        self._digest.update(raw)
        self.size += len(raw)
        self.lines += lines

    def break_off(self, error: TraceError, raw: bytes, lines: int) -> None:
        """Add bytes that are not lines, or a wrong line, for the reason `error`."""
        if self.broken is None:
            self.broken = error
            self._broken_part = SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - as above
        self.add(raw, lines, alone=True)

    def reading(self) -> IO[bytes]:
        """Return a stream of the bytes up to the first error of the file; the caller must not close it."""
        self._sound.seek(0)
        return self._sound

    @property
    def segments(self) -> Sequence[Segment]:
        """All segments in the order of their lines."""
        return self._segments

    @property
    def broken_segment(self) -> Segment | None:
        """Segment at which the error `broken` occurred."""
        return next((segment for segment in self._segments if segment.spool is self._broken_part), None)

    def close(self) -> None:
        """Release the bytes."""
        for spool in (self._sound, self._broken_part):
            if spool is not None:
                spool.close()


class _KindOnly(Struct):
    kind: Raw | UnsetType = UNSET


def _has_kind(kind: bytes, line: bytes) -> bool:
    """True if the line has this kind, even if it is otherwise wrong."""
    try:
        value = decode(line, type=_KindOnly).kind
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return value is not UNSET and bytes(value) == kind


def stretches_of(path: Path, source: str, *, line_bytes_max: int = LINE_BYTES_MAX) -> Iterator[Stretch]:
    """Yield the stretches of a file in order, at least one; the caller closes each.

    A line longer than the limit, newline included, gets separate segments.
    """
    splitter = _Splitter(source, line_bytes_max)
    try:
        for block in blocks_of(path, source):
            if isinstance(block, bytes):
                yield from splitter.block(block)
            else:
                yield from splitter.wrong(block)
        yield from splitter.finish()
    finally:
        splitter.close()


class _Splitter:
    """State of the split of a file between two blocks."""

    def __init__(self, source: str, line_bytes_max: int) -> None:
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._lines = 0
        self._any_yet = False
        self._stretch: Stretch | None = None
        self._follows_end = False
        self._held = b""
        """Beginning of an incomplete line, within the limit."""
        self._is_in_long_line = False

    def block(self, block: bytes) -> Iterator[Stretch]:
        """Take bytes that may begin and end within a line."""
        held = self._held + block if self._held else block
        newline = held.find(b"\n") + 1
        if self._is_in_long_line or (newline or len(held)) > self._line_bytes_max:
            self._long_line(held[: newline or None])
            self._is_in_long_line = not newline
            held = held[newline:] if newline else b""
        last = held.rfind(b"\n") + 1
        self._held = held[last:]
        if last:
            yield from self._whole_lines(held[:last])

    def _long_line(self, raw: bytes) -> None:
        begins = not self._is_in_long_line
        for start in range(0, len(raw), PIECE_BYTES_MAX):
            self._take(raw[start : start + PIECE_BYTES_MAX], int(begins), alone=True)
            begins = False

    def _whole_lines(self, block: bytes) -> Iterator[Stretch]:
        """Take complete lines within the limit; the last one of a file may lack its newline."""
        begin = 0
        for start, kind in sorted(_marks(block)):
            end = block.find(b"\n", start) + 1 or len(block)
            if kind == _HEADER:
                self._take_lines(block[begin:start])
                yield from self._leave(self._lines + 1)
                self._begin(has_header=True)
                begin = start
            elif self._stretch is not None and self._stretch.has_header:
                self._take_lines(block[begin:end])
                yield from self._leave(None)
                self._follows_end = True
                begin = end
        self._take_lines(block[begin:])

    def wrong(self, block: WrongRow | Remains) -> Iterator[Stretch]:
        """Take a row that is not a line, or bytes that cannot be split into lines."""
        if self._held:
            self._break_off(block.error, self._held, 1)
            self._held = b""
        if isinstance(block, WrongRow):
            if _HEADER in block.raw and _has_kind(_HEADER, block.raw):
                yield from self._leave(self._lines + 1)
                self._begin(has_header=True)
            self._break_off(block.error, block.raw, 1)
        elif self._stretch is None or self._stretch.broken is None or block.raw:
            self._break_off(block.error, block.raw, 0)

    def finish(self) -> Iterator[Stretch]:
        """End the last stretch."""
        if self._held:
            yield from self._whole_lines(self._held)
        if self._stretch is None and not self._any_yet:
            self._break_off(EmptyTraceError("the file is empty, expected a header", self._source), b"", 0)
        yield from self._leave(None)

    def close(self) -> None:
        """Release the bytes of an unfinished stretch."""
        if self._stretch is not None:
            self._stretch.close()

    def _begin(self, *, has_header: bool, has_lines: bool = True) -> Stretch:
        # The number after the last line is unique, because no other stretch begins there.
        first_line = self._lines + (1 if has_lines or self._lines else 0)
        self._stretch = Stretch(self._source, first_line, has_header=has_header, follows_end=self._follows_end)
        self._follows_end = False
        self._any_yet = True
        return self._stretch

    def _leave(self, next_header: int | None) -> Iterator[Stretch]:
        stretch, self._stretch = self._stretch, None
        self._follows_end = False
        if stretch is not None:
            stretch.next_header = next_header
            yield stretch

    def _take_lines(self, raw: bytes) -> None:
        if raw:
            self._take(raw, raw.count(b"\n") + (not raw.endswith(b"\n")))

    def _take(self, raw: bytes, lines: int, *, alone: bool = False) -> None:
        stretch = self._stretch or self._begin(has_header=False)
        stretch.add(raw, lines, alone=alone)
        self._lines += lines

    def _break_off(self, error: TraceError, raw: bytes, lines: int) -> None:
        stretch = self._stretch or self._begin(has_header=False, has_lines=bool(lines))
        stretch.break_off(error, raw, lines)
        self._lines += lines


def _marks(block: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the positions and kinds of the lines that are marked as headers or end lines."""
    for kind in _KINDS:
        place = block.find(kind)
        while place >= 0:
            start, end = block.rfind(b"\n", 0, place) + 1, block.find(b"\n", place) + 1 or len(block)
            if _has_kind(kind, block[start:end]):
                yield start, kind
            place = block.find(kind, end)

"""A file cut into stretches of lines, each of which is a trace or must go to quarantine, without reading a line.

The reader of `kraft-spec validate` stops at the first thing that is wrong; here a wrong trace must not cost the traces
beside it, so a file is cut first, at the lines that say that they are headers or end lines, right or wrong.
What precedes the first header, and what follows an end line and is no header, is a stretch without a header.
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
"""A segment is closed when it holds as much."""

SPOOL_BYTES_MAX = 2**25
"""Of a stretch so much is kept in memory, and the rest in a temporary file."""

_HEADER, _END = _KINDS = (b'"header"', b'"end"')
_TRACE_ID_DIGITS = 20


def trace_id_of(source: str, first_line: int) -> str:
    """The name of the trace that begins at a line of a source: the same in every run."""
    return sha256(f"{source}\0{first_line}".encode("utf-8", "surrogateescape")).hexdigest()[:_TRACE_ID_DIGITS]


@dataclass(slots=True)
class Segment:
    """A run of lines of a stretch: where its bytes are, and what they are."""

    spool: IO[bytes]
    offset: int
    size: int
    first_line: int
    lines: int
    """How many begin in it."""

    def raw(self) -> bytes:
        """The bytes."""
        self.spool.seek(self.offset)
        return self.spool.read(self.size)


class Stretch:
    """Lines that belong together, as bytes.

    Attributes:
        source: the file or the run.
        first_line: number of its first line; of one without lines, a number that no other stretch has.
        has_header: whether its first line says that it is a header.
        follows_end: whether it stands after an end line.
        next_header: number of the header that ends it; None at an end line and at the end of the file.
        broken: what is known to be wrong with the file where `reading` ends; None if nothing is.
        lines: how many.
        size: bytes.
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
        self._rest: IO[bytes] | None = None
        self._digest = sha256()
        self._segments: list[Segment] = []
        self._is_open = False

    @property
    def sha256(self) -> str:
        """Of the bytes, hexadecimal."""
        return self._digest.hexdigest()

    def add(self, raw: bytes, lines: int, *, alone: bool = False) -> None:
        """Take bytes in which so many lines begin; `alone` makes them a segment of their own."""
        if alone or not self._is_open:
            spool = self._sound if self._rest is None else self._rest
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
        """Take bytes that are no lines, or that are known to be a wrong one; `error` says why."""
        if self.broken is None:
            self.broken = error
            self._rest = SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - as above
        self.add(raw, lines, alone=True)

    def reading(self) -> IO[bytes]:
        """The bytes from the beginning, up to where the file breaks off or a row is no line; read, do not close."""
        self._sound.seek(0)
        return self._sound

    @property
    def segments(self) -> Sequence[Segment]:
        """All of them, in the order of their lines."""
        return self._segments

    @property
    def broken_segment(self) -> Segment | None:
        """Where `broken` is."""
        return next((segment for segment in self._segments if segment.spool is self._rest), None)

    def close(self) -> None:
        """Forget the bytes."""
        for spool in (self._sound, self._rest):
            if spool is not None:
                spool.close()


class _KindOnly(Struct):
    kind: Raw | UnsetType = UNSET


def _says(kind: bytes, line: bytes) -> bool:
    """Does the line say that it is of this kind, right or wrong?"""
    try:
        said = decode(line, type=_KindOnly).kind
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return said is not UNSET and bytes(said) == kind


def stretches_of(path: Path, source: str, *, line_bytes_max: int = LINE_BYTES_MAX) -> Iterator[Stretch]:
    """The stretches of a file, in their order; there is at least one.  Each is the caller's to close.

    A line beyond the limit, its newline included, is in segments of its own.
    """
    cutter = _Cutter(source, line_bytes_max)
    try:
        for block in blocks_of(path, source):
            if isinstance(block, bytes):
                yield from cutter.block(block)
            else:
                yield from cutter.wrong(block)
        yield from cutter.finish()
    finally:
        cutter.close()


class _Cutter:
    """Where a file stands between two blocks."""

    def __init__(self, source: str, line_bytes_max: int) -> None:
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._lines = 0
        self._any_yet = False
        self._stretch: Stretch | None = None
        self._follows_end = False
        self._held = b""
        """The beginning of a line, of no more bytes than the limit."""
        self._is_in_long_line = False

    def block(self, block: bytes) -> Iterator[Stretch]:
        """Bytes that may begin and end within a line."""
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
        """Lines of no more than the limit; the last of a file may lack its newline."""
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
        """A row that is no line, or what cannot be made into lines."""
        if self._held:
            self._break_off(block.error, self._held, 1)
            self._held = b""
        if isinstance(block, WrongRow):
            if _HEADER in block.raw and _says(_HEADER, block.raw):
                yield from self._leave(self._lines + 1)
                self._begin(has_header=True)
            self._break_off(block.error, block.raw, 1)
        elif self._stretch is None or self._stretch.broken is None or block.raw:
            self._break_off(block.error, block.raw, 0)

    def finish(self) -> Iterator[Stretch]:
        """After the last block."""
        if self._held:
            yield from self._whole_lines(self._held)
        if self._stretch is None and not self._any_yet:
            self._break_off(EmptyTraceError("the file is empty, expected a header", self._source), b"", 0)
        yield from self._leave(None)

    def close(self) -> None:
        """Forget what is held."""
        if self._stretch is not None:
            self._stretch.close()

    def _begin(self, *, has_header: bool, has_lines: bool = True) -> Stretch:
        # After the last line nothing else can begin, so a line of its own keeps the name apart.
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
    """Where the lines begin that are headers or end lines, or say so."""
    for kind in _KINDS:
        place = block.find(kind)
        while place >= 0:
            start, end = block.rfind(b"\n", 0, place) + 1, block.find(b"\n", place) + 1 or len(block)
            if _says(kind, block[start:end]):
                yield start, kind
            place = block.find(kind, end)

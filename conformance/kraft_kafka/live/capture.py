"""kraft-capture/1: the frames that passed between processes, as JSON lines.

A header, then in the order of time connections that open and close, frames, and files of the processes; an end line.
Nothing of it says what a frame means: `captured` does.
"""

from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kraft_traces.errors import TraceError
from kraft_traces.streams import open_bytes

SCHEMA: Literal["kraft-capture/1"] = "kraft-capture/1"


class CapturedNode(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A process, as far as whoever records it knows it."""

    id: int
    endpoint: str
    """Where the others reach it, host:port: the recorder listens there."""
    directory_id: str | None = None


class CapturedVoter(Struct, frozen=True, forbid_unknown_fields=True):
    """A voter of the bootstrap checkpoint or of the static configuration."""

    id: int
    directory_id: str | None


class CaptureHeader(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="header"):
    """The first line: what is known of the cluster beside its frames."""

    schema: Literal["kraft-capture/1"]
    generator: str
    """What wrote the capture, with its version."""
    nodes: tuple[CapturedNode, ...]
    cluster_id: str | None = None
    kraft_version: int = 1
    voters: tuple[CapturedVoter, ...] = ()
    """Empty: all nodes."""


class Opened(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="open"):
    """Somebody has connected to a node."""

    time_us: int
    """Microseconds of a clock that never goes back; where it starts is of no importance."""
    connection: int
    """A number of its own."""
    node: int
    """To whom."""


class FrameLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="frame"):
    """A whole frame, before it was passed on."""

    time_us: int
    connection: int
    direction: Literal["request", "response"]
    bytes: str
    """The frame in hexadecimal, its length in front."""


class Closed(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="close"):
    """A connection has ended."""

    time_us: int
    connection: int
    reached: bool = True
    """False: nobody listened."""


class FileLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="file"):
    """A file of a process, as it was read then."""

    time_us: int
    node: int
    name: str
    """`quorum-state`, or that of a segment of the log or of a snapshot."""
    bytes: str
    """Its content in hexadecimal."""


class CaptureEnd(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="end"):
    """The last line."""

    lines: int
    """How many lines there are between header and end."""


Line = Opened | FrameLine | Closed | FileLine
"""A line between header and end."""
CaptureLine = CaptureHeader | Opened | FrameLine | Closed | FileLine | CaptureEnd
"""Any line of a capture."""


class CaptureError(TraceError):
    """A capture cannot be read."""

    code = "CAPTURE"


_DECODER = msgspec.json.Decoder(CaptureLine)
_ENCODER = msgspec.json.Encoder()


class CaptureWriter:
    """Writes a capture line by line, each at once, so that an end without warning loses nothing that was passed on."""

    def __init__(self, stream: FileIO, header: CaptureHeader) -> None:
        """Write the header; `stream` is not buffered, so that what a full disk refuses is not tried again."""
        self._stream = stream
        self._lines = 0
        self._put(header)

    def write(self, line: Line) -> None:
        """Write a line between header and end."""
        self._put(line)
        self._lines += 1

    def end(self) -> None:
        """Write the last line."""
        self._put(CaptureEnd(self._lines))

    def _put(self, line: CaptureLine) -> None:
        raw = memoryview(_ENCODER.encode(line) + b"\n")
        while raw:
            # A disk that is almost full takes a part.
            raw = raw[self._stream.write(raw) :]


def read_capture(path: str | Path) -> tuple[CaptureHeader, list[Line]]:
    """The header and the lines of a capture; one without an end line has been cut off, and is read as far as it goes.

    Raises:
        CaptureError: it cannot be read, or a line of it is none; the message names file, line and field.
        TraceError: the file cannot be opened.
    """
    with open_bytes(Path(path)) as stream:
        found = list(_lines(stream, str(path)))
    if not found or not isinstance(found[0], CaptureHeader):
        raise CaptureError("expected the header of a kraft-capture/1", str(path), 1)
    header, *rest = found
    ended = isinstance(rest[-1], CaptureEnd) if rest else False
    lines = rest[:-1] if ended else rest
    for number, line in enumerate(lines, 2):
        if isinstance(line, CaptureHeader | CaptureEnd):
            raise CaptureError("a header or an end in the middle", str(path), number)
    if ended and rest[-1].lines != len(lines):  # type: ignore[union-attr]
        said = f"the end line counts {rest[-1].lines} lines, the capture has {len(lines)}"  # type: ignore[union-attr]
        raise CaptureError(said, str(path), len(found))
    return header, lines  # type: ignore[return-value]


def _lines(stream: Iterable[bytes], source: str) -> Iterator[CaptureLine]:
    for number, raw in enumerate(stream, 1):
        if not raw.endswith(b"\n"):
            # Whoever wrote it was ended in the middle of a line.
            return
        try:
            yield _DECODER.decode(raw)
        except msgspec.DecodeError as error:
            what, _, path = str(error).partition(" - at ")
            where: str | UnsetType = path.strip("`") or UNSET
            raise CaptureError(what, source, number, "$" if where is UNSET else where) from None

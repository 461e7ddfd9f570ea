"""kraft-capture/1: the frames between processes, as JSON lines.

A header; then, in order of time, opened and closed connections, frames, and files of the processes; an end line.
Only `captured` decodes the frames.
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
    """A process, as its recorder knows it."""

    id: int
    endpoint: str
    """Endpoint for the other nodes, host:port, at which the recorder listens."""
    directory_id: str | None = None


class CapturedVoter(Struct, frozen=True, forbid_unknown_fields=True):
    """A voter of the bootstrap checkpoint or of the static configuration."""

    id: int
    directory_id: str | None


class CaptureHeader(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="header"):
    """The first line: properties of the cluster."""

    schema: Literal["kraft-capture/1"]
    generator: str
    """Program that wrote the capture, with its version."""
    nodes: tuple[CapturedNode, ...]
    cluster_id: str | None = None
    kraft_version: int = 1
    voters: tuple[CapturedVoter, ...] = ()
    """Empty if all nodes are voters."""


class Opened(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="open"):
    """A client has connected to a node."""

    time_us: int
    """Microseconds of a monotonic clock with any origin."""
    connection: int
    """Unique number of the connection."""
    node: int
    """The node that the client connected to."""


class FrameLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="frame"):
    """A whole frame, before the recorder forwarded it."""

    time_us: int
    connection: int
    direction: Literal["request", "response"]
    bytes: str
    """The frame with its length, in hexadecimal."""


class Closed(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="close"):
    """A connection has closed."""

    time_us: int
    connection: int
    reached: bool = True
    """False if the node did not listen."""


class FileLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="file"):
    """A file of a process, as read at this time."""

    time_us: int
    node: int
    name: str
    """Name: `quorum-state`, or a log segment's or snapshot's."""
    bytes: str
    """Contents in hexadecimal."""


class CaptureEnd(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="end"):
    """The last line."""

    lines: int
    """Number of lines between header and end."""


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
    """Writes a capture line by line, each at once, so that an abrupt end loses no forwarded frame."""

    def __init__(self, stream: FileIO, header: CaptureHeader) -> None:
        """Write the header; `stream` is unbuffered, so a write that a full disk rejects is not repeated."""
        self._stream = stream
        self._read_lines = 0
        self._put(header)

    def write(self, line: Line) -> None:
        """Write a line between header and end."""
        self._put(line)
        self._read_lines += 1

    def end(self) -> None:
        self._put(CaptureEnd(self._read_lines))

    def _put(self, line: CaptureLine) -> None:
        raw = memoryview(_ENCODER.encode(line) + b"\n")
        while raw:
            # An almost full disk may write a part only.
            raw = raw[self._stream.write(raw) :]


def read_capture(path: str | Path) -> tuple[CaptureHeader, list[Line]]:
    """Read the header and the lines of a capture; it may be incomplete, without an end line.

    Raises:
        CaptureError: a line is malformed; the message names file, line and field.
        TraceError: the file cannot be opened.
    """
    with open_bytes(Path(path)) as stream:
        read = list(_read_lines(stream, str(path)))
    if not read or not isinstance(read[0], CaptureHeader):
        raise CaptureError("expected the header of a kraft-capture/1", str(path), 1)
    header, *following = read
    ended = isinstance(following[-1], CaptureEnd) if following else False
    lines = following[:-1] if ended else following
    for number, line in enumerate(lines, 2):
        if isinstance(line, CaptureHeader | CaptureEnd):
            raise CaptureError("a header or an end in the middle", str(path), number)
    if ended and following[-1].lines != len(lines):  # type: ignore[union-attr]
        detail = f"the end line counts {following[-1].lines} lines, the capture has {len(lines)}"  # type: ignore[union-attr]
        raise CaptureError(detail, str(path), len(read))
    return header, lines  # type: ignore[return-value]


def _read_lines(stream: Iterable[bytes], source: str) -> Iterator[CaptureLine]:
    for number, raw in enumerate(stream, 1):
        if not raw.endswith(b"\n"):
            # The recorder was killed in the middle of a line.
            return
        try:
            yield _DECODER.decode(raw)
        except msgspec.DecodeError as error:
            problem, _, path = str(error).partition(" - at ")
            where: str | UnsetType = path.strip("`") or UNSET
            raise CaptureError(problem, source, number, "$" if where is UNSET else where) from None

"""Reader of the lines of a trace of any format as bytes, with a maximum length."""

from collections.abc import Callable
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from kraft_traces.errors import InvalidUtf8Error, LineTooLongError, MalformedJsonError, TraceError, TruncatedFileError
from kraft_traces.streams import LINE_BYTES_MAX, open_bytes, read_block

Parameters = ParamSpec("Parameters")
_Parsed = TypeVar("_Parsed")


class RawLines:
    """Reader of lines from a stream.

    Attributes:
        line_number: number of the line read last, counted from `first_line`; at the end, one more than the last.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, line_bytes_max: int = LINE_BYTES_MAX, first_line: int = 1
    ) -> None:
        """Prepare to read.

        Args:
            stream: the decompressed bytes of the trace.
            source: its name in errors.
            line_bytes_max: maximum length of a line, newline included.
            first_line: number of the first line, if a file has several traces.
        """
        self.line_number = first_line - 1
        self._stream = stream
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._line = b""
        self._block = b""
        self._at = 0
        """Position of the next line in the block."""
        self._failure: TraceError | None = None

    def read(self) -> bytes:
        """Return the next line with its newline; empty at the end.

        Raises:
            LineTooLongError: the line is longer than the limit.
            TraceError: the stream cannot be read.
        """
        self.line_number += 1
        self._fill(self.line_number)
        end = self._block.find(b"\n", self._at) + 1 or len(self._block)
        self._line, self._at = self._block[self._at : end], end
        if len(self._line) > self._line_bytes_max:
            detail = f"the line is longer than {self._line_bytes_max} bytes"
            raise LineTooLongError(detail, self._source, self.line_number)
        return self._line

    def has_next(self) -> bool:
        """True if `read` returns a complete line now, or raises an error; False at the end of what is there."""
        try:
            self._fill(self.line_number + 1)
        except TraceError:
            return True
        return self._block.find(b"\n", self._at) >= 0 or len(self._block) - self._at > self._line_bytes_max

    def ahead(self) -> bytes:
        """Return complete lines that come next; empty at the end, or if the next is too long or cannot be read."""
        with suppress(TraceError):
            self._fill(self.line_number + 1)
        # A block within the limit has no line beyond the limit.
        return self._block[self._at : self._block.rfind(b"\n", self._at, self._at + self._line_bytes_max) + 1]

    def skip(self, lines: int, size: int) -> None:
        """Take the first `lines` lines of `ahead`, which have `size` bytes."""
        self._at += size
        self.line_number += lines

    def _fill(self, line_number: int) -> None:
        """Read until the block has the whole next line, or more of it than the limit."""
        while self._block.find(b"\n", self._at) < 0 and len(self._block) - self._at <= self._line_bytes_max:
            if self._failure is not None:
                raise self._failure
            try:
                more = read_block(self._stream, self._source, line_number)
            except TraceError as failure:
                self._failure = failure
                raise
            if not more:
                break
            self._block, self._at = self._block[self._at :] + more, 0

    def parse(
        self, parse: Callable[Parameters, _Parsed], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> _Parsed:
        """Apply a parser to the line read last.

        Raises:
            TruncatedFileError: the line is not JSON and has no newline, because the file stops in it.
            TraceError: the line is wrong.
        """
        try:
            return parse(*args, **kwargs)
        except (MalformedJsonError, InvalidUtf8Error) as error:
            if self._line.endswith(b"\n"):
                raise
            detail = f"the file stops in the middle of a line ({error.detail})"
            raise TruncatedFileError(detail, self._source, self.line_number, column=error.column) from None


class LineReader:
    """Reader of the lines of one trace of any format; use it in a `with` statement.

    Attributes:
        source: the file, `-` for standard input.
        events: number of event lines read.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, *, line_bytes_max: int = LINE_BYTES_MAX, first_line: int = 1
    ) -> None:
        """Prepare to read.

        Args:
            stream: the decompressed bytes of the trace.
            source: its name in errors.
            line_bytes_max: maximum length of a line, newline included.
            first_line: number of the first line, if a file has several traces.
        """
        self.source = source
        self.events = 0
        self._stream = stream
        self._lines = RawLines(stream, source, line_bytes_max, first_line)

    @classmethod
    def open(cls, path: str | Path, source: str | None = None, **options: int) -> Self:
        """Open a file, gzip or not, or standard input (`-`).

        `source` is the name of the file in errors, by default its path.

        Raises:
            TraceError: the file cannot be opened, or its header is missing or wrong.
        """
        stream = open_bytes(path)
        try:
            return cls(stream, str(path) if source is None else source, **options)
        except BaseException:
            stream.close()
            raise

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

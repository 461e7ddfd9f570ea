"""The lines of a trace as bytes, of whatever format: one at a time, and none longer than a limit."""

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
    """Reads lines from a stream.

    Attributes:
        line_number: that of the line read last, counted from `first_line`; at the end one more than there are.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, line_bytes_max: int = LINE_BYTES_MAX, first_line: int = 1
    ) -> None:
        """Read nothing yet.

        Args:
            stream: the decompressed bytes of the trace.
            source: its name in errors.
            line_bytes_max: the longest line that is accepted, newline included.
            first_line: the number of the first line, where the trace is one of several in a file.
        """
        self.line_number = first_line - 1
        self._stream = stream
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._line = b""
        self._block = b""
        self._at = 0
        """Where in the block the lines begin that were not read."""
        self._failure: TraceError | None = None

    def read(self) -> bytes:
        """The next line with its newline; empty at the end.

        Raises:
            LineTooLongError: it is longer than the limit.
            TraceError: the stream cannot be read on.
        """
        self.line_number += 1
        self._fill(self.line_number)
        end = self._block.find(b"\n", self._at) + 1 or len(self._block)
        self._line, self._at = self._block[self._at : end], end
        if len(self._line) > self._line_bytes_max:
            detail = f"the line is longer than {self._line_bytes_max} bytes"
            raise LineTooLongError(detail, self._source, self.line_number)
        return self._line

    def ahead(self) -> bytes:
        """Whole lines that `read` will give; none at the end, and where the next is too long or the stream fails."""
        with suppress(TraceError):
            self._fill(self.line_number + 1)
        # What is no longer than the limit has no line that is.
        return self._block[self._at : self._block.rfind(b"\n", self._at, self._at + self._line_bytes_max) + 1]

    def skip(self, lines: int, size: int) -> None:
        """Take the first lines that `ahead` has given as read: so many, of so many bytes."""
        self._at += size
        self.line_number += lines

    def _fill(self, line_number: int) -> None:
        """Have the line of this number in the block, or more of it than the limit."""
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

    def parsed(
        self, parse: Callable[Parameters, _Parsed], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> _Parsed:
        """What a function makes of the line read last.

        Raises:
            TruncatedFileError: the line is not JSON and has no newline, so that the file stops in it.
            TraceError: it is wrong.
        """
        try:
            return parse(*args, **kwargs)
        except (MalformedJsonError, InvalidUtf8Error) as error:
            if self._line.endswith(b"\n"):
                raise
            detail = f"the file stops in the middle of a line ({error.detail})"
            raise TruncatedFileError(detail, self._source, self.line_number, column=error.column) from None


class LineReader:
    """A reader of the lines of one trace, of whatever format, which a `with` statement closes.

    Attributes:
        source: the file, `-` for standard input.
        events: how many event lines were read.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, *, line_bytes_max: int = LINE_BYTES_MAX, first_line: int = 1
    ) -> None:
        """Read nothing yet.

        Args:
            stream: the decompressed bytes of the trace.
            source: its name in errors.
            line_bytes_max: the longest line that is accepted, newline included.
            first_line: the number of the first line, where the trace is one of several in a file.
        """
        self.source = source
        self.events = 0
        self._stream = stream
        self._lines = RawLines(stream, source, line_bytes_max, first_line)

    @classmethod
    def opened(cls, path: str | Path, source: str | None = None, **options: int) -> Self:
        """A reader of a file, gzip or not, or of standard input (`-`); use it in a `with` statement.

        `source` is what errors call the file, its path by default.

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

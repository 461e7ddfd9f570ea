"""The lines of a trace as bytes, of whatever format: one at a time, and none longer than a limit."""

from typing import BinaryIO

from kraft_traces.errors import InvalidUtf8Error, LineTooLongError, MalformedJsonError, TruncatedFileError
from kraft_traces.streams import LINE_BYTES_MAX, read_line


class RawLines:
    """Reads lines from a stream.

    Attributes:
        line_number: that of the line read last, counted from 1; at the end one more than there are.
    """

    def __init__(self, stream: BinaryIO, source: str, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        """Read nothing yet.

        Args:
            stream: the decompressed bytes of the trace.
            source: its name in errors.
            line_bytes_max: the longest line that is accepted, newline included.
        """
        self.line_number = 0
        self._stream = stream
        self._source = source
        self._line_bytes_max = line_bytes_max
        self._line = b""

    def read(self) -> bytes:
        """The next line with its newline; empty at the end.

        Raises:
            LineTooLongError: it is longer than the limit.
            TraceError: the stream cannot be read on.
        """
        self.line_number += 1
        self._line = read_line(self._stream, self._line_bytes_max, self._source, self.line_number)
        if len(self._line) > self._line_bytes_max:
            detail = f"a line of more than {self._line_bytes_max} bytes"
            raise LineTooLongError(detail, self._source, self.line_number)
        return self._line

    def check_truncated(self, error: MalformedJsonError | InvalidUtf8Error) -> None:
        """Say of a line that is not JSON, and has no newline, that the file stops in it.

        Raises:
            TruncatedFileError: it does.
        """
        if not self._line.endswith(b"\n"):
            detail = f"the file stops in the middle of a line ({error.detail})"
            raise TruncatedFileError(detail, self._source, self.line_number, column=error.column) from None

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

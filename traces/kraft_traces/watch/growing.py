"""Files that grow: complete lines as they are appended, across truncation and rotation."""

import os
import select
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from kraft_traces.errors import UnreadableFileError
from kraft_traces.streams import LINE_BYTES_MAX, STANDARD_STREAM

_BLOCK_BYTES = 2**20


class Position(Struct, frozen=True):
    """Place in a file behind the last complete line."""

    path: str
    identity: tuple[int, int] | None
    """Device and inode of the file; None before it was opened."""
    offset: int
    lines: int
    """Number of complete lines before it."""


class Growth(NamedTuple):
    """Complete lines that are new in a file."""

    lines: bytes
    begin: Position
    """Place before the first of them."""
    is_new_file: bool = False
    """True if they begin another file at the same path: the old one was renamed, truncated or replaced."""
    is_torn: bool = False
    """True if the old file ended in the middle of a line."""


class Growing(Protocol):
    """Source of bytes that grows."""

    source: str
    has_ended: bool
    """True if no more can follow."""

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet, as far as it is known."""

    @property
    def position(self) -> Position:
        """Position behind the last line that `poll` has returned."""

    def poll(self) -> Growth:
        """Return the next lines, at most some blocks of them; no lines if there are none yet."""

    def rest(self) -> bytes:
        """Return the incomplete last line, and forget it."""


class GrowingFile:
    """Regular file that a writer appends to.

    An incomplete last line stays until its newline is written; only a line longer than the limit is returned in part.
    """

    def __init__(self, path: str, position: Position | None = None) -> None:
        """Follow a file from its beginning, or from an earlier position if it is still the same file.

        Raises:
            UnreadableFileError: the file exists, but cannot be read.
        """
        self.source = path
        self.has_ended = False
        self._path = Path(path)
        self._file = -1
        self._identity: tuple[int, int] | None = None
        self._held = b""
        self._offset = self._lines = 0
        self._is_new = False
        self._is_torn = False
        if position is not None and position.identity is not None:
            self._open()
            is_same = self.position.identity == position.identity
            if is_same and os.fstat(self._file).st_size >= position.offset:
                self._offset, self._lines = position.offset, position.lines
                os.lseek(self._file, self._offset, os.SEEK_SET)
            else:
                self._is_new = True

    @property
    def position(self) -> Position:
        """Position behind the last line that `poll` has returned."""
        return Position(self.source, self._identity, self._offset, self._lines)

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet."""
        return 0 if self._file < 0 else max(0, os.fstat(self._file).st_size - self._offset - len(self._held))

    def poll(self) -> Growth:
        """Return the next lines; after the last line of a file that was replaced, those of the new one.

        Raises:
            UnreadableFileError: the operating system cannot read the file.
        """
        if self._file < 0:
            self._open()
        raw = self._read()
        if not raw and self._was_replaced():
            self._is_torn = bool(self._held)
            self.close()
            self._open()
            self._held, self._offset, self._lines, self._is_new = b"", 0, 0, True
            raw = self._read()
        self._held += raw
        end = self._held.rfind(b"\n") + 1
        if not end and len(self._held) > LINE_BYTES_MAX:
            end = len(self._held)
        growth = Growth(self._held[:end], self.position, self._is_new, self._is_torn)
        if end:
            self._held = self._held[end:]
            self._offset += end
            self._lines += growth.lines.count(b"\n")
            self._is_new = self._is_torn = False
        return growth

    def rest(self) -> bytes:
        """Return the incomplete last line, and forget it."""
        rest, self._held = self._held, b""
        return rest

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        try:
            self._file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            # It is created later, or again after a rotation.
            return
        except OSError as error:
            raise UnreadableFileError(error.strerror or str(error), self.source) from error
        status = os.fstat(self._file)
        self._identity = (status.st_dev, status.st_ino)

    def _read(self) -> bytes:
        if self._file < 0:
            return b""
        try:
            return os.read(self._file, _BLOCK_BYTES)
        except OSError as error:
            raise UnreadableFileError(error.strerror or str(error), self.source, self._lines + 1) from error

    def _was_replaced(self) -> bool:
        if self._file < 0:
            return False
        try:
            status = self._path.stat()
        except OSError:
            # Renamed, and the next file does not exist yet.
            return False
        is_shorter = status.st_size < self._offset + len(self._held)
        return (status.st_dev, status.st_ino) != self._identity or is_shorter


class StandardInput:
    """Standard input, which ends when its writer closes it."""

    def __init__(self) -> None:
        self.source = STANDARD_STREAM
        self.has_ended = False
        self._file = sys.stdin.fileno()
        self._held = b""
        self._lines = 0

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet: unknown, so 0."""
        return 0

    @property
    def position(self) -> Position:
        """Position behind the last line; nobody can return to it."""
        return Position(self.source, None, 0, self._lines)

    def poll(self) -> Growth:
        """Return the lines that are there; it does not wait."""
        if not self.has_ended and select.select([self._file], [], [], 0)[0]:
            raw = os.read(self._file, _BLOCK_BYTES)
            self.has_ended = not raw
            self._held += raw
        end = self._held.rfind(b"\n") + 1
        if not end and len(self._held) > LINE_BYTES_MAX:
            end = len(self._held)
        growth = Growth(self._held[:end], Position(self.source, None, 0, self._lines))
        self._held = self._held[end:]
        self._lines += growth.lines.count(b"\n")
        return growth

    def rest(self) -> bytes:
        """Return the incomplete last line, and forget it."""
        rest, self._held = self._held, b""
        return rest

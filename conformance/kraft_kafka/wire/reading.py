"""Bytes read from the left, each field with its name, and an error that says where and what.

A reader is strict unless it is told otherwise: it takes what Kafka writes.
What Kafka reads but never writes is `not-canonical`; a lenient reader takes it, and keeps a note.
"""

from dataclasses import dataclass, field

from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.schema import RANGES, width_of

VARINT_MAX = 2**31 - 1
"""Kafka's lengths, tags and counts are 32 bits with a sign, of which none is negative."""

ELEMENTS_MAX = 2**18
"""Most array elements and tagged fields of a frame, and most records of a batch or of a Fetch response.

An element of 3 bytes becomes an object of some 300: the size of a frame alone does not bound the memory that decoding
takes.  Kafka's controller writes at most 10,000 records for a request, in batches of at most 8 MiB.
"""


@dataclass(slots=True)
class _Room:
    """Elements that a frame may still have."""

    left: int = ELEMENTS_MAX


@dataclass(slots=True)
class Bytes:
    """A part of a frame, and how far it has been read."""

    whole: bytes
    """Of the frame, so that offsets are those of the frame."""
    offset: int = 0
    end: int = -1
    """Where the part ends; -1 for the end of the frame."""
    is_lenient: bool = False
    notes: list[str] = field(default_factory=list)
    _room: _Room = field(default_factory=_Room)
    """Shared by all parts of a frame, as the notes are."""

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.whole)

    @property
    def left(self) -> int:
        """Bytes that have not been read."""
        return self.end - self.offset

    def part(self, size: int) -> "Bytes":
        """The next bytes as a part of their own, which counts as read here; the caller has seen that they are there."""
        self.offset += size
        return Bytes(self.whole, self.offset - size, self.offset, self.is_lenient, self.notes, self._room)

    def take(self, size: int, where: str, what: str) -> bytes:
        """So many bytes.

        Raises:
            WireError: fewer are left.
        """
        if size > self.left:
            raise self.truncated(where, f"{size} bytes of {what}")
        self.offset += size
        return self.whole[self.offset - size : self.offset]

    def elements(self, count: int, where: str, what: str, start: int) -> range:
        """Indices of the elements that follow; each element has one byte or more.

        Every count from outside is checked here before a value is built from it.

        Args:
            count: as read.
            where: path of the array.
            what: the elements, in the plural.
            start: offset of the count.

        Raises:
            WireError: the count is negative, exceeds the bytes that are left, or a frame may not have so many.
        """
        most = min(self.left, self._room.left)
        if not 0 <= count <= most:
            raise WireError(Reason.BAD_LENGTH, where, f"0 to {most} {what}", str(count), start)
        self._room.left -= count
        return range(count)

    def number(self, kind: str, where: str) -> int:
        """A whole number of fixed width.

        Raises:
            WireError: the bytes end within it.
        """
        return int.from_bytes(self.take(width_of(kind), where, kind), "big", signed=RANGES[kind][0] < 0)

    def varint(self, where: str, what: str) -> int:
        """An unsigned varint of 32 bits: a length, a count or a tag.

        Raises:
            WireError: it does not end, is longer than 5 bytes, or its value has more than 31 bits.
        """
        start = self.offset
        value = self._varint(5, where, what)
        if value > VARINT_MAX:
            raise WireError(Reason.BAD_VARINT, where, f"{what} up to {VARINT_MAX}", str(value), start)
        return value

    def signed(self, where: str, is_long: bool = False) -> int:
        """A zigzag varint of 32 or 64 bits, as in records.

        Raises:
            WireError: it does not end, or is too long.
        """
        start = self.offset
        bits, most = (64, 10) if is_long else (32, 5)
        zigzag = self._varint(most, where, "a varint")
        value = zigzag >> 1 ^ -(zigzag & 1)
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise WireError(Reason.BAD_VARINT, where, f"a varint of {bits} bits", str(value), start)
        return value

    def _varint(self, most: int, where: str, what: str) -> int:
        """An unsigned varint of up to so many bytes."""
        start, value = self.offset, 0
        for place, byte in enumerate(self.whole[start : min(self.end, start + most)]):
            value |= (byte & 0x7F) << 7 * place
            if byte <= 0x7F:
                self.offset = start + place + 1
                if place and byte == 0:
                    self.odd(where, "a varint without padding", self.whole[start : self.offset].hex(), start)
                return value
        if self.left < most:
            raise self.truncated(where, f"a whole varint, {what}")
        expected, shown = f"a varint of up to {most} bytes, {what}", self.whole[start : start + most].hex()
        raise WireError(Reason.BAD_VARINT, where, expected, shown, start)

    def odd(self, where: str, expected: str, actual: str, offset: int) -> None:
        """Something that Kafka never writes stands there: an error, or a note.

        Raises:
            WireError: the reader is strict.
        """
        error = WireError(Reason.NOT_CANONICAL, where, expected, actual, offset)
        if not self.is_lenient:
            raise error
        self.notes.append(str(error))

    def finished(self, where: str) -> None:
        """Nothing may be left over.

        Raises:
            WireError: something is.
        """
        if self.left:
            raise WireError(Reason.TRAILING_BYTES, where, "nothing more", f"{self.left} bytes more", self.offset)

    def truncated(self, where: str, expected: str) -> WireError:
        """The error for bytes that end too early."""
        return WireError(Reason.TRUNCATED, where, expected, f"{self.left}", self.offset)

"""Reader of bytes, whose errors name the field, the offset and the expectation.

A strict reader (the default) accepts only bytes that Kafka writes.
Bytes that Kafka reads but never writes are `not-canonical`; a lenient reader accepts them with a note.
"""

from dataclasses import dataclass, field

from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.schema import RANGES, width_of

VARINT_MAX = 2**31 - 1
"""Maximum of Kafka's lengths, tags and counts, which are non-negative int32 numbers."""

ELEMENTS_MAX = 2**18
"""Maximum number of array elements and tagged fields of a frame, and of records of a batch or a Fetch response.

An element of 3 bytes becomes an object of some 300, so a frame's size does not bound the memory for decoding it.
Kafka's controller writes at most 10,000 records for a request, in batches of at most 8 MiB.
"""


@dataclass(slots=True)
class _Room:
    """Number of elements that a frame may still have."""

    left: int = ELEMENTS_MAX


@dataclass(slots=True)
class Bytes:
    """A part of a frame, and the position in it."""

    whole: bytes
    """The whole frame, so that offsets are relative to its start."""
    offset: int = 0
    end: int = -1
    """End of the part; -1 for the end of the frame."""
    is_lenient: bool = False
    notes: list[str] = field(default_factory=list)
    _room: _Room = field(default_factory=_Room)
    """Shared by all parts of a frame, as the notes are."""

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.whole)

    @property
    def left(self) -> int:
        return self.end - self.offset

    def part(self, size: int) -> "Bytes":
        """Skip the next bytes and return them as a part; the caller has checked the size."""
        self.offset += size
        return Bytes(self.whole, self.offset - size, self.offset, self.is_lenient, self.notes, self._room)

    def take(self, size: int, where: str, what: str) -> bytes:
        """Read bytes.

        Raises:
            WireError: fewer are left.
        """
        if size > self.left:
            raise self.truncated(where, f"{size} bytes of {what}")
        self.offset += size
        return self.whole[self.offset - size : self.offset]

    def elements(self, count: int, where: str, what: str, start: int) -> range:
        """Return the indices of the elements that follow; each element has at least one byte.

        Every count from outside is checked here before memory is allocated for it.

        Args:
            count: the count that was read.
            where: path of the array.
            what: name of the elements, in the plural.
            start: offset of the count.

        Raises:
            WireError: the count is negative, or exceeds the bytes left or the frame's maximum.
        """
        most = min(self.left, self._room.left)
        if not 0 <= count <= most:
            raise WireError(Reason.BAD_LENGTH, where, f"0 to {most} {what}", str(count), start)
        self._room.left -= count
        return range(count)

    def number(self, kind: str, where: str) -> int:
        """Read a whole number of fixed width.

        Raises:
            WireError: the bytes end within it.
        """
        return int.from_bytes(self.take(width_of(kind), where, kind), "big", signed=RANGES[kind][0] < 0)

    def varint(self, where: str, what: str) -> int:
        """Read an unsigned varint of 32 bits: a length, a count or a tag.

        Raises:
            WireError: it does not end, is longer than 5 bytes, or its value has more than 31 bits.
        """
        start = self.offset
        value = self._read_varint(5, where, what)
        if value > VARINT_MAX:
            raise WireError(Reason.BAD_VARINT, where, f"{what} up to {VARINT_MAX}", str(value), start)
        return value

    def signed(self, where: str, is_long: bool = False) -> int:
        """Read a zigzag varint of 32 or 64 bits, as in records.

        Raises:
            WireError: it does not end, or is too long.
        """
        start = self.offset
        bits, most = (64, 10) if is_long else (32, 5)
        zigzag = self._read_varint(most, where, "a varint")
        value = zigzag >> 1 ^ -(zigzag & 1)
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise WireError(Reason.BAD_VARINT, where, f"a varint of {bits} bits", str(value), start)
        return value

    def _read_varint(self, most: int, where: str, what: str) -> int:
        """Read an unsigned varint of at most `most` bytes."""
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
        expected, actual = f"a varint of up to {most} bytes, {what}", self.whole[start : start + most].hex()
        raise WireError(Reason.BAD_VARINT, where, expected, actual, start)

    def odd(self, where: str, expected: str, actual: str, offset: int) -> None:
        """Report bytes that Kafka never writes, as an error or a note.

        Raises:
            WireError: the reader is strict.
        """
        error = WireError(Reason.NOT_CANONICAL, where, expected, actual, offset)
        if not self.is_lenient:
            raise error
        self.notes.append(str(error))

    def finished(self, where: str) -> None:
        """Check that all bytes have been read.

        Raises:
            WireError: bytes are left.
        """
        if self.left:
            raise WireError(Reason.TRAILING_BYTES, where, "nothing more", f"{self.left} bytes more", self.offset)

    def truncated(self, where: str, expected: str) -> WireError:
        """Return the error for bytes that end too early."""
        return WireError(Reason.TRUNCATED, where, expected, f"{self.left}", self.offset)

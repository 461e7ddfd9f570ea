"""Values that wait for a decision: in memory while they are few bytes, in a temporary file after that."""

import pickle
import tempfile
from collections.abc import Iterator
from typing import IO, Generic, TypeVar

SPILL_BYTES_MAX = 32 * 2**20
"""What is kept in memory."""

Value = TypeVar("Value")


class Spill(Generic[Value]):
    """Keeps values in order, to be read once."""

    def __init__(self, bytes_max: int = SPILL_BYTES_MAX) -> None:
        """`bytes_max` bounds what is kept in memory, by the sizes that `append` is told."""
        self._bytes_max = bytes_max
        self._bytes = 0
        self._kept: list[Value] = []
        self._file: IO[bytes] | None = None

    def append(self, value: Value, size: int) -> None:
        """Keep a value of about `size` bytes."""
        self._bytes += size
        self._kept.append(value)
        if self._bytes > self._bytes_max:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="kraft-spec-spill-")  # noqa: SIM115 - it outlives this call
            for kept in self._kept:
                pickle.dump(kept, self._file, pickle.HIGHEST_PROTOCOL)
            self._kept.clear()
            self._bytes = 0

    def drain(self) -> Iterator[Value]:
        """The values in their order; afterwards there are none."""
        if self._file is not None:
            with self._file as file:
                end = file.tell()
                file.seek(0)
                while file.tell() < end:
                    yield pickle.load(file)
            self._file = None
        yield from self._kept
        self._kept = []

    def close(self) -> None:
        """Forget the values."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._kept = []

"""Traces that earlier runs have checked: a file of their SHA-256 digests in ascending order, for workers."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path

from kraft_traces.streams import atomic_file

_BYTES = 32


def write_known(target: Path, digests: Iterable[str]) -> None:
    """Write hexadecimal digests to a file."""
    with atomic_file(target) as stream:
        stream.writelines(sorted(map(bytes.fromhex, digests)))


class Known:
    """Set of the digests in a file of `write_known`, which the workers of a machine share in memory."""

    def __init__(self, file: Path | None) -> None:
        """Read the digests of a file; None for an empty set."""
        self._file = file

    def __contains__(self, sha256: str) -> bool:
        digest, places = bytes.fromhex(sha256), range(len(self._digests) // _BYTES)
        place = bisect_left(places, digest, key=self._digest)
        return place < len(places) and self._digest(place) == digest

    def _digest(self, place: int) -> bytes:
        return self._digests[_BYTES * place : _BYTES * (place + 1)]

    @cached_property
    def _digests(self) -> bytes | mmap:
        if self._file is None or not self._file.stat().st_size:
            return b""
        with self._file.open("rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)

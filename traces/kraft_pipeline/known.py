"""Which bytes have been judged before, for workers: beginnings of their SHA-256, so that now and then it errs."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import pyarrow as pa

from kraft_traces.streams import whole_file

_DIGITS = 15


def write_known(target: Path, digests: Iterable[str]) -> None:
    """Write down digests, hexadecimal ones."""
    known = sorted({int(digest[:_DIGITS], 16) for digest in digests})
    with whole_file(target) as stream:
        stream.write(memoryview(pa.array(known, pa.int64()).buffers()[1] or b"")[: 8 * len(known)])


class Known:
    """The digests in a file of `write_known`, which all workers of a machine have in memory once."""

    def __init__(self, file: Path | None) -> None:
        """None knows nothing."""
        self._file = file

    def __contains__(self, sha256: str) -> bool:
        digest, digests = int(sha256[:_DIGITS], 16), self._digests
        place = bisect_left(digests, digest)
        return place < len(digests) and digests[place] == digest

    @cached_property
    def _digests(self) -> Any:
        if self._file is None or not self._file.stat().st_size:
            return ()
        with self._file.open("rb") as file:
            return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ)).cast("q")

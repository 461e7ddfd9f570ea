"""The log of a replica as the agent's lines show it: a leader's Fetch responses refer to it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraft_kafka.agent.decoding import records_of_batches
from kraft_kafka.agent.drafts import UnjudgedError
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import Batch


class _Written(NamedTuple):
    base_offset: int
    records: list[Document]
    size: int

    @property
    def end_offset(self) -> int:
        return self.base_offset + len(self.records)


class WrittenLog:
    """Batches of a log, with their sizes."""

    def __init__(self) -> None:
        """Begin with an empty log."""
        self._batches: list[_Written] = []

    def append(self, base_offset: int, batches: Sequence[Batch]) -> list[Document]:
        """Append batches at an offset, and return their records.

        Raises:
            WireError: the records are damaged.
        """
        self.truncate(base_offset)
        appended: list[Document] = []
        for batch in batches:
            written = _Written(base_offset + len(appended), records_of_batches([batch]), len(batch.raw))
            self._batches.append(written)
            appended += written.records
        return appended

    def truncate(self, end_offset: int) -> None:
        """Truncate the log, at the end of a batch."""
        while self._batches and self._batches[-1].end_offset > end_offset:
            self._batches.pop()

    def save(self) -> tuple[tuple[int, list[Document], int], ...]:
        """Return base offset, records and size of each batch."""
        return tuple(self._batches)

    def restore(self, batches: Iterable[tuple[int, list[Document], int]]) -> None:
        """Take the batches that an earlier `save` has returned."""
        self._batches = [_Written(*batch) for batch in batches]

    def delete_before(self, offset: int) -> None:
        """Delete the batches that end before an offset."""
        self._batches = [batch for batch in self._batches if batch.end_offset > offset]

    def clear(self) -> None:
        """Delete the whole log."""
        self._batches.clear()

    def records(self, offset: int, size: int) -> list[Document]:
        """Return the records from an offset on, in whole batches of not more than this size in sum.

        Raises:
            UnjudgedError: the log before the offset is not recorded.
        """
        at = next((at for at, batch in enumerate(self._batches) if batch.end_offset > offset), len(self._batches))
        if at == len(self._batches) or self._batches[at].base_offset > offset:
            raise UnjudgedError(f"records from offset {offset} on are sent, and the file does not have them")
        skipped = offset - self._batches[at].base_offset
        records: list[Document] = []
        for batch in self._batches[at:]:
            size -= batch.size
            if size < 0:
                break
            records += batch.records
        return records[skipped:]

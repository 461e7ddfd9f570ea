"""The rows of one file, for the tests of what is taken in."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.traces.pipeline.corpus import LINE_BYTES_MAX

from kraft_traces.pipeline.intake import take_in
from kraft_traces.pipeline.schemas import EVENTS, FILES, QUARANTINE, SEGMENTS, TRACES


class Taken:
    """The rows of a file, by table."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)
        self.traces = self._of("trace")
        self.segments = self._of("segment")
        self.quarantine = self._of("quarantine")
        (self.file,) = self._of("file")
        tables = {TRACES: self.traces, SEGMENTS: self.segments, QUARANTINE: self.quarantine, FILES: [self.file]}
        tables[EVENTS] = [event for segment in self.segments for event in segment["events"]]
        for table, of_table in tables.items():
            pa.RecordBatch.from_pylist(of_table, schema=table.arrow).validate(full=True)

    def _of(self, table: str) -> list[dict[str, Any]]:
        return [row[table] for row in self.rows if table in row]

    @property
    def reasons(self) -> list[str]:
        return [row["reason"] for row in self.quarantine if row["wrong"]]

    @property
    def lines(self) -> int:
        return sum(row["lines"] for row in self.segments + self.quarantine)

    @property
    def raw(self) -> bytes:
        """Every byte again, in the order of the lines."""
        stretches = [(row["first_line"], row["raw"]) for row in self.segments]
        stretches += [(row["line"], row["raw"]) for row in self.quarantine]
        return b"".join(raw for _, raw in sorted(stretches, key=lambda stretch: stretch[0]))


def taken(content: bytes, folder: Path, name: str = "trace.jsonl") -> Taken:
    path = folder / name
    path.write_bytes(content)
    return Taken(take_in(path, name, len(content), line_bytes_max=LINE_BYTES_MAX))


def accounted(rows: Taken) -> None:
    """The file's own counts are those of its rows."""
    assert rows.file["lines"] == rows.lines
    assert rows.file["traces"] == len(rows.traces) + len(rows.reasons)
    quarantined = {row["trace_id"] for row in rows.quarantine}
    assert len(quarantined) == len(rows.reasons)
    assert not quarantined & {row["trace_id"] for row in rows.traces}

"""The rows of one file, for the tests of what is taken in."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.traces.pipeline.corpus import LINE_BYTES_MAX

from kraft_pipeline.intake import take_in
from kraft_pipeline.schemas import EVENTS, FILES, QUARANTINE, SEGMENTS, TRACES, TableSchema
from kraft_traces.streams import LINE_BYTES_MAX as STANDARD_LIMIT


class Taken:
    """The rows of a file, by table."""

    def __init__(self, path: Path, source: str, size: int, line_bytes_max: int = STANDARD_LIMIT) -> None:
        rows: dict[TableSchema, list[dict[str, Any]]] = {
            table: [] for table in (TRACES, SEGMENTS, EVENTS, QUARANTINE, FILES)
        }

        def write(table: TableSchema, columns: Any) -> None:
            batch = pa.RecordBatch.from_pylist([columns], schema=table.arrow) if isinstance(columns, dict) else columns
            batch.validate(full=True)
            assert batch.schema == table.arrow
            rows[table] += batch.to_pylist()

        take_in(write, path, source, size, lambda _trace, _reader: None, line_bytes_max=line_bytes_max)
        self.traces, self.segments, self.events, self.quarantine, (self.file,) = rows.values()

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
    return Taken(path, name, len(content), line_bytes_max=LINE_BYTES_MAX)


def accounted(rows: Taken) -> None:
    """The file's own counts are those of its rows."""
    assert rows.file["lines"] == rows.lines
    assert rows.file["traces"] == len(rows.traces) + len(rows.reasons)
    quarantined = {row["trace_id"] for row in rows.quarantine}
    assert len(quarantined) == len(rows.reasons)
    assert not quarantined & {row["trace_id"] for row in rows.traces}

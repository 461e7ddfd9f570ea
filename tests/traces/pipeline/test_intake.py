"""From files to rows: no byte is lost, no good trace suffers from a wrong one beside it, every reason is told apart."""

import gzip
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.pipeline.corpus import (
    BROKEN,
    LINE_BYTES_MAX,
    TRACES_BESIDE,
    good,
    good_lines,
    inconclusive,
    truncated_gzip,
)

from kraft_reference.cluster.partition_workload import random_configuration, random_run
from kraft_reference.partitions.decisions import PROFILES
from kraft_traces.partitions.encode import encoded
from kraft_traces.pipeline.intake import take_in
from kraft_traces.pipeline.schemas import INTAKE


class Taken:
    """The rows of a file, by table."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)
        pa.RecordBatch.from_pylist(self.rows, schema=INTAKE.arrow)
        self.traces = self._of("trace")
        self.segments = self._of("segment")
        self.quarantine = self._of("quarantine")
        (self.file,) = self._of("file")

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


@pytest.mark.parametrize("reason", BROKEN)
def test_a_broken_trace_is_quarantined_for_its_reason_with_all_its_bytes(reason: str, tmp_path: Path) -> None:
    content = BROKEN[reason]()
    rows = taken(content, tmp_path)
    assert rows.reasons == [reason]
    assert len(rows.traces) == TRACES_BESIDE.get(reason, 0)
    assert rows.raw == content
    accounted(rows)


def test_a_trace_of_partitions_is_quarantined_with_a_word_on_what_reads_it(tmp_path: Path) -> None:
    configuration = random_configuration(1, PROFILES["kip"])
    partitions = b"".join(encoded(configuration, random_run(configuration, 1, 5), 1))
    rows = taken(partitions + good(), tmp_path)
    assert (len(rows.traces), rows.reasons) == (1, ["UNKNOWN_SCHEMA"])
    (wrong,) = [row for row in rows.quarantine if row["wrong"]]
    assert (wrong["field"], wrong["detail"]) == (
        "$.schema",
        "kraft-partition-trace/1 is read by kraft-spec validate alone, expected kraft-trace/1",
    )
    accounted(rows)


def test_the_wrong_line_stands_alone_with_its_number_and_its_bytes(tmp_path: Path) -> None:
    lines = good_lines()
    rows = taken(BROKEN["MALFORMED_JSON"](), tmp_path)
    (wrong,) = [row for row in rows.quarantine if row["wrong"]]
    assert {name: wrong[name] for name in ("source", "first_line", "line", "lines", "raw", "field")} == {
        "source": "trace.jsonl",
        "first_line": 1,
        "line": 6,
        "lines": 1,
        "raw": lines[5][:20] + b"\n",
        "field": None,
    }
    assert [(row["line"], row["lines"]) for row in rows.quarantine] == [(1, 5), (6, 1), (7, len(lines) - 6)]


def test_an_empty_file_is_a_quarantined_trace_without_lines(tmp_path: Path) -> None:
    rows = taken(b"", tmp_path)
    assert (rows.reasons, rows.file["lines"], rows.file["traces"]) == (["EMPTY_TRACE"], 0, 1)
    accounted(rows)


def test_a_file_that_is_not_there_is_quarantined(tmp_path: Path) -> None:
    rows = Taken(take_in(tmp_path / "none.jsonl", "none.jsonl", 0))
    assert rows.reasons == ["UNREADABLE_FILE"]
    accounted(rows)


def test_a_good_trace_comes_with_its_header_s_facts_and_its_events(tmp_path: Path) -> None:
    lines = good_lines(3, 30, "chaos")
    rows = taken(b"".join(lines), tmp_path)
    (trace,) = rows.traces
    assert trace == {
        "trace_id": trace["trace_id"],
        "source": "trace.jsonl",
        "first_line": 1,
        "lines": len(lines),
        "events": len(lines) - 2,
        "bytes": len(b"".join(lines)),
        "header": lines[0],
        "parts": 1,
        "ended": True,
        "complete": True,
        "generator": "kraft-reference",
        "generator_version": "0.1.0",
        "seed": 3,
        "workload": "chaos",
        "profile": "kip",
        "spec_hash": None,
        "switched_off": [],
        "violation": None,
        "command": None,
    }
    events = [event for segment in rows.segments for event in segment["events"]]
    assert [event["sequence"] for event in events] == list(range(1, len(lines) - 1))
    assert [event["line"] for event in events] == list(range(2, len(lines)))
    for before, after in pairwise(events):
        if before["replica"] == after["replica"] and before["replica"] is not None:
            assert after["role_before"] == before["role_after"]
    accounted(rows)


def test_many_segments_hold_the_lines_byte_for_byte(tmp_path: Path) -> None:
    content = good(1, 1_000, "chaos")
    rows = taken(content, tmp_path)
    assert len(rows.segments) > 2
    assert rows.raw == content
    assert [row["segment"] for row in rows.segments] == list(range(len(rows.segments)))
    accounted(rows)


def test_a_truncated_gzip_file_keeps_what_can_be_read_and_its_complete_traces(tmp_path: Path) -> None:
    rows = taken(truncated_gzip(), tmp_path, "trace.jsonl.gz")
    assert rows.reasons == ["TRUNCATED_GZIP"]
    assert good().startswith(rows.raw)
    assert len(rows.raw) > 1_000
    accounted(rows)
    rows = taken(gzip.compress(good(), mtime=0) + truncated_gzip(), tmp_path, "two.jsonl.gz")
    assert (len(rows.traces), rows.reasons) == (1, ["TRUNCATED_GZIP"])
    assert rows.raw.startswith(good())
    accounted(rows)


def test_a_complete_trace_survives_the_loss_of_the_gzip_s_end_mark(tmp_path: Path) -> None:
    rows = taken(gzip.compress(good(), mtime=0)[:-8], tmp_path, "trace.jsonl.gz")
    assert (len(rows.traces), rows.reasons) == (1, ["TRUNCATED_GZIP"])
    accounted(rows)


def test_damaged_gzip_and_false_gzip(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(good(), mtime=0))
    whole[len(whole) // 2] ^= 0xFF
    rows = taken(bytes(whole), tmp_path, "damaged.jsonl.gz")
    # Which byte is the first wrong one is zlib's to say; what it gives before may be garbage.
    assert len(rows.reasons) == 1
    accounted(rows)
    rows = taken(good(), tmp_path, "false.jsonl.gz")
    assert rows.reasons == ["CORRUPT_GZIP"]
    assert (rows.raw, rows.file["lines"]) == (good(), 0)
    accounted(rows)


def test_gzip_by_content_and_in_several_members(tmp_path: Path) -> None:
    content = gzip.compress(good(1), mtime=0) + gzip.compress(good(2), mtime=0)
    rows = taken(content, tmp_path, "traces.jsonl")
    assert [trace["seed"] for trace in rows.traces] == [1, 2]
    assert rows.raw == good(1) + good(2)
    accounted(rows)


def test_lines_of_a_parquet_file(tmp_path: Path) -> None:
    lines = [raw.rstrip(b"\n") for raw in (*good_lines(1), *good_lines(2))]
    for kind in (pa.binary(), pa.string()):
        values = pa.array(lines, pa.binary()).cast(kind)
        pq.write_table(pa.table({"line": values}), tmp_path / "traces.parquet", row_group_size=7)
        rows = Taken(take_in(tmp_path / "traces.parquet", "p", 1))
        assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([1, 2], [])
        accounted(rows)


def test_a_parquet_file_without_lines_and_one_that_is_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["x"]}), tmp_path / "other.parquet")
    for name, content in (("other.parquet", None), ("none.parquet", good())):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        rows = Taken(take_in(path, name, 1))
        assert (rows.traces, rows.reasons) == ([], ["CORRUPT_PARQUET"])
        accounted(rows)


_PARTS = {f"good-{seed}": good(seed) for seed in range(3)} | {"inconclusive": inconclusive()}
# Lines without a header belong to what stands before them, so they are no part of their own.
_PARTS |= {reason: make() for reason, make in BROKEN.items() if reason not in {"MISSING_HEADER", "TRUNCATED_FILE"}}


@given(st.lists(st.sampled_from(sorted(_PARTS)), max_size=8), st.booleans(), st.integers(0, 400))
def test_mixtures_in_one_file_account_for_every_line_and_lose_no_good_trace(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], compressed: bool, cut: int
) -> None:
    header = good_lines(9)[0]
    # What stands at the end is cut off within the header of another trace.
    content = b"".join(_PARTS[name] for name in names) + header[: min(cut, len(header) - 1)]
    rows = taken(gzip.compress(content) if compressed else content, tmp_path_factory.mktemp("mixture"))
    accounted(rows)
    assert rows.raw == content
    expected = sum(name.startswith("good") + TRACES_BESIDE.get(name, 0) for name in names)
    expected += names.count("inconclusive")
    if names and names[-1] == "inconclusive" and cut:
        # A trace that may go on takes what it cannot tell from a line of its own.
        expected -= 1
    assert len(rows.traces) == expected

"""Plain, gzip and Parquet files, whole and damaged, and what is no file: as lines, or kept as it is."""

import errno
import gzip
import os
import socket
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.traces.pipeline.corpus import LINE_BYTES_MAX, good, good_lines, truncated_gzip
from tests.traces.pipeline.taken import Taken, accounted, taken

from kraft_pipeline.blocks import PIECE_BYTES_MAX


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


def test_damaged_gzip_keeps_what_follows_the_damage_as_it_is(tmp_path: Path) -> None:
    noise = b"".join(sha256(str(number).encode()).digest() for number in range(80_000))
    content = gzip.compress(good(), mtime=0) + b"no gzip" + noise
    rows = taken(content, tmp_path, "damaged.jsonl.gz")
    assert (len(rows.traces), rows.reasons) == (1, ["CORRUPT_GZIP"])
    assert rows.raw == good() + b"no gzip" + noise
    assert [(row["lines"], row["wrong"]) for row in rows.quarantine] == [(0, True), (0, False), (0, False)]
    assert max(len(row["raw"]) for row in rows.quarantine) < 2 * PIECE_BYTES_MAX
    accounted(rows)


def test_gzip_damaged_within_a_trace(tmp_path: Path) -> None:
    lines = b"".join(good_lines(1, 3_000, "chaos"))
    whole = bytearray(gzip.compress(lines, mtime=0))
    whole[-6] ^= 0xFF
    rows = taken(bytes(whole), tmp_path, "damaged.jsonl.gz")
    assert rows.reasons == ["CORRUPT_GZIP"]
    *read, remains = [row["raw"] for row in rows.quarantine]
    assert lines.startswith(b"".join(read))
    assert len(b"".join(read)) > len(lines) // 2
    # The end of the file is there, byte for byte.
    assert bytes(whole).endswith(remains)
    assert remains
    accounted(rows)


def test_a_plain_file_is_read_whatever_its_name_says(tmp_path: Path) -> None:
    content = good(1, 1_000, "chaos")
    rows = taken(content, tmp_path, "plain.jsonl.gz")
    assert ([trace["seed"] for trace in rows.traces], rows.reasons, rows.raw) == ([1], [], content)
    accounted(rows)
    for content, reason in ((b"", "EMPTY_TRACE"), (b"\x1f", "TRUNCATED_FILE"), (b"\x1f\x8b", "TRUNCATED_GZIP")):
        rows = taken(content, tmp_path, "short.jsonl.gz")
        assert (rows.traces, rows.reasons) == ([], [reason])
        accounted(rows)


def test_what_is_no_regular_file_is_quarantined(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    os.mkfifo(tmp_path / "pipe.parquet")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket.jsonl"))
    details = {}
    for path in sorted(tmp_path.iterdir()):
        rows = Taken(path, path.name, 0)
        assert rows.reasons == ["UNREADABLE_FILE"]
        accounted(rows)
        (details[path.name],) = [row["detail"] for row in rows.quarantine]
    assert details == {
        "folder.jsonl": "a folder, expected a regular file",
        "loop.jsonl": "Too many levels of symbolic links",
        "pipe.jsonl": "a pipe, expected a regular file",
        "pipe.parquet": "a pipe, expected a regular file",
        "socket.jsonl": "a socket, expected a regular file",
    }


def test_a_folder_that_cannot_be_searched_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuses)
    rows = Taken(tmp_path, "folder", 0)
    assert [(row["reason"], row["detail"]) for row in rows.quarantine] == [("UNREADABLE_FILE", "Permission denied")]


def test_gzip_by_content_and_in_several_members(tmp_path: Path) -> None:
    content = gzip.compress(good(1), mtime=0) + gzip.compress(good(2), mtime=0)
    rows = taken(content, tmp_path, "traces.jsonl")
    assert [trace["seed"] for trace in rows.traces] == [1, 2]
    assert rows.raw == good(1) + good(2)
    accounted(rows)


def test_lines_of_a_parquet_file(tmp_path: Path) -> None:
    lines = [raw.rstrip(b"\n") for raw in (*good_lines(1), *good_lines(2))]
    for kind in (pa.binary(), pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        values = pa.array(lines, pa.binary()).cast(kind)
        pq.write_table(pa.table({"line": values}), tmp_path / "traces.parquet", row_group_size=7)
        rows = Taken(tmp_path / "traces.parquet", "p", 1)
        assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([1, 2], [])
        accounted(rows)


@pytest.mark.parametrize(
    ("table", "detail"),
    [
        ({"text": ["x"]}, "expected a column `line` of lines, found text"),
        ({}, "expected a column `line` of lines, found no column"),
        ({"line": [1, 2]}, "column `line` is int64, expected text or bytes"),
        ({"line": [["x"]]}, "column `line` is list<element: string>, expected text or bytes"),
    ],
)
def test_a_sound_parquet_file_without_lines(table: dict[str, list[Any]], detail: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(table), tmp_path / "other.parquet")
    rows = Taken(tmp_path / "other.parquet", "other.parquet", 1)
    assert (rows.traces, rows.file["lines"]) == ([], 0)
    assert [(row["reason"], row["detail"]) for row in rows.quarantine] == [("CORRUPT_PARQUET", detail)]
    accounted(rows)


def test_a_damaged_parquet_file_is_kept_as_it_is(tmp_path: Path) -> None:
    lines = [raw.rstrip(b"\n").decode() for raw in (*good_lines(1), *good_lines(2, 300))]
    pq.write_table(pa.table({"line": lines}), tmp_path / "whole.parquet", row_group_size=len(good_lines(1)))
    whole = (tmp_path / "whole.parquet").read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2 : len(whole) // 2 + 5_000] = bytes(5_000)
    # The first row group is sound, and with it a trace.
    for content, sound in ((bytes(damaged), [1]), (whole[:-9], []), (good(), []), (b"PAR1", [])):
        rows = taken(content, tmp_path, "damaged.parquet")
        assert ([trace["seed"] for trace in rows.traces], rows.reasons) == (sound, ["CORRUPT_PARQUET"])
        assert b"".join(row["raw"] for row in rows.quarantine if not row["lines"]) == content
        accounted(rows)


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        ("{\n}", "MALFORMED_JSON", "a row with a newline in its middle, expected one line"),
        ("{}\n\n", "MALFORMED_JSON", "a row with a newline in its middle, expected one line"),
        (None, "MALFORMED_JSON", "column `line` is NULL in this row, expected a line"),
        ("x" * LINE_BYTES_MAX, "LINE_TOO_LONG", f"the line is longer than {LINE_BYTES_MAX} bytes"),
    ],
)
def test_a_row_of_a_parquet_file_that_is_no_line(value: str | None, reason: str, detail: str, tmp_path: Path) -> None:
    lines: list[str | None] = [raw.decode() for raw in good_lines(1)]
    lines[5:5] = [value, value]
    lines += [raw.decode() for raw in good_lines(2)]
    pq.write_table(pa.table({"line": lines}), tmp_path / "t.parquet")
    rows = Taken(tmp_path / "t.parquet", "t.parquet", 1, line_bytes_max=LINE_BYTES_MAX)
    assert [trace["seed"] for trace in rows.traces] == [2]
    (wrong,) = [row for row in rows.quarantine if row["wrong"]]
    raw = b"" if value is None else value.encode()
    expected = raw if value is None or raw.endswith(b"\n") else raw + b"\n"
    assert (wrong["reason"], wrong["detail"], wrong["line"], wrong["raw"]) == (reason, detail, 6, expected)
    assert rows.file["lines"] == len(lines)
    accounted(rows)


def test_a_header_over_several_lines_in_a_row_leaves_the_trace_before_it_alone(tmp_path: Path) -> None:
    header, *events = [raw.decode() for raw in good_lines(2)]
    lines = [raw.decode() for raw in good_lines(1)[:-1]] + [header.replace(",", ",\n"), *events]
    pq.write_table(pa.table({"line": lines}), tmp_path / "t.parquet")
    rows = Taken(tmp_path / "t.parquet", "t.parquet", 1)
    assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([1], ["MALFORMED_JSON"])
    accounted(rows)


def test_a_parquet_file_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"x\xff.parquet")
    with path.open("wb") as file:
        pq.write_table(pa.table({"line": [raw.decode() for raw in good_lines(1)]}), file)
    rows = Taken(path, "x", 1)
    assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([1], [])

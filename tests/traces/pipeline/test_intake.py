"""From files to rows: no byte is lost, and a wrong trace, with its reason, leaves its neighbours alone."""

import gzip
from hashlib import sha256
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.pipeline.corpus import (
    BROKEN,
    TRACES_BESIDE,
    good,
    good_lines,
    inconclusive,
)
from tests.traces.pipeline.taken import Taken, accounted, taken

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_partitions.decisions import PROFILES
from kraft_traces.partitions.encode import encode_trace

SAMPLES = Path(__file__).parents[3] / "traces" / "kraft_traces" / "samples"


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
    partitions = b"".join(encode_trace(configuration, random_run(configuration, 1, 5), 1))
    rows = taken(partitions + good(), tmp_path)
    assert (len(rows.traces), rows.reasons) == (1, ["UNKNOWN_SCHEMA"])
    (wrong,) = [row for row in rows.quarantine if row["wrong"]]
    assert (wrong["field"], wrong["detail"]) == (
        "$.schema",
        "this command does not read kraft-partition-trace/1, expected kraft-trace/1",
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
    rows = Taken(tmp_path / "none.jsonl", "none.jsonl", 0)
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
        "sha256": sha256(b"".join(lines)).hexdigest(),
        "header": lines[0],
        "ended": True,
        "complete": True,
        "generator": "kraft-reference",
        "generator_version": version("kraft-spec"),
        "seed": 3,
        "workload": "chaos",
        "profile": "kip",
        "spec_hash": None,
        "switched_off": [],
    }
    events = rows.events
    assert [event["sequence"] for event in events] == list(range(1, len(lines) - 1))
    assert [event["line"] for event in events] == list(range(2, len(lines)))
    for before, after in pairwise(events):
        if before["replica"] == after["replica"] and before["replica"] is not None:
            assert after["role_before"] == before["role_after"]
    accounted(rows)


def test_many_segments_hold_the_lines_byte_for_byte(tmp_path: Path) -> None:
    content = good(1, 1_000, "chaos")
    rows = taken(content, tmp_path)
    assert len(rows.segments) > 1
    assert rows.raw == content
    assert [row["segment"] for row in rows.segments] == list(range(len(rows.segments)))
    accounted(rows)


def test_checkpoints_are_lines_and_no_events(tmp_path: Path) -> None:
    content = (SAMPLES / "checkpoints.jsonl").read_bytes()
    rows = taken(content, tmp_path)
    (trace,) = rows.traces
    checkpoints = content.count(b'{"kind":"checkpoint"')
    assert checkpoints > 1
    assert (rows.raw, trace["lines"]) == (content, len(rows.events) + checkpoints + 2)
    accounted(rows)


def test_a_blank_line_is_wrong(tmp_path: Path) -> None:
    lines = good_lines(1)
    rows = taken(b"".join(lines[:5]) + b"\n" + b"".join(lines[5:]) + good(2), tmp_path)
    assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([2], ["MALFORMED_JSON"])
    accounted(rows)
    # Between two traces it is all that is wrong.
    rows = taken(good(1) + b"\n" + good(2) + b" \n", tmp_path)
    assert ([trace["seed"] for trace in rows.traces], rows.reasons) == ([1, 2], ["LINES_AFTER_END"] * 2)
    assert [row["raw"] for row in rows.quarantine] == [b"\n", b" \n"]
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

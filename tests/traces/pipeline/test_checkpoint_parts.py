"""A trace that is checked in parts, from checkpoint to checkpoint, has the verdict that it has as a whole."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from tests.traces.check.foreign import with_holes, without
from tests.traces.check.test_long_traces import busy_run
from tests.traces.checkpointed import (
    FOREIGN,
    VIOLATING,
    Checkpointed,
    as_line,
    edited,
    played,
    simulated,
    with_another_value,
)
from tests.traces.pipeline.tables import rows_of
from tests.traces.pipeline.taken import Taken as Rows
from tests.traces.places import Document

from kraft_pipeline import runs as pipeline_runs
from kraft_pipeline import splitting, stretches
from kraft_pipeline.checking import Checking, part_row, row_of
from kraft_pipeline.intake import reason_of
from kraft_pipeline.schemas import QUARANTINE, TRACES, VERDICTS
from kraft_pipeline.session import SessionOptions
from kraft_pipeline.validate import together
from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED, Way
from kraft_traces.encode import encode_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EndLine
from kraft_traces.message_types import TracedAddVoterRequest
from kraft_traces.own import own_generator
from kraft_traces.reader import trace_of_bytes
from kraft_traces.writer import trace_bytes

Row = dict[str, Any]

SOURCE = "trace.jsonl"
OPTIONS: dict[str, Any] = {"every": 10, "candidates_max": 40}
"""The full invariants are checked often, and foreign traces soon leave out too much."""


class Taken(NamedTuple):
    """What `ingest` makes of a file with one trace."""

    trace: Row | None
    segments: list[Row]
    reason: str | None
    """Why it is in quarantine."""


def taken(lines: Sequence[bytes], part_events: int, segment_bytes: int) -> Taken:
    """Take in a file of these lines."""
    with (
        TemporaryDirectory() as folder,
        patch.object(stretches, "PART_EVENTS", part_events),
        patch.object(stretches, "SEGMENT_BYTES", segment_bytes),
        patch.object(splitting, "READ_BYTES", segment_bytes),
    ):
        file = Path(folder) / SOURCE
        file.write_bytes(b"".join(lines))
        rows = Rows(file, SOURCE, 0)
    assert rows.raw == b"".join(lines)
    if rows.reasons:
        (reason,) = rows.reasons
        return Taken(None, [], reason)
    (trace,) = rows.traces
    assert trace["parts"] == rows.segments[-1]["part"] + 1
    return Taken(trace, rows.segments, None)


def in_parts(found: Taken) -> Row:
    """The verdict from those on the parts."""
    assert found.trace is not None
    parts = groupby(found.segments, itemgetter("part"))
    return together([part_row(found.trace, list(group), part, Checking(**OPTIONS)) for part, group in parts])


def as_a_whole(lines: Sequence[bytes], trace: Row, way: Way = COMPILED) -> Row:
    """The verdict on the trace read from its beginning to its end."""
    row = row_of(trace, check_reader(trace_of_bytes(b"".join(lines), SOURCE), **OPTIONS, way=way))
    return {name: row[name] for name in VERDICTS.names}


def checkpointed_lines(run: Checkpointed, chance: Random, share: float) -> list[bytes]:
    """The run as a trace with checkpoints anywhere; of somebody else, who leaves out a share of it."""
    events = len(run.events)
    after = [chance.randint(0, events) for _ in range(chance.choice((1, 2, 5, events // 3)))]
    if not share:
        return run.lines(after)
    return run.lines(after, generator=FOREIGN, events=[with_holes(line, chance, share) for line in run.events])


names = st.one_of(
    st.tuples(st.sampled_from(sorted(WORKLOADS)), st.integers(0, 9)),
    st.tuples(st.sampled_from(sorted(VIOLATING))),
)
"""A workload with its seed, or a scenario."""


def run_of(name: tuple[str, int] | tuple[str]) -> Checkpointed:
    """The run of this name."""
    return played(*name) if len(name) == 1 else simulated(*name, steps=40)


@settings(max_examples=max(20, settings().max_examples // 3))
@given(names, st.integers(0, 2**32), st.sampled_from((0, 0, 0, 0.1, 0.5)), st.sampled_from((0, 1, 1, 1, 2)))
# The answer of a change whose asker waits no more.
@example(("auto-join", 0), 0, 0.1, 0)
# An id that only a checkpoint shows, and a later line that contradicts it.
@example(("upgrade", 4), 254918160, 0.5, 2)
def test_the_parts_together_say_what_the_whole_says(
    name: tuple[str, int] | tuple[str], seed: int, share: float, wrong: int
) -> None:
    run, chance = run_of(name), Random(seed)
    lines = checkpointed_lines(run, chance, share)
    for _ in range(wrong):
        checkpoints = [n for n, raw in enumerate(lines) if b'"checkpoint"' in raw[:25]]
        at = (
            chance.choice(checkpoints) + chance.choice((-2, -1, 0, 0, 0, 1, 2))
            if chance.random() < 0.7
            else chance.randrange(1, 10**9)
        )
        at = max(1, min(at, len(lines) - 1)) if at < 10**6 else at % (len(lines) - 1) + 1
        lines[at] = with_another_value(lines[at], chance)
    found = taken(lines, chance.choice((1, 1, 3, 10, 30)), chance.choice((300, 5_000, 2**18)))
    if found.trace is None:
        with pytest.raises(TraceError) as refused:
            list(trace_of_bytes(b"".join(lines), SOURCE))
        assert reason_of(refused.value) == found.reason
        return
    row = in_parts(found)
    assert row == as_a_whole(lines, found.trace)
    if not wrong and len(name) == 2:
        assert row["verdict"] != "rejected", row


@pytest.mark.parametrize("segment_bytes", [300, 2**18])
@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_a_wrong_line_where_two_parts_meet(offset: int, segment_bytes: int) -> None:
    run = simulated("calm", 1, 60)
    at = 31 + offset
    lines = run.lines([10, 30])
    document = json.loads(lines[at + 1])
    if offset:
        document["state"]["epoch"] += 7
    else:
        document["history"]["crashes"] += 1
    lines[at + 1] = as_line(document)
    found = taken(lines, 10, segment_bytes)
    assert found.trace is not None
    assert found.trace["parts"] == 3
    row = in_parts(found)
    assert row == as_a_whole(lines, found.trace)
    assert (row["line"], row["kind"]) == (at + 2, "mismatch" if offset else "checkpoint")


def _arrivals(run: Checkpointed) -> dict[str, list[int]]:
    """The sequence numbers of the arrivals of each message."""
    found: dict[str, list[int]] = {}
    for event in run.events:
        if event.message is not UNSET:
            found.setdefault(str(event.message.id), []).append(event.sequence)
    return found


def test_a_part_knows_the_messages_that_were_on_their_way_when_it_began() -> None:
    """A message that is not what its sender's line showed, which only that line can tell, not the model."""
    run = simulated("lossy", 1, 90)
    of_two_copies = next(places for places in _arrivals(run).values() if len(places) == 2)
    for arrived in of_two_copies:
        document = json.loads(encode_line(run.events[arrived - 1]))
        document["message"]["correlation_id"] += 1
        lines = run.lines([of_two_copies[0] - 1])
        at = arrived + 1
        lines[at] = as_line(document)
        found = taken(lines, 1, 2**18)
        assert found.trace is not None
        row = in_parts(found)
        assert row == as_a_whole(lines, found.trace)
        assert (row["kind"], row["line"], row["field"]) == ("mismatch", at + 1, "message.correlation_id")


def test_a_checkpoint_shows_messages_that_nobody_has_shown_before() -> None:
    """From there on a trace of somebody else is held to them, whether it is read as a whole or in parts."""
    run = simulated("auto-join", 1, 250)
    arrived = next(event for event in run.events if isinstance(event.message, TracedAddVoterRequest))
    after = arrived.sequence - 1
    events = [without(event, ("effects",)) for event in run.events[:after]]
    events += [encode_line(event) for event in run.events[after:]]
    document = json.loads(events[after])
    document["message"]["timeout_ms"] += 1
    events[after] = as_line(document)
    lines = run.lines([after], generator=FOREIGN, events=events)
    found = taken(lines, 1, 2**18)
    assert found.trace is not None
    assert found.trace["parts"] == 2
    row = in_parts(found)
    assert row == as_a_whole(lines, found.trace)
    assert (row["kind"], row["line"], row["field"]) == ("mismatch", after + 3, "message.timeout_ms")


# ---------------------------------------------------------------------------------------------------------
# On Spark.
# ---------------------------------------------------------------------------------------------------------


def test_the_first_part_that_is_not_accepted_decides() -> None:
    shown = {"name": "role", "shown": 1, "events": 2}
    nothing: Row = dict.fromkeys(VERDICTS.names) | {"open_answers": [], "shown": [shown], "compared": "complete"}

    def part(verdict: str, **more: Any) -> Row:
        return nothing | {"verdict": verdict, "candidates_max": 1, **more}

    first = part("accepted", candidates_max=5, open_answers=["b"])
    wrong = part("rejected", line=7, open_answers=["a"], shown=[])
    row = together([first, wrong, part("inconclusive", candidates_max=9, compared="partial")])
    names = ("verdict", "line", "candidates_max", "open_answers", "compared", "shown")
    assert [row[name] for name in names] == ["rejected", 7, 5, ["a", "b"], "complete", [shown]]
    row = together([first, part("accepted", compared="names only"), part("inconclusive", reason="stops")])
    assert (row["verdict"], row["reason"], row["compared"]) == ("inconclusive", "stops", "partial")
    assert row["shown"] == [{"name": "role", "shown": 3, "events": 6}]
    assert together([part("accepted", compared=None)])["compared"] is None


@cache
def _long_run() -> tuple[bytes, ...]:
    """Some 5,000 events, and a checkpoint every 2,000."""
    simulation = busy_run(5_000)
    lines = trace_bytes(simulation.run(), simulation.configuration, own_generator(), checkpoint_every=2_000)
    return tuple(lines)


def _write_corpus(folder: Path) -> None:
    folder.mkdir()
    lines = list(_long_run())
    places = [number for number, raw in enumerate(lines) if raw.startswith(b'{"kind":"checkpoint"')]
    assert len(places) == 2
    (folder / "right.jsonl").write_bytes(b"".join(lines))

    def write(name: str, at: int, change: Callable[[Document], None]) -> None:
        document = json.loads(lines[at])
        change(document)
        (folder / name).write_bytes(b"".join([*lines[:at], as_line(document), *lines[at + 1 :]]))

    at_a_replica = next(n for n in range(places[0] + 300, len(lines)) if b'"state":{' in lines[n])
    write("wrong-line.jsonl", at_a_replica, lambda line: line["state"].update(epoch=line["state"]["epoch"] + 7))
    write("wrong-checkpoint.jsonl", places[1], lambda line: line["history"].update(crashes=999))
    write("malformed.jsonl", places[1], lambda line: line["replicas"][0]["state"].pop("role"))


@pytest.mark.slow
def test_a_long_trace_is_checked_in_parts_with_the_verdict_of_the_whole(shared: Any, tmp_path: Path) -> None:
    corpus, output = tmp_path / "in", tmp_path / "out"
    _write_corpus(corpus)
    pipeline_runs.run(SessionOptions("local[2]"), [str(corpus)], output)
    traces = {Path(row["source"]).name: row for row in rows_of(output, TRACES)}
    verdicts = {Path(row["source"]).name: row for row in rows_of(output, VERDICTS)}
    assert set(traces) == set(verdicts) == {"right.jsonl", "wrong-line.jsonl", "wrong-checkpoint.jsonl"}
    for name, row in verdicts.items():
        whole = check_reader(trace_of_bytes((corpus / name).read_bytes(), row["source"]))
        assert row == {"trace_id": row["trace_id"], **row_of(row, whole)}
        assert traces[name]["parts"] == 3
        assert traces[name]["lines"] == len(_long_run())
    assert (verdicts["right.jsonl"]["verdict"], verdicts["right.jsonl"]["events"]) == (
        "accepted",
        traces["right.jsonl"]["events"],
    )
    assert verdicts["wrong-line.jsonl"]["kind"] == "mismatch"
    assert 2_000 < verdicts["wrong-line.jsonl"]["sequence"] < 4_000
    wrong = verdicts["wrong-checkpoint.jsonl"]
    assert (wrong["kind"], wrong["event"], wrong["field"], wrong["sequence"]) == (
        "checkpoint",
        "Checkpoint",
        "history.crashes",
        4_000,
    )
    quarantined = sorted(rows_of(output, QUARANTINE), key=itemgetter("line"))
    assert b"".join(row["raw"] for row in quarantined) == (corpus / "malformed.jsonl").read_bytes()
    (reason,) = [row for row in quarantined if row["wrong"]]
    assert (reason["reason"], reason["field"]) == ("FIELD_MISSING", "$.replicas[0].state.role")


# ---------------------------------------------------------------------------------------------------------
# Traces of other software, the same compiled, interpreted and in parts.
# ---------------------------------------------------------------------------------------------------------


def _unfinished(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], encode_line(EndLine(json.loads(lines[-1])["events"], complete=False))]


def _foreign_run() -> tuple[Checkpointed, list[Document]]:
    run = simulated("elections", 5, 100)
    return run, [json.loads(encode_line(event)) for event in run.events]


def _kinds(event: Document) -> list[str]:
    return [effect["kind"] for effect in event.get("effects", ())]


def _lines(run: Checkpointed, events: Sequence[Document]) -> list[bytes]:
    return run.lines([20, 50, 60, 80], generator=FOREIGN, events=map(as_line, events))


def _synced_before_appended() -> list[bytes]:
    run, events = _foreign_run()
    event = next(event for event in events if {"AppendRecords", "FlushLog"} <= {*_kinds(event)})
    event["effects"].sort(key=lambda effect: effect["kind"] != "FlushLog")
    return _lines(run, events)


def _vote_sent_but_not_written() -> list[bytes]:
    run, events = _foreign_run()
    event = next(
        event
        for event in events
        if event["event"] == "HandleVoteRequest" and _kinds(event)[:2] == ["PersistQuorumState", "Send"]
    )
    at, end = event["sequence"], event.pop("state")["log_end_offset"]
    event |= {"effects": event["effects"][1:2], "crash": {"completed": 1, "log_end_offset": end}}
    return _lines(run, events[:at])


def _two_leaders_at_the_beginning() -> list[bytes]:
    run = simulated("calm", 3, 90)
    document = json.loads(run.checkpoint(90)) | {"sequence": 0, "network": []}
    document["history"]["epochs"][-1]["leaders"] = [{"id": 1, "directory_id": "A1"}, {"id": 2, "directory_id": "A2"}]
    crash = {"kind": "event", "sequence": 1, "time_ms": document["time_ms"], "replica": 3, "event": "Crash"}
    end = {"kind": "end", "events": 1, "complete": True}
    return [run.header(FOREIGN), *map(as_line, (document, crash, end))]


def _letters_beyond_ascii() -> list[bytes]:
    run, events = _foreign_run()
    return [line.replace(b'"kraft-spec"', '"é\\\\"'.encode()) for line in _lines(run, events)]


def _high_watermarks_of_0() -> list[bytes]:
    run, events = _foreign_run()
    lines = _lines(run, events)
    for at, line in enumerate(lines):
        document = json.loads(line)
        for shown in (document, *document.get("replicas", ())):
            if "state" in shown and shown["state"]["high_watermark"] == -1:
                shown["state"]["high_watermark"] = 0
        lines[at] = as_line(document)
    return lines


def _a_gap() -> list[bytes]:
    run, events = _foreign_run()
    events[30] |= {"unrecorded": [events[30]["replica"]]}
    return _unfinished(_lines(run, events))


@pytest.mark.parametrize(
    ("lines_of", "verdict", "why"),
    [
        (_synced_before_appended, "rejected", "effects["),
        (_vote_sent_but_not_written, "rejected", "effects["),
        (_two_leaders_at_the_beginning, "rejected", "ElectionSafety"),
        (_letters_beyond_ascii, "accepted", ""),
        (_high_watermarks_of_0, "accepted", ""),
        (_a_gap, "inconclusive", "line 33: events of replica "),
    ],
)
def test_every_way_leads_to_one_verdict(lines_of: Callable[[], list[bytes]], verdict: str, why: str) -> None:
    lines = lines_of()
    found = taken(lines, 10, 2000)
    assert found.trace is not None
    parts = in_parts(found)
    for way in (COMPILED, INTERPRETED):
        assert parts == as_a_whole(lines, found.trace, way)
    assert parts["verdict"] == verdict, parts
    assert (parts["field"] or parts["reason"] or "").startswith(why)


@pytest.mark.parametrize("at", [10, 35, 70])
@pytest.mark.parametrize("wrong", [None, 65])
def test_what_follows_a_gap_is_judged_in_parts_as_it_is_as_a_whole(at: int, wrong: int | None) -> None:
    run = simulated("elections", 5, 100)
    events = [encode_line(event) for event in run.events]
    replica = next(event.replica for event in run.events[at:] if event.replica is not UNSET)
    events[at] = edited(events[at], unrecorded=[replica])
    if wrong is not None:
        events[wrong] = edited(events[wrong], state={"epoch": 99})
    lines = _unfinished(run.lines([20, 50, 60, 80], generator=FOREIGN, events=events))
    found = taken(lines, 10, 2000)
    assert found.trace is not None
    assert found.trace["parts"] > 2
    parts, whole = in_parts(found), as_a_whole(lines, found.trace)
    names = ("verdict", "line", "field", "events", "reason")
    assert [parts[name] for name in names] == [whole[name] for name in names]
    assert whole["verdict"] == ("inconclusive" if wrong is None else "rejected")

"""Traces with checkpoints have one verdict, whether the compiled model checks them or TLC alone."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.traces.check.foreign import with_holes, without
from tests.traces.checkpointed import (
    FOREIGN,
    VIOLATING,
    Checkpointed,
    as_line,
    played,
    simulated,
    with_another_value,
)
from tests.traces.places import Document

from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import Verdict, VerdictKind, check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED, Way
from kraft_traces.encode import encode_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EndLine
from kraft_traces.message_types import TracedAddVoterRequest
from kraft_traces.reader import trace_of_bytes


def checked(lines: Sequence[bytes], way: Way) -> Verdict | str:
    """The verdict, without the way it came about; or why the trace is malformed.

    The full invariants are checked often, and foreign traces soon leave out too much.
    """
    try:
        verdict = check_reader(trace_of_bytes(b"".join(lines)), every=10, candidates_max=40, way=way)
    except TraceError as error:
        return str(error)
    return replace(verdict, compiled=0, both=0)


def verdict_on(lines: Sequence[bytes]) -> Verdict:
    """The verdict on a trace that is well-formed, the same in both ways."""
    verdict = checked(lines, COMPILED)
    assert checked(lines, INTERPRETED) == verdict
    assert isinstance(verdict, Verdict)
    return verdict


names = st.one_of(
    st.tuples(st.sampled_from(sorted(WORKLOADS)), st.integers(0, 9)),
    st.tuples(st.sampled_from(sorted(VIOLATING))),
)
"""A workload with its seed, or a scenario."""


@settings(max_examples=max(8, settings().max_examples // 3))
@given(names, st.integers(0, 2**32), st.sampled_from((0, 0, 0, 0.1, 0.5)), st.sampled_from((0, 1, 1, 1, 2)))
# The answer of a change whose asker waits no more.
@example(("auto-join", 0), 0, 0.1, 0)
# An id that only a checkpoint shows, and a later line that contradicts it.
@example(("upgrade", 4), 254918160, 0.5, 2)
def test_both_ways_lead_to_one_verdict(name: tuple[str, int] | tuple[str], seed: int, share: float, wrong: int) -> None:
    run, chance = played(*name) if len(name) == 1 else simulated(*name, steps=40), Random(seed)
    after = [chance.randint(0, len(run.events)) for _ in range(chance.choice((1, 2, 5, len(run.events) // 3)))]
    events = [with_holes(line, chance, share) for line in run.events] if share else None
    lines = run.lines(after, generator=FOREIGN if share else None, events=events)
    for _ in range(wrong):
        at = chance.randrange(1, len(lines))
        lines[at] = with_another_value(lines[at], chance)
    verdict = checked(lines, COMPILED)
    assert checked(lines, INTERPRETED) == verdict
    if not wrong and len(name) == 2:
        assert isinstance(verdict, Verdict)
        assert verdict.kind is not VerdictKind.REJECTED, verdict


def test_a_checkpoint_shows_messages_that_no_line_has_shown_before() -> None:
    """From there on a trace of other software is checked against them."""
    run = simulated("auto-join", 1, 250)
    arrived = next(event for event in run.events if isinstance(event.message, TracedAddVoterRequest))
    after = arrived.sequence - 1
    events = [without(event, ("effects",)) for event in run.events[:after]]
    events += [encode_line(event) for event in run.events[after:]]
    document = json.loads(events[after])
    document["message"]["timeout_ms"] += 1
    events[after] = as_line(document)
    rejection = verdict_on(run.lines([after], generator=FOREIGN, events=events)).rejection
    assert rejection is not None
    assert (rejection.line, rejection.differences[0].field) == (after + 3, "message.timeout_ms")


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
        for part in (document, *document.get("replicas", ())):
            if "state" in part and part["state"]["high_watermark"] == -1:
                part["state"]["high_watermark"] = 0
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
def test_both_ways_lead_to_this_verdict(lines_of: Callable[[], list[bytes]], verdict: str, why: str) -> None:
    actual = verdict_on(lines_of())
    assert actual.kind == verdict
    rejection = actual.rejection
    named = "" if rejection is None else str(rejection.differences or rejection.properties)
    assert why in (actual.reason or named)

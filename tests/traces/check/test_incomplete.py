"""Traces that stop early, were written for another model, or are rejected before their end."""

import pytest
from tests.traces.check.recorded import Recorded, recorded, verdict_on

from kraft_traces.check import RejectionKind, VerdictKind, check_reader
from kraft_traces.encode import encode_line
from kraft_traces.lines import EndLine
from kraft_traces.reader import trace_of_bytes


@pytest.fixture(scope="module")
def trace() -> Recorded:
    return recorded("elections", 2, 100)


@pytest.mark.parametrize(
    ("ending", "reason"),
    [(False, "without an end line"), (True, "the end line says that the run was not over")],
)
def test_a_trace_that_stops_early_is_inconclusive(trace: Recorded, ending: bool, reason: str) -> None:
    end = encode_line(EndLine(len(trace.lines), False)) if ending else b""
    verdict = verdict_on(trace.header(), trace.raw, ending=end)
    assert (verdict.kind, verdict.complete, verdict.rejection) == (VerdictKind.INCONCLUSIVE, False, None)
    assert verdict.events == len(trace.lines)
    assert reason in str(verdict.reason)


def _with_a_wrong_epoch(trace: Recorded, at: int) -> list[bytes]:
    raw = trace.raw
    epoch = f'"epoch":{trace.lines[at].state.epoch},"leader_id"'.encode()  # type: ignore[union-attr]
    head, _, tail = raw[at].rpartition(epoch)
    raw[at] = head + b'"epoch":99,"leader_id"' + tail
    return raw


@pytest.mark.parametrize("ending", [None, b""])
def test_a_wrong_line_is_rejected_however_the_trace_ends(trace: Recorded, ending: bytes | None) -> None:
    at = next(n for n, line in enumerate(trace.lines) if n > 30 and line.event == "HandleFetchRequest")
    verdict = verdict_on(trace.header(), _with_a_wrong_epoch(trace, at), ending=ending)
    assert verdict.rejection is not None
    assert (verdict.kind, verdict.events) == (VerdictKind.REJECTED, at)
    assert (verdict.rejection.kind, verdict.rejection.line) == (RejectionKind.MISMATCH, at + 2)
    assert [difference.field for difference in verdict.rejection.differences] == ["state.epoch"]
    assert verdict.rejection.source == "trace"


def test_progress_is_told_as_lines_are_done(trace: Recorded) -> None:
    counts: list[int] = []
    content = b"".join([trace.header(), *trace.raw])
    check_reader(trace_of_bytes(content), on_events=counts.append)
    assert sum(counts) == len(trace.lines)

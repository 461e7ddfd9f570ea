"""The trace of a whole cluster is judged as `validate` judges it, whatever the pieces in which it is written."""

import json
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.checkpointed import FOREIGN, Checkpointed, edited, simulated, with_another_value
from tests.traces.watch.growing_files import append, places, validated, watch_trace, watched_outcome

from kraft_dev.opaque_traces import without_replicas
from kraft_dev.samples import sample_folder
from kraft_traces.watch.whole import SavedTrace


@pytest.fixture(scope="module")
def run() -> Checkpointed:
    return simulated("elections", 5, 120)


def high_watermark_raised(raw: bytes) -> bytes:
    """The line with a wrong high watermark."""
    state = json.loads(raw)["state"]
    return edited(raw, state={**state, "high_watermark": state["high_watermark"] + 5})


def wrong_line(lines: list[bytes], after: int) -> int:
    """Index of a line with a state, which becomes wrong."""
    at = next(at for at, raw in enumerate(lines) if at > after and b'"high_watermark"' in raw and b'"state"' in raw)
    lines[at] = high_watermark_raised(lines[at])
    return at


@given(data=st.data())
def test_any_pieces_of_a_trace_give_the_verdict_of_validate(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = simulated("elections", 5, 120)
    lines = run.lines([60], generator=data.draw(st.sampled_from([None, FOREIGN])))
    if data.draw(st.booleans(), label="altered"):
        at = data.draw(st.integers(1, len(lines) - 2))
        lines[at] = with_another_value(lines[at], Random(data.draw(st.integers(0, 10_000))))
    content = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    parts = [content[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    expected = validated(content)
    actual = watched_outcome(tmp_path_factory.mktemp("watched") / "trace.jsonl", parts)
    # A missing or repeated number is a gap in a trace that grows.
    if expected.detail and expected.detail[0] in ("SEQUENCE_GAP", "DUPLICATE_SEQUENCE"):
        assert (actual.kind, actual.line) == ("gap", expected.line)
    else:
        assert actual == expected


def test_a_planted_bug_is_an_alert_at_its_line_with_the_states_before_it(tmp_path: Path) -> None:
    path = tmp_path / "mutant.jsonl"
    lines = (sample_folder() / "mutant.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:82]))
    watched = watch_trace(path)
    assert not list(watched.poll(0))
    append(path, lines[82][:100])
    assert not list(watched.poll(0))
    append(path, lines[82][100:])
    (alert,) = watched.poll(0)
    document = alert.as_dict()
    assert (document["line"], document["explained_by"]) == (83, ["prevote.follower.rejects-after-fetch"])
    assert document["sentences"] == {
        "prevote.follower.rejects-after-fetch": "A Follower that fetched refuses Pre-Votes"
    }
    assert document["differences"][0]["field"] == "effects[0].message.granted"
    assert document["replicas"]["2"]["role"] == "Follower"


def test_judging_goes_on_at_the_checkpoint_after_a_gap(run: Checkpointed, tmp_path: Path) -> None:
    lines = run.lines([40, 80])
    later = wrong_line(lines, 90)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join([*lines[:20], *lines[22:]]))
    watched = watch_trace(path)
    # Two lines are missing, so the wrong line is two lines earlier in the file.
    assert places(watched.poll(0)) == [("gap", path.name, 21), ("alert", path.name, later + 1 - 2)]


def test_after_an_alert_judging_goes_on_at_the_next_checkpoint(run: Checkpointed, tmp_path: Path) -> None:
    lines = run.lines([40, 80])
    wrong = [wrong_line(lines, after) for after in (10, 20, 60)]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(lines))
    alerts = [("alert", path.name, at + 1) for at in wrong]
    # The second wrong line comes before the checkpoint.
    assert places(watch_trace(path).poll(0)) == [alerts[0], alerts[2]]


def test_after_an_alert_only_the_replica_of_a_foreign_trace_is_unknown(run: Checkpointed, tmp_path: Path) -> None:
    lines = run.lines([], generator=FOREIGN)
    wrong = [wrong_line(lines, after) for after in (20, 60)]
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(lines))
    assert places(watch_trace(path).poll(0)) == [("alert", path.name, at + 1) for at in wrong]


@pytest.mark.parametrize("way", ["renamed", "truncated"])
def test_the_next_file_of_the_writer_continues_the_trace(run: Checkpointed, tmp_path: Path, way: str) -> None:
    lines = run.lines([])
    later = wrong_line(lines, 80)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(lines[:50]))
    watched = watch_trace(path)
    assert not list(watched.poll(0))
    if way == "renamed":
        append(path, lines[50])
        path.rename(tmp_path / "trace.jsonl.1")
        assert not list(watched.poll(0))
    else:
        append(path, lines[50])
        assert not list(watched.poll(0))
    path.write_bytes(lines[0] + b"".join(lines[51:60]))
    reports = list(watched.poll(0))
    append(path, b"".join(lines[60:]))
    reports += watched.poll(0)
    # The header is line 1 of the new file, and line 51 of the trace is line 2.
    assert places(reports) == [("alert", path.name, later - 51 + 2)]


def test_a_torn_line_before_a_rotation_is_a_gap(run: Checkpointed, tmp_path: Path) -> None:
    lines = run.lines([80])
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(lines[:50]) + lines[50][:30])
    watched = watch_trace(path)
    assert not list(watched.poll(0))
    path.rename(tmp_path / "trace.jsonl.1")
    path.write_bytes(lines[0] + b"".join(lines[51:]))
    assert places(watched.poll(0)) == [("gap", path.name, 2)]
    assert watched.judge is not None
    assert (watched.judge.is_in_gap, watched.judge.has_ended) == (False, True)


@pytest.mark.parametrize("generator", [None, FOREIGN])
def test_a_saved_state_continues_with_the_same_alerts(run: Checkpointed, tmp_path: Path, generator: object) -> None:
    lines = run.lines([40, 80], generator=FOREIGN if generator else None)
    for after in (10, 50, 90):
        wrong_line(lines, after)
    assert len(assert_restarts_change_nothing(lines, tmp_path, saved_least=10)) == 3


@pytest.mark.parametrize("observed_at", [None, 40])
def test_a_saved_state_continues_with_replicas_that_are_not_observed(
    run: Checkpointed, tmp_path: Path, observed_at: int | None
) -> None:
    whole = run.lines([] if observed_at is None else [observed_at], generator=FOREIGN)
    lines = list(without_replicas(whole, {3}, observed_at))
    for after in (30, 60):
        wrong_line(lines, after)
    assert len(assert_restarts_change_nothing(lines, tmp_path, saved_least=5)) == 2


def assert_restarts_change_nothing(lines: list[bytes], folder: Path, *, saved_least: int) -> list[object]:
    """Watch a trace at once and with a restart after every few lines; return the places of the alerts, the same."""
    path = folder / "trace.jsonl"
    path.write_bytes(b"".join(lines))
    expected = places(watch_trace(path).poll(0))
    path.write_bytes(b"")
    watched, alerts, restarts = watch_trace(path), [], 0
    for at in range(0, len(lines), 7):
        append(path, b"".join(lines[at : at + 7]))
        alerts += places(watched.poll(0))
        if (saved := watched.save()) is not None:
            raw = msgspec.json.encode(saved)
            watched = watch_trace(path, msgspec.json.decode(raw, type=SavedTrace))
            restarts += 1
    assert alerts == expected
    assert restarts >= saved_least
    return list(alerts)

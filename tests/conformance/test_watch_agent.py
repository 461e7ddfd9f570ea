"""`kraft-spec watch` on the agent's files while Kafka writes them."""

import json
import os
import re
import signal
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import Captured, output
from tests.conformance.test_watch import documents, wait_until, watching
from tests.traces.watch.growing_files import PATIENCE_S, append, places

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.agent.building import agent_jar
from kraft_kafka.agent.watch.followed import SavedAgents
from kraft_kafka.agent.watch.watched import WatchedAgents
from kraft_kafka.controllers import controller
from kraft_kafka.whole.under_agent import record_controllers
from kraft_traces.check import CANDIDATES_MAX, EVERY
from kraft_traces.watch.reports import Report

RECORDED = Path(__file__).parent / "kafka_files" / "agent-quorum.tar.xz"
"""Three controllers of 4.3.1: kill -9 of the leader, its restart, removal and addition of a voter, shutdown.

The agent begins another file at 60 KiB.
"""
LOST = (
    "replica-2-1796072451963-1.4.raw.jsonl:120: gap: "
    "no line of replica 3 sends the FetchResponse that replica 2 receives"
)
"""The one gap: the killed leader had not written its newest lines."""
ATTACHED = RECORDED.parent / "agent-attached"
Files = dict[str, list[bytes]]


@pytest.fixture(scope="module")
def recorded() -> Files:
    """Lines of the files, by name."""
    with tarfile.open(RECORDED) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive.getmembers()]
        return {name: file.read().splitlines(keepends=True) for name, file in members if file is not None}


def watched(folder: Path, saved: SavedAgents | None = None) -> WatchedAgents:
    return WatchedAgents([str(folder)], every=EVERY, candidates_max=CANDIDATES_MAX, patience_s=PATIENCE_S, saved=saved)


def in_order(files: Files) -> list[tuple[str, bytes]]:
    """Return the lines in the order in which they were written, with the names of their files."""
    lines: list[tuple[int, str, bytes]] = []
    for name, raws in files.items():
        time_us = int(re.findall(rb'"time_us":(\d+)', raws[1])[0])
        for raw in raws:
            times = re.findall(rb'^\{"kind":"[a-z]+","time_us":(\d+)', raw)
            time_us = max([time_us, *map(int, times)])
            lines.append((time_us, name, raw))
    return [(name, raw) for _, name, raw in sorted(lines, key=lambda line: line[0])]


def pieces(files: Files, size: int) -> Iterator[list[tuple[str, bytes]]]:
    lines = in_order(files)
    return (lines[at : at + size] for at in range(0, len(lines), size))


def grown(folder: Path, files: Files, size: int = 400) -> tuple[WatchedAgents, list[Report]]:
    """Return a watch that has followed the files while they grew, with its reports."""
    folder.mkdir(exist_ok=True)
    watch, reports, now = watched(folder), list[Report](), 0.0
    for piece in pieces(files, size):
        for name, raw in piece:
            append(folder / name, raw)
        now += 0.1
        reports += watch.poll(now)
    for _ in range(120):
        now += 0.5
        reports += watch.poll(now)
    return watch, reports


def changed(files: Files, change: Callable[[bytes], bytes], name: str, at: int) -> Files:
    """Return the files with one other line."""
    lines = files[name]
    assert change(lines[at]) != lines[at]
    return {**files, name: [*lines[:at], change(lines[at]), *lines[at + 1 :]]}


def test_controllers_are_followed_through_a_kill_rotations_and_voter_changes(tmp_path: Path, recorded: Files) -> None:
    watch, reports = grown(tmp_path / "traces", recorded)
    assert [str(report).rpartition("/")[2] for report in reports] == [LOST]
    assert watch.judge is not None
    assert watch.waiting == 0
    assert watch.judge.unknown == frozenset()
    assert main(["kafka", "trace", str(tmp_path / "traces"), "-o", str(tmp_path / "trace.jsonl")]) == 0
    joined = (tmp_path / "trace.jsonl").read_text(encoding="utf-8").count('{"kind":"event"')
    # The joined trace has a gap's Poll, too.
    assert abs(watch.judge.events - joined) <= 1


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_lines_in_any_pieces_give_the_same(tmp_path: Path, recorded: Files, seed: int) -> None:
    folder, chance = tmp_path / "traces", Random(seed)
    folder.mkdir()
    whole = {name: b"".join(lines) for name, lines in recorded.items()}
    watch, now, reports = watched(folder), 0.0, list[Report]()
    while any(whole.values()):
        for name in sorted(whole, key=lambda name: (name.split("-")[1], name.split("-")[2], len(name), name)):
            if whole[name]:
                size = chance.randrange(40_000)
                append(folder / name, whole[name][:size])
                whole[name] = whole[name][size:]
        now += 0.1
        reports += watch.poll(now)
    for _ in range(60):
        now += 0.5
        reports += watch.poll(now)
    assert ([str(report).rpartition("/")[2] for report in reports], watch.waiting) == ([LOST], 0)


def test_a_watch_catches_up_with_more_events_than_it_holds(
    tmp_path: Path, recorded: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraft_kafka.agent.watch.watched.PENDING_MAX", 50)
    for name, lines in recorded.items():
        (tmp_path / name).write_bytes(b"".join(lines))
    watch = watched(tmp_path)
    reports = [report for step in range(200) for report in watch.poll(step / 2)]
    assert ([str(report).rpartition("/")[2] for report in reports], watch.waiting) == ([LOST], 0)


def planted(recorded: Files) -> tuple[Files, str, int]:
    """Return the files in which a follower's high watermark is wrong, with the name and number of the line."""
    pattern = re.compile(rb'("high_watermark":)(\d+)')
    name = next(name for name in sorted(recorded) if name.startswith("replica-1") and ".3.raw" in name)
    at = next(at for at, raw in enumerate(recorded[name]) if b'"handled"' in raw and pattern.search(raw))
    return changed(recorded, lambda raw: pattern.sub(rb"\g<1>9\g<2>", raw), name, at), name, at + 1


def test_a_wrong_line_is_an_alert_and_judging_goes_on(tmp_path: Path, recorded: Files) -> None:
    files, name, number = planted(recorded)
    folder = tmp_path / "traces"
    watch, reports = grown(folder, files)
    assert LOST in str(reports[-1])
    (first, *others) = places(reports[:-1])
    kind, source, line = first
    assert (kind, source) == ("alert", name)
    assert line is not None
    # The event begins some lines before.
    assert number - 5 <= line <= number
    assert all(source == name for _, source, _ in others)
    assert watch.judge is not None
    assert watch.judge.unknown == frozenset()


def test_lines_that_the_agent_dropped_are_a_gap_up_to_its_checkpoint(tmp_path: Path, recorded: Files) -> None:
    name = next(name for name in sorted(recorded) if name.startswith("replica-1") and ".4.raw" in name)
    lines = recorded[name]
    at = len(lines) // 2
    files = {**recorded, name: [*lines[:at], b'{"kind":"dropped","lines":8}\n', *lines[at + 8 :]]}
    watch, reports = grown(tmp_path / "traces", files)
    assert ("gap", name) in {(kind, source) for kind, source, _ in places(reports)}
    assert {kind for kind, _, _ in places(reports)} == {"gap"}
    assert watch.judge is not None
    assert (watch.waiting, watch.judge.unknown) == (0, frozenset())


@pytest.mark.nightly
def test_a_file_that_is_missing_is_a_gap(tmp_path: Path, recorded: Files) -> None:
    missing = next(name for name in sorted(recorded) if name.startswith("replica-2") and ".4.raw" in name)
    watch, reports = grown(tmp_path / "traces", {name: raws for name, raws in recorded.items() if name != missing})
    assert {kind for kind, _, _ in places(reports)} == {"gap"}
    assert any("are missing" in str(report) for report in reports)
    assert watch.judge is not None
    assert watch.judge.unknown == frozenset()


@pytest.mark.parametrize("stops", [(3,), pytest.param((5, 9), marks=pytest.mark.nightly)])
def test_a_watch_continues_from_its_state(tmp_path: Path, recorded: Files, stops: tuple[int, ...]) -> None:
    whole, _ = grown(tmp_path / "whole", recorded)
    assert whole.judge is not None
    folder = tmp_path / "traces"
    folder.mkdir()
    watch, now, events, reports = watched(folder), 0.0, 0, list[Report]()
    for number, piece in enumerate(pieces(recorded, 400)):
        for name, raw in piece:
            append(folder / name, raw)
        now += 1.1
        reports += watch.poll(now)
        if number in stops:
            saved = watch.save()
            assert saved is not None
            assert watch.judge is not None
            events = watch.judge.events
            # The files before are not read again.
            watch = watched(folder, msgspec.json.decode(msgspec.json.encode(saved), type=SavedAgents))
            assert watch.judge is not None
            assert watch.judge.events == events
    for _ in range(60):
        now += 0.5
        reports += watch.poll(now)
    assert [str(report).rpartition("/")[2] for report in reports] == [LOST]
    assert watch.judge is not None
    assert watch.judge.events == whole.judge.events > events > 0


def test_controllers_that_the_agent_is_attached_to(capsys: Captured) -> None:
    with watching(str(ATTACHED)) as process:
        assert process.stdout is not None
        status = json.loads(process.stdout.readline())
        os.kill(process.pid, signal.SIGTERM)
        printed, _ = process.communicate()
    assert process.returncode == ExitCode.CONFORMANT
    assert (status["alerts"], documents(printed, "gap")) == (0, [])


def test_the_command_ends_with_the_first_alert(tmp_path: Path, recorded: Files, capsys: Captured) -> None:
    files, name, _ = planted(recorded)
    for other, lines in files.items():
        (tmp_path / other).write_bytes(b"".join(lines))
    code, printed = output(capsys, "watch", str(tmp_path))
    assert code == ExitCode.VIOLATION
    assert re.search(rf"{re.escape(name)}:\d+: event \d+", printed)
    assert "Replicas before the line" in printed


@pytest.mark.parametrize("is_there", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_folder_may_be_empty_at_first(tmp_path: Path, recorded: Files, is_there: bool) -> None:
    def write() -> None:
        for name, lines in recorded.items():
            (tmp_path / name).write_bytes(b"".join(lines))

    if is_there:
        write()
    state = tmp_path / "state.json"
    with watching(str(tmp_path), "--state", str(state)) as process:
        write()
        wait_until(lambda: state.exists() and json.loads(state.read_bytes())["watched"]["judge"]["sequence"] > 1000)
        os.kill(process.pid, signal.SIGTERM)
        printed, _ = process.communicate()
    assert (process.returncode, documents(printed, "alert")) == (ExitCode.INCONCLUSIVE, [])


@pytest.mark.nightly
def test_controllers_are_watched_while_they_run(tmp_path: Path) -> None:
    """They elect, add a voter, lose their leader and shut down."""
    with skipped_if_missing():
        kafka, agent = controller("4.3.1"), agent_jar()
    traces, state = tmp_path / "traces", tmp_path / "state.json"
    traces.mkdir()
    with watching(str(traces), "--keep-going", "--state", str(state)) as process:
        record_controllers(kafka, agent, tmp_path, print)
        wait_until(lambda: state.exists() and json.loads(state.read_bytes())["watched"]["judge"]["sequence"] > 300)
        os.kill(process.pid, signal.SIGTERM)
        printed, _ = process.communicate()
    assert documents(printed, "alert") == []
    assert documents(printed, "gap") == []
    status = documents(printed, "status")[-1]
    assert (status["behind_bytes"], status["waiting_events"], status["verdict"]) == (0, 0, "conforms")
    assert set(status["replicas"]) == {"1", "2", "3", "4"}

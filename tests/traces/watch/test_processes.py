"""The traces of processes are merged and judged while they grow."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.traces.checkpointed import Checkpointed, edited, simulated
from tests.traces.processes import merged, processes_of, with_ids_anew, write_traces
from tests.traces.watch.growing_files import PATIENCE_S, append, places, watch_processes

from kraft_traces.process_trace import MergeError
from kraft_traces.watch.folder import SavedFolder, WatchedProcesses
from kraft_traces.watch.reports import Report


class Run:
    """A run whose processes write to a folder."""

    def __init__(
        self, folder: Path, run: Checkpointed, *, anew: bool = False, without: tuple[int, int] = (0, 0)
    ) -> None:
        source, self.folder = folder / "whole", folder / "traces"
        source.mkdir()
        self.folder.mkdir()
        processes = processes_of(run)
        self.paths = write_traces(source, run, with_ids_anew(processes) if anew else processes, {without})
        self.lines = {path.name: path.read_bytes().splitlines(keepends=True) for path in self.paths}
        self.events = sum(map(len, self.lines.values())) - len(self.lines)
        self.now = 0.0

    def write(self, name: str, begin: int, end: int | None = None) -> None:
        append(self.folder / name, b"".join(self.lines[name][begin:end]))

    def write_all(self) -> None:
        for name in self.lines:
            self.write(name, 0)

    def poll(self, watched: WatchedProcesses, seconds: float = 1.0, times: int = 1) -> list[Report]:
        reports: list[Report] = []
        for _ in range(times):
            self.now += seconds
            reports += watched.poll(self.now)
        return reports


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path, simulated("elections", 5, 250))


def planted(run: Run, name: str, after: int) -> int:
    """Make a state wrong; return the number of the line."""
    lines = run.lines[name]
    at = next(at for at, raw in enumerate(lines) if at > after and json.loads(raw).get("state"))
    state = json.loads(lines[at])["state"]
    lines[at] = edited(lines[at], state={**state, "epoch": state["epoch"] + 1})
    return at + 1


@pytest.mark.parametrize("seed", [1, 2])
def test_files_that_grow_unevenly_are_accepted(tmp_path: Path, seed: int) -> None:
    run = Run(tmp_path, simulated("crashes", 4, 400), anew=True)
    watched, chance = watch_processes(run.folder), Random(seed)
    left = {name: b"".join(lines) for name, lines in run.lines.items()}
    while any(left.values()):
        for name, raw in left.items():
            size = chance.randrange(15_000)
            append(run.folder / name, raw[:size])
            left[name] = raw[size:]
        assert not run.poll(watched, 0.1)
    assert not run.poll(watched)
    assert watched.judge is not None
    assert (watched.judge.events, watched.waiting) == (run.events, 0)
    assert not list(watched.finish())
    verdict = watched.judge.finish()
    assert verdict is not None
    assert (verdict.kind, verdict.events) == ("accepted", run.events)


def test_a_planted_bug_is_an_alert_at_the_line_of_its_file(run: Run) -> None:
    line = planted(run, "2.jsonl", 55)
    watched = watch_processes(run.folder)
    run.write_all()
    reports = run.poll(watched)
    # The replica is judged again with its next whole state.
    assert places(reports) == [("alert", "2.jsonl", line)]
    assert not run.poll(watched)


def test_a_silent_process_holds_up_only_the_receivers_of_its_messages(run: Run) -> None:
    watched = watch_processes(run.folder)
    for name in run.lines:
        run.write(name, 0, 30)
    # Messages of replica 3 that its trace does not send yet.
    run.write("1.jsonl", 30)
    run.write("2.jsonl", 30)
    assert not run.poll(watched)
    assert watched.waiting > 0
    assert not run.poll(watched, PATIENCE_S / 2)
    run.write("3.jsonl", 30)
    assert not run.poll(watched)
    assert (watched.waiting, watched.gaps) == (0, 0)


def test_a_message_that_no_line_sends_is_a_gap_after_the_wait(run: Run) -> None:
    watched = watch_processes(run.folder)
    run.write("3.jsonl", 0, 30)
    run.write("1.jsonl", 0)
    run.write("2.jsonl", 0)
    assert not run.poll(watched)
    reports = run.poll(watched, PATIENCE_S, 2)
    assert {report.as_dict()["report"] for report in reports} == {"gap"}
    assert "no line of replica 3 sends the" in reports[0].as_dict()["message"]
    assert watched.judge is not None
    assert (watched.waiting, watched.judge.alerts) == (0, 0)


def test_missing_lines_are_a_gap_and_the_others_are_judged(tmp_path: Path) -> None:
    run = Run(tmp_path, simulated("elections", 5, 250), without=(1, 40))
    line = planted(run, "2.jsonl", 55)
    run.write_all()
    reports = run.poll(watch_processes(run.folder), PATIENCE_S, 3)
    gaps, alerts = places(reports)[:-1], places(reports)[-1:]
    # Line 1 is the header.
    assert gaps[0] == ("gap", "1.jsonl", 41)
    assert alerts == [("alert", "2.jsonl", line)]


def test_a_file_that_appears_later_is_merged_from_its_beginning(run: Run) -> None:
    watched = watch_processes(run.folder)
    run.write("1.jsonl", 0)
    assert not run.poll(watched, 0.1)
    run.write("2.jsonl", 0)
    assert not run.poll(watched)
    run.write("3.jsonl", 0)
    assert not run.poll(watched, times=3)
    assert watched.judge is not None
    assert (watched.judge.events, watched.gaps) == (run.events, 0)


@pytest.mark.parametrize("way", ["renamed", "next name"])
def test_the_next_file_of_a_process_continues_its_trace(run: Run, way: str) -> None:
    line = planted(run, "2.jsonl", 55)
    watched = watch_processes(run.folder)
    for name in ("1.jsonl", "3.jsonl"):
        run.write(name, 0)
    run.write("2.jsonl", 0, 50)
    assert not run.poll(watched)
    following = run.folder / "2.jsonl"
    if way == "renamed":
        following.rename(run.folder / "2.jsonl.old")
    else:
        following = run.folder / "2-1.jsonl"
    append(following, run.lines["2.jsonl"][0] + b"".join(run.lines["2.jsonl"][50:]))
    assert places(run.poll(watched, times=2)) == [("alert", following.name, line - 50 + 1)]
    assert watched.gaps == 0


def test_a_writer_that_crashed_in_a_line_leaves_a_gap(run: Run) -> None:
    watched = watch_processes(run.folder)
    for name in ("1.jsonl", "3.jsonl"):
        run.write(name, 0)
    run.write("2.jsonl", 0, 50)
    append(run.folder / "2.jsonl", run.lines["2.jsonl"][50][:40])
    assert not run.poll(watched)
    append(run.folder / "2-1.jsonl", run.lines["2.jsonl"][0] + b"".join(run.lines["2.jsonl"][51:]))
    reports = run.poll(watched)
    assert places(reports) == [("gap", "2-1.jsonl", 2)]
    reports += run.poll(watched, PATIENCE_S, 3)
    assert not [place for place in places(reports) if place[0] == "alert"]


def test_a_saved_state_continues_with_the_same_alerts(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    outcomes = []
    for folder, is_saved in ((tmp_path / "first", False), (tmp_path / "second", True)):
        run = Run(folder, simulated("crashes", 4, 400))
        for name, after in (("1.jsonl", 30), ("3.jsonl", 70), ("2.jsonl", 60)):
            planted(run, name, after)
        watched, places_seen = watch_processes(run.folder), []
        for at in range(0, max(map(len, run.lines.values())), 20):
            for name in run.lines:
                run.write(name, at, at + 20)
            places_seen += places(run.poll(watched))
            if is_saved and (saved := watched.save()) is not None:
                raw = msgspec.json.encode(saved)
                watched = watch_processes(run.folder, saved=msgspec.json.decode(raw, type=SavedFolder))
        outcomes.append(places_seen)
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) >= 3


def _other_cluster(run: Run) -> None:
    run.lines["3.jsonl"][0] = edited(run.lines["3.jsonl"][0], cluster_id="other")


def _other_events(run: Run) -> None:
    run.lines["3.jsonl"][1:] = run.lines["2.jsonl"][1:3]


@pytest.mark.parametrize(("change", "message"), [(_other_cluster, "cluster_id: expected")])
def test_files_of_different_clusters_are_refused(run: Run, change: Callable[[Run], None], message: str) -> None:
    change(run)
    run.write_all()
    with pytest.raises(MergeError, match=message):
        run.poll(watch_processes(run.folder))


def test_the_merge_is_that_of_whole_traces(run: Run) -> None:
    run.write_all()
    watched = watch_processes(run.folder)
    assert not run.poll(watched)
    assert watched.judge is not None
    *_, last, _ = merged(run.paths).splitlines()
    assert watched.judge.events == json.loads(last)["sequence"]


def test_a_replica_that_only_its_own_header_lists_joins_the_cluster(tmp_path: Path) -> None:
    run = Run(tmp_path, simulated("static-voters", 1, 200))
    for name in ("1.jsonl", "2.jsonl", "3.jsonl"):
        listed = json.loads(run.lines[name][0])["replicas"]
        run.lines[name][0] = edited(run.lines[name][0], replicas=[it for it in listed if it["id"] != 4])
    watched = watch_processes(run.folder)
    for name in ("1.jsonl", "2.jsonl", "3.jsonl"):
        run.write(name, 0)
    assert not run.poll(watched)
    assert watched.judge is not None
    assert watched.judge.events > 0
    assert watched.waiting > 0
    run.write("4.jsonl", 0)
    assert not run.poll(watched, times=2)
    assert (watched.judge.events, watched.waiting, watched.gaps) == (run.events, 0, 0)
    assert sorted(watched.judge.statuses()) == [1, 2, 3, 4]


def test_a_file_that_its_writer_replaces_by_a_longer_one_is_not_judged_twice(run: Run) -> None:
    line = planted(run, "2.jsonl", 55)
    watched = watch_processes(run.folder)
    for name in ("1.jsonl", "3.jsonl"):
        run.write(name, 0)
    run.write("2.jsonl", 0, 50)
    assert not run.poll(watched)
    staged = run.folder / "2.tmp"
    staged.write_bytes(b"".join(run.lines["2.jsonl"]))
    staged.replace(run.folder / "2.jsonl")
    assert places(run.poll(watched, times=2)) == [("alert", "2.jsonl", line)]
    assert watched.gaps == 0


def test_messages_that_nobody_receives_count_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraft_traces.watch.merging.LOST_AFTER", 40)
    run = Run(tmp_path, simulated("partitions", 1, 300))
    run.write_all()
    watched = watch_processes(run.folder)
    assert not run.poll(watched)
    assert watched.judge is not None
    # Each lost message is an event of the network in the merged trace.
    assert watched.judge.events > run.events
    assert watched.waiting == 0

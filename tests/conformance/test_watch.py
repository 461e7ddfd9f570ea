"""`kraft-spec watch`: alerts, exit codes, status, figures, and what a restart continues."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.conformance.commands import Captured, assert_said, lines, output
from tests.conformance.nodes import Nodes
from tests.traces.checkpointed import FOREIGN, edited, simulated

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.samples import sample_folder

MUTANT = sample_folder() / "mutant.jsonl"
CHAOS = sample_folder() / "chaos.jsonl"
WRONG_LINE = '{"kind":"nothing"}\n'


@contextmanager
def watching(*words: str, state_json: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Run the command as a process."""
    command = [sys.executable, "-m", "kraft_cli", "watch", *words, *(["--json"] if state_json else [])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(is_true: Callable[[], bool]) -> None:
    """Wait until something becomes true."""
    for _ in range(3_000):
        if is_true():
            return
        time.sleep(0.02)
    raise AssertionError("it does not become true within a minute")


def documents(text: str, report: str) -> list[dict[str, Any]]:
    """Return the reports of a kind."""
    return [it for it in map(json.loads, text.splitlines()) if it["report"] == report]


def alert_places(text: str) -> list[tuple[int, str]]:
    """Return line and message of each alert."""
    return [(it["line"], it["message"]) for it in documents(text, "alert")]


def test_a_whole_trace_ends_the_watch_with_the_verdict_of_validate(capsys: Captured) -> None:
    assert output(capsys, "watch", str(CHAOS)) == output(capsys, "validate", str(CHAOS))


def test_the_first_alert_ends_the_watch(capsys: Captured) -> None:
    code, printed = output(capsys, "watch", str(MUTANT))
    assert code == ExitCode.VIOLATION
    for part in (
        f"{MUTANT}:83: event 82 (HandleVoteRequest at replica 2): the recorded outcome differs from the model",
        "A Follower that fetched refuses Pre-Votes",
        "effects[0].message.granted",
        "Replicas before the line",
    ):
        assert part in printed


def test_json_has_one_object_a_line(capsys: Captured) -> None:
    code, printed = lines(capsys, "watch", str(MUTANT))
    assert code == ExitCode.VIOLATION
    assert [it["report"] for it in printed][-2:] == ["alert", "status"]
    assert (printed[-1]["events"], printed[-1]["verdict"]) == (82, "1 alert")


def test_a_malformed_line_ends_the_watch(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(CHAOS.read_bytes().replace(b'"sequence":7,', b'"sequence":"7",', 1))
    code, printed = output(capsys, "watch", str(path))
    assert code == ExitCode.BAD_INPUT
    assert f"{path}:8: $.sequence: expected int, got str" in printed


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("absent.jsonl",), ExitCode.NO_INPUT, "absent.jsonl: no such file or folder"),
        (("-", "x.jsonl"), ExitCode.USAGE, "standard input is the trace of a whole cluster"),
        (("-", "--state", "s"), ExitCode.USAGE, "nobody can return to a place in standard input"),
    ],
)
def test_sources_that_cannot_be_followed(words: tuple[str, ...], code: ExitCode, text: str, capsys: Captured) -> None:
    assert_said(capsys, code, text, "watch", *words)


def test_a_state_of_other_sources_is_refused(tmp_path: Path, capsys: Captured) -> None:
    state = tmp_path / "state"
    assert output(capsys, "watch", str(CHAOS), "--state", str(state))[0] == ExitCode.CONFORMANT
    assert_said(
        capsys, ExitCode.BAD_INPUT, f"{state}: $.sources: expected", "watch", str(MUTANT), "--state", str(state)
    )
    state.write_text("{}")
    assert_said(capsys, ExitCode.BAD_INPUT, "no state of kraft-spec watch", "watch", str(CHAOS), "--state", str(state))


def test_standard_input_is_judged_while_it_comes() -> None:
    raw = CHAOS.read_text(encoding="utf-8").splitlines(keepends=True)
    with watching("-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join([*raw[:7], WRONG_LINE]))
        process.stdin.flush()
        # Its standard input is still open.
        alerts = [it for it in map(json.loads, process.stdout) if it["report"] == "alert"]
        assert [it["line"] for it in alerts] == [8]
        assert process.wait() == ExitCode.BAD_INPUT


def test_standard_input_without_an_end_line_is_inconclusive() -> None:
    raw = CHAOS.read_text(encoding="utf-8").splitlines(keepends=True)
    with watching("-") as process:
        printed, _ = process.communicate("".join(raw[:-1]))
    assert process.returncode == ExitCode.INCONCLUSIVE
    assert documents(printed, "end")[0]["events"] == len(raw) - 2


def rejected(raw: bytes) -> bytes:
    """The line with another epoch."""
    state = json.loads(raw)["state"]
    return edited(raw, state={**state, "epoch": state["epoch"] + 3})


def malformed(raw: bytes) -> bytes:
    """A line that is none."""
    return WRONG_LINE.encode()


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (malformed, ExitCode.BAD_INPUT),
        # Four attributions in two processes.
        pytest.param(rejected, ExitCode.VIOLATION, marks=pytest.mark.nightly),
    ],
)
def test_a_watch_that_was_killed_continues_with_the_same_alerts(
    spoil: Callable[[bytes], bytes], code: ExitCode, tmp_path: Path, capsys: Captured
) -> None:
    raw = simulated("elections", 5, 120).lines([20, 40, 60, 80, 100], generator=FOREIGN)
    for after in (10, 30, 70, 90):
        at = next(number for number in range(after, len(raw)) if b'"state"' in raw[number])
        raw[at] = spoil(raw[at])
    path, state = tmp_path / "trace.jsonl", tmp_path / "state"
    path.write_bytes(b"".join(raw))
    result, printed = output(capsys, "watch", str(path), "--keep-going", "--json")
    expected = alert_places(printed)
    assert (result, len(expected)) == (code, 4)
    path.write_bytes(b"".join(raw[:60]))
    words = (str(path), "--keep-going", "--state", str(state))
    with watching(*words) as process:
        assert process.stdout is not None
        first = [next(line for line in process.stdout if '"alert"' in line) for _ in range(2)]
        wait_until(lambda: state.exists() and json.loads(state.read_bytes())["watched"]["alerts"] == 2)
        process.kill()
    with path.open("ab") as file:
        file.write(b"".join(raw[60:]))
    result, printed = output(capsys, "watch", *words, "--json")
    assert result == code
    assert [*alert_places("".join(first)), *alert_places(printed)] == expected


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_figures_and_a_signal(tmp_path: Path) -> None:
    port, path, state = free_port(), tmp_path / "trace.jsonl", tmp_path / "state"
    path.write_bytes(b"".join(CHAOS.read_bytes().splitlines(keepends=True)[:-1]))

    def figures() -> str:
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    with watching(str(path), "--prometheus", str(port), "--state", str(state)) as process:
        wait_until(lambda: "kraft_watch_events_total 371" in figures())
        text = figures()
        assert "# TYPE kraft_watch_events_total counter" in text
        assert 'kraft_watch_replica_role{replica="1",role="Leader"} 1' in text
        assert "kraft_watch_alerts_total 0" in text
        with pytest.raises(HTTPError, match="expected /metrics"):
            urlopen(f"http://127.0.0.1:{port}/")
        os.kill(process.pid, signal.SIGTERM)
        printed, _ = process.communicate()
    assert process.returncode == ExitCode.CONFORMANT
    assert documents(printed, "status")[-1]["verdict"] == "conforms"
    assert json.loads(state.read_bytes())["watched"]["judge"]["sequence"] == 371


@pytest.mark.nightly
def test_a_quorum_of_nodes_is_watched_through_a_kill_and_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "state"
    folder = tmp_path / "nodes"
    folder.mkdir()
    with Nodes(folder, voters=3, others=0) as nodes, watching(str(folder), "--state", str(state)) as process:
        nodes.start(1, 2, 3)
        first = nodes.leader()
        nodes.kill(first)
        nodes.leader(other_than=first)
        nodes.start(first)
        nodes.wait_until_it_follows(first)

        def is_judged() -> bool:
            saved = json.loads(state.read_bytes())["watched"] if state.exists() else None
            return saved is not None and saved["judge"]["sequence"] > 500

        wait_until(is_judged)
        os.kill(process.pid, signal.SIGTERM)
        printed, _ = process.communicate()
    assert (process.returncode, documents(printed, "gap")) == (ExitCode.CONFORMANT, [])
    assert documents(printed, "status")[-1]["verdict"] == "conforms"

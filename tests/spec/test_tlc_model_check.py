"""Model checks of a toy specification: each outcome is produced by TLC itself, and its output is parsed."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.spec.own_process import TOYS

from kraft_spec.tlc.model_check import (
    Checkpoints,
    ModelCheckError,
    ModelCheckOptions,
    Simulation,
    check_model,
    latest_checkpoint,
)
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress
from kraft_spec.tlc.tool_output import Findings, parsed_variables, tool_messages


def _counter(
    tmp_path: Path,
    configuration: str,
    options: ModelCheckOptions | None = None,
    *,
    module: str = "Counter",
    width: int = 2,
    limit: int = 3,
) -> ModelCheckReport:
    """Check the counter toy, or an edited copy of it, with the given configuration lines."""
    if not (tmp_path / f"{module}.tla").exists():
        (tmp_path / f"{module}.tla").write_text((TOYS / "Counter.tla").read_text())
    (tmp_path / "Checked.cfg").write_text(f"{configuration}\nCONSTANTS Width = {width} Limit = {limit}\n")
    return check_model(tmp_path, module, "Checked", options)


def _write_long_check(folder: Path) -> None:
    """Write the counter toy with more states than a test can explore."""
    (folder / "Counter.tla").write_text((TOYS / "Counter.tla").read_text())
    (folder / "Checked.cfg").write_text("SPECIFICATION Spec\nCONSTANTS Width = 9 Limit = 9\n")


def test_complete_search(tmp_path: Path) -> None:
    report = _counter(
        tmp_path, "SPECIFICATION Spec\nINVARIANT TypeOk\nPROPERTY OneAtATime", ModelCheckOptions(coverage=True)
    )
    assert (report.outcome, report.violated, report.message, report.trace) == (Outcome.OK, "", "", ())
    assert report.progress == Progress(states_generated=39, states_distinct=25, queue_left=0, depth=7)
    fired = {action.name: (action.states_distinct, action.states_generated) for action in report.actions}
    assert fired == {"Raise": (24, 36), "Reset": (0, 2), "Idle": (0, 0)}
    assert {action.module for action in report.actions} == {"Counter"}
    assert report.exit_code == 0
    assert report.seconds > 0


def test_violated_invariant(tmp_path: Path) -> None:
    report = _counter(tmp_path, "SPECIFICATION Spec\nINVARIANT TypeOk NeverFull")
    assert (report.outcome, report.violated) == (Outcome.VIOLATION, "NeverFull")
    assert report.message == "Invariant NeverFull is violated."
    assert [state.number for state in report.trace] == list(range(1, 8))
    assert [state.action for state in report.trace] == ["Initial predicate", *["Raise"] * 6]
    assert report.trace[0].variables == (("counts", "<<0, 0>>"), ("last", "0"))
    assert dict(report.trace[-1].variables)["counts"] == "<<3, 3>>"
    assert report.trace[-1].location.startswith("line ")
    assert report.trace[-1].text.startswith("/\\ counts = <<3, 3>>")


def test_invariant_violated_at_once(tmp_path: Path) -> None:
    report = _counter(tmp_path, "SPECIFICATION Spec\nINVARIANT NeverFull", limit=0)
    assert (report.outcome, report.violated) == (Outcome.VIOLATION, "NeverFull")
    assert [state.variables for state in report.trace] == [(("counts", "<<0, 0>>"), ("last", "0"))]


def test_violated_action_property(tmp_path: Path) -> None:
    report = _counter(tmp_path, "SPECIFICATION Spec\nPROPERTY NeverLower")
    assert (report.outcome, report.violated) == (Outcome.VIOLATION, "NeverLower")
    assert report.trace[-1].action == "Reset"


def test_violated_temporal_property(tmp_path: Path) -> None:
    report = _counter(tmp_path, "SPECIFICATION Spec\n\\* PROPERTY Not\nPROPERTY EventuallyFull\nINVARIANT TypeOk")
    assert (report.outcome, report.violated, report.loop) == (Outcome.VIOLATION, "EventuallyFull", "Stuttering")
    assert report.trace


def test_temporal_property_that_holds(tmp_path: Path) -> None:
    assert _counter(tmp_path, "SPECIFICATION FairSpec\nPROPERTY EventuallyFull").outcome is Outcome.OK


def test_deadlock_and_its_check_switched_off(tmp_path: Path) -> None:
    report = _counter(tmp_path, "INIT Init\nNEXT NextWithoutReset")
    assert (report.outcome, report.violated) == (Outcome.DEADLOCK, "")
    assert len(report.trace) == 7
    unchecked = _counter(tmp_path, "INIT Init\nNEXT NextWithoutReset", ModelCheckOptions(check_deadlock=False))
    assert unchecked.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("module", "configuration", "fragments"),
    [
        ("Counter", "SPECIFICATION Spec\nINVARIANT Broken", ["not in the domain of the function", "in Counter"]),
        ("Counter", "INIT Init\nNEXT Nothing", ["Nothing"]),
        ("Odd", "INIT Init\nNEXT Init", ["Unknown operator: `unknown'", "line 3"]),
    ],
)
def test_evaluation_lookup_and_parse_failures_are_errors(
    tmp_path: Path, module: str, configuration: str, fragments: list[str]
) -> None:
    (tmp_path / "Odd.tla").write_text("---- MODULE Odd ----\nVARIABLE x\nInit == x = unknown\n====\n")
    report = _counter(tmp_path, configuration, module=module)
    assert report.outcome is Outcome.ERROR
    assert [words for words in fragments if words not in report.message] == []


def test_missing_file_is_an_error_before_java_starts(tmp_path: Path) -> None:
    with pytest.raises(ModelCheckError, match=r"Absent\.tla"):
        check_model(tmp_path, "Absent")


def test_time_limit_then_resume_from_the_checkpoint(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "checkpoints", interval_seconds=1)
    reports: list[Progress] = []
    _write_long_check(tmp_path)
    first = check_model(
        tmp_path,
        "Counter",
        "Checked",
        ModelCheckOptions(time_limit_seconds=4, checkpoints=checkpoints),
        on_progress=reports.append,
    )
    assert first.outcome is Outcome.TIME_LIMIT
    assert first.progress.queue_left > 0
    assert first.progress.depth > 1
    assert reports[-1] == first.progress
    assert first.checkpoint is not None
    resumed = check_model(
        tmp_path,
        "Counter",
        "Checked",
        ModelCheckOptions(
            time_limit_seconds=2,
            checkpoints=Checkpoints(tmp_path / "checkpoints", interval_seconds=600, recover=first.checkpoint),
        ),
    )
    assert resumed.outcome is Outcome.TIME_LIMIT
    assert resumed.states_recovered == first.progress.states_distinct
    assert resumed.progress.states_distinct > first.progress.states_distinct


def test_recovering_from_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert latest_checkpoint(tmp_path) is None
    with pytest.raises(ModelCheckError, match="no checkpoint"):
        _counter(
            tmp_path,
            "SPECIFICATION Spec",
            ModelCheckOptions(checkpoints=Checkpoints(tmp_path, recover=tmp_path / "empty")),
        )


def test_simulation_repeats_with_its_seed(tmp_path: Path) -> None:
    options = ModelCheckOptions(simulation=Simulation(behaviours=20, depth=9, seed=3))
    first, second = (_counter(tmp_path, "SPECIFICATION Spec\nINVARIANT NeverFull", options) for _ in range(2))
    assert (first.outcome, first.violated) == (Outcome.VIOLATION, "NeverFull")
    assert first.trace == second.trace
    calm = _counter(tmp_path, "SPECIFICATION Spec\nINVARIANT TypeOk", options)
    assert calm.outcome is Outcome.OK
    assert calm.progress.states_generated > 20


def test_simulation_stops_at_its_time_limit(tmp_path: Path) -> None:
    options = ModelCheckOptions(simulation=Simulation(behaviours=None, depth=9), time_limit_seconds=2)
    assert _counter(tmp_path, "SPECIFICATION Spec", options).outcome is Outcome.TIME_LIMIT


def test_no_files_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    specification = tmp_path / "specification"
    specification.mkdir()
    assert _counter(specification, "SPECIFICATION Spec").outcome is Outcome.OK
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in specification.iterdir()) == ["Checked.cfg", "Counter.tla"]


def test_two_at_a_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reports: list[ModelCheckReport] = []

    def check(name: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        reports.append(_counter(folder, "SPECIFICATION Spec\nINVARIANT TypeOk"))

    threads = [threading.Thread(target=check, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.outcome for report in reports] == [Outcome.OK, Outcome.OK]
    assert [report.progress.states_distinct for report in reports] == [25, 25]
    assert capfd.readouterr() == ("", "")


_LONG_CHECK = """
import signal
import sys
from pathlib import Path
from kraft_spec.tlc.model_check import check_model
# A shell that starts the tests in the background makes its children ignore SIGINT, and they theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
check_model(Path(sys.argv[1]), "Counter", "Checked", on_progress=lambda progress: print("going", flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_caller(tmp_path: Path, number: signal.Signals) -> None:
    if number == signal.SIGKILL and not Path("/usr/bin/setpriv").exists():
        pytest.skip("ending TLC when Python is killed needs setpriv of util-linux")
    _write_long_check(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", _LONG_CHECK, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "going\n"
        children = _children(caller.pid)
        assert len(children) == 1
        caller.send_signal(number)
        caller.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while any(_alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_alive(child) for child in children)
    if number == signal.SIGINT:
        assert caller.returncode != 0
        assert list(temporary.iterdir()) == []


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    file = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(number) for number in file.read_text().split()]


def _alive(process: int) -> bool:
    """True if a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_process_killed_from_outside_is_an_interruption(tmp_path: Path) -> None:
    def kill(_progress: Progress) -> None:
        for child in _children(os.getpid()):
            if "tlc2.TLC" in Path(f"/proc/{child}/cmdline").read_text():
                os.kill(child, signal.SIGKILL)

    _write_long_check(tmp_path)
    report = check_model(tmp_path, "Counter", "Checked", on_progress=kill)
    assert report.outcome is Outcome.INTERRUPTED
    assert report.progress.states_distinct > 0
    assert report.exit_code == -signal.SIGKILL


def test_variables_of_a_state_may_take_several_lines() -> None:
    text = '/\\ log = <<\n   [epoch |-> 1],\n   [epoch |-> 2] >>\n/\\ role = "leader"'
    assert parsed_variables(text) == (
        ("log", "<<\n   [epoch |-> 1],\n   [epoch |-> 2] >>"),
        ("role", '"leader"'),
    )
    assert parsed_variables("only = 1") == (("only", "1"),)


def test_message_cut_off_by_a_kill_is_left_out() -> None:
    lines = ["free\n", "@!@!@STARTMSG 2193:0 @!@!@\n", "done\n"]
    assert [message.text for message in tool_messages(lines)] == ["free"]
    findings = Findings()
    for message in tool_messages([*lines, "@!@!@ENDMSG 2193 @!@!@\n"]):
        findings.add(message)
    assert findings.outcome is Outcome.OK
    assert not findings.finished

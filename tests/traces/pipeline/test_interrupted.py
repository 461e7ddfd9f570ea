"""Two runs on one folder, and a run that is interrupted: one message each, and nothing left behind."""

import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraft_pipeline.failures import OutputError
from kraft_pipeline.session import _without_traceback_of_an_interrupt
from kraft_pipeline.store import Workspace


def test_a_second_run_on_the_same_folder_is_told_of_the_first(tmp_path: Path) -> None:
    first = Workspace.begin(tmp_path / "out", {"command": "run"}, resume=False)
    with first.locked():
        second = Workspace.begin(tmp_path / "out", {"command": "run"}, resume=True)
        with pytest.raises(OutputError, match=r"another run is at work on .*out\.unfinished: wait until it has ended"):
            second.locked().__enter__()
    with second.locked():
        pass


def test_the_traceback_of_an_interrupt_is_not_logged_and_others_are(caplog: pytest.LogCaptureFixture) -> None:
    before = list(logging.getLogger().filters)
    with _without_traceback_of_an_interrupt():
        for kind in (KeyboardInterrupt, ValueError):
            try:
                try:
                    raise kind
                finally:
                    # Spark asks Java once more, whose connection is closed.
                    raise BrokenPipeError
            except BaseException:
                for name in ("root", "py4j.clientserver"):
                    logging.getLogger(name).exception("%s while sending a command", kind.__name__)
    assert [record.getMessage() for record in caplog.records] == ["ValueError while sending a command"] * 2
    assert logging.getLogger().filters == before


INTERRUPTIBLE = """
import signal
import sys
from kraft_cli.cli import main
# A shell that starts the tests in the background has its children ignore SIGINT, and they theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
END_SECONDS = 60.0
"""As long as Spark may take to stop; the whole sweep takes many minutes."""


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [0.0, 2.0, 8.0])
def test_an_interrupted_sweep_ends_its_jobs_and_says_what_is_kept(tmp_path: Path, seconds: float) -> None:
    """At once there is no job yet that could be cancelled; later its workers are busy."""
    command = ["pipeline", "sweep", "-o", str(tmp_path / "out"), "--schedules", "20000"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *command], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as sweep:
        assert sweep.stderr is not None
        assert sweep.stderr.readline() == "starting Spark ...\n"
        assert "sweep ..." in sweep.stderr.readline()
        time.sleep(seconds)
        sweep.send_signal(signal.SIGINT)
        try:
            _, errors = sweep.communicate(timeout=END_SECONDS)
        finally:
            sweep.kill()
    assert sweep.returncode == 130
    *_, kept, last = errors.splitlines()
    assert kept in ("nothing half-written is left", "what is done is kept: the same command with --resume goes on")
    assert last == "interrupted: no result"
    assert "Traceback" not in errors

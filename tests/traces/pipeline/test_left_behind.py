"""What a killed process leaves behind: a folder that the next session removes, a note of the trace under way."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kraft_traces.pipeline.in_progress import ChecksInProgress, TraceInProgress
from kraft_traces.pipeline.session_folder import SessionFolder

_MAKES_A_FOLDER = """
import sys
from kraft_traces.pipeline.session_folder import SessionFolder
folder = SessionFolder()
print(folder.path, flush=True)
sys.stdin.readline()
"""

_DIES_OVER_A_TRACE = """
import os, sys
from pathlib import Path
from kraft_traces.pipeline.in_progress import TraceInProgress, ChecksInProgress
with ChecksInProgress(Path(sys.argv[1])).under_way("one", TraceInProgress("giant.jsonl", 7)) as deaths:
    os._exit(deaths)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_the_folder_of_a_killed_session_is_removed_by_the_next_and_that_of_a_running_one_is_not() -> None:
    command = [sys.executable, "-c", _MAKES_A_FOLDER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        mine = SessionFolder()
        assert theirs.is_dir()
        os.kill(other.pid, signal.SIGKILL)
    third = SessionFolder()
    assert not theirs.exists()
    assert mine.path.is_dir()
    for folder in (mine, third):
        folder.remove()
        assert not folder.path.exists()


def test_the_log_of_a_failed_session_stays_until_somebody_has_read_it() -> None:
    folder = SessionFolder()
    log = folder.path / "spark.log"
    log.write_text("what Spark said")
    (folder.path / "deeper").mkdir()
    (folder.path / "packages.zip").touch()
    folder.leave_only(log)
    other = SessionFolder()
    assert list(folder.path.iterdir()) == [log]
    other.remove()


def test_a_trace_over_which_workers_have_died_is_known_by_name_and_number(tmp_path: Path) -> None:
    in_progress = ChecksInProgress(tmp_path / "under-way")
    in_progress.begin()
    giant, other = TraceInProgress("giant.jsonl", 7), TraceInProgress("a.jsonl", 1)
    for before in range(2):
        command = [sys.executable, "-c", _DIES_OVER_A_TRACE, str(in_progress.folder)]
        assert subprocess.run(command, check=False).returncode == before
    with in_progress.under_way("two", other) as deaths:
        assert deaths == 0
        assert in_progress.found() == [other, giant]
    with pytest.raises(ZeroDivisionError), in_progress.under_way("two", other):
        raise ZeroDivisionError
    assert in_progress.described() == "workers died while they checked giant.jsonl:7"
    in_progress.begin()
    assert (in_progress.found(), in_progress.described()) == ([], "")

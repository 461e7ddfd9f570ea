"""Leftovers of a killed process: a folder that the next session removes, a journal of what it was at."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kraft_pipeline.journal import Journals
from kraft_pipeline.session_folder import log_of, session_folder

_MAKES_A_FOLDER = """
import sys
from kraft_pipeline.session_folder import log_of, session_folder
with session_folder() as folder:
    log_of(folder).touch()
    print(folder, flush=True)
    sys.stdin.readline()
"""

_DIES_OVER_A_TRACE = """
import os, sys
from pathlib import Path
from kraft_pipeline.journal import Journals
with Journals(Path(sys.argv[1]), "this").open() as journal:
    journal.row("small", "small.jsonl:1", lambda deaths: {"deaths": deaths})
    journal.row("giant", "giant.jsonl:7", os._exit)
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
        with session_folder() as mine:
            log_of(mine).touch()
            assert theirs.is_dir()
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            with session_folder() as third:
                assert not theirs.exists()
                assert not log_of(theirs).exists()
                assert mine.is_dir()
                assert log_of(mine).exists()
    assert not mine.exists()
    assert not third.exists()


def test_a_trace_over_which_workers_have_died_is_known_by_name_and_the_verdicts_before_it_are_kept(
    tmp_path: Path,
) -> None:
    journals = Journals(tmp_path / "journals", "this")
    for before in range(2):
        command = [sys.executable, "-c", _DIES_OVER_A_TRACE, str(journals.folder)]
        assert subprocess.run(command, check=False).returncode == before
    with journals.open() as journal:
        assert journal.row("small", "small.jsonl:1", lambda _: {"again": True}) == {"deaths": 0}
        assert journal.row("giant", "giant.jsonl:7", lambda deaths: {"deaths": deaths}) == {"deaths": 2}
        with pytest.raises(ZeroDivisionError):
            journal.row("other", "other.jsonl:1", lambda deaths: {"share": 1 // deaths})
    assert journals.describe_deaths() == "workers died while they checked giant.jsonl:7"
    next_run = Journals(journals.folder)
    assert next_run.describe_deaths() == ""
    with next_run.open() as journal:
        assert journal.row("other", "other.jsonl:1", lambda deaths: {"deaths": deaths}) == {"deaths": 0}
    journals.forget()
    assert journals.describe_deaths() == ""


def test_a_result_that_breaks_off_in_its_journal_is_none(tmp_path: Path) -> None:
    with Journals(tmp_path).open() as journal:
        journal.row("one", "one.jsonl:1", lambda _: {"field": "kept"})
        journal.row("two", "two.jsonl:1", lambda _: {"field": "torn"})
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with Journals(tmp_path).open() as journal:
        assert journal.row("one", "one.jsonl:1", lambda _: {}) == {"field": "kept"}
        assert journal.row("two", "two.jsonl:1", lambda deaths: {"deaths": deaths}) == {"deaths": 0}

"""Two runs on one folder, and a run that is interrupted: one message each, and nothing left behind."""

import logging
from pathlib import Path

import pytest

from kraft_traces.pipeline.failures import OutputError
from kraft_traces.pipeline.session import _without_words_of_an_interrupt
from kraft_traces.pipeline.store import Workspace


def test_a_second_run_on_the_same_folder_is_told_of_the_first(tmp_path: Path) -> None:
    first = Workspace.begin(tmp_path / "out", {"command": "run"}, resume=False)
    with first.locked():
        second = Workspace.begin(tmp_path / "out", {"command": "run"}, resume=True)
        with pytest.raises(OutputError, match=r"another run is at work on .*out\.unfinished: wait until it has ended"):
            second.locked().__enter__()
    with second.locked():
        pass


def test_the_traceback_of_an_interrupt_is_not_logged_and_others_are(caplog: pytest.LogCaptureFixture) -> None:
    with _without_words_of_an_interrupt():
        for kind in (KeyboardInterrupt, ValueError):
            try:
                raise kind
            except BaseException:
                logging.exception("%s while sending a command", kind.__name__)
    assert [record.getMessage() for record in caplog.records] == ["ValueError while sending a command"]
    assert not logging.getLogger().filters

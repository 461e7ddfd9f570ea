"""A kill in the middle of a stage."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from kraft_traces.pipeline.journal import Journals


def below(root: int) -> list[int]:
    """All processes that `root` has started, directly or not."""
    return [process.pid for process in psutil.Process(root).children(recursive=True)]


def python_workers(root: int) -> list[int]:
    """The Python workers of a Spark process: what its daemon has forked."""
    daemons = [one for one in psutil.Process(root).children(recursive=True) if "pyspark.daemon" in one.cmdline()]
    return sorted(one.pid for one in daemons if one.parent() in daemons)


class KillOnce:
    """A notice that kills a process when a stage has come so far."""

    def __init__(self, stage: str, victims: Callable[[], list[int]]) -> None:
        self.killed: int | None = None
        self._stage = stage
        self._victims = victims

    def __call__(self, what: str, done: int, total: int) -> None:
        """Kill the first victim as soon as a task of the stage is done and others are not."""
        if self.killed is None and what.startswith(self._stage) and 0 < done < total:
            victims = self._victims()
            if victims:
                os.kill(victims[0], signal.SIGKILL)
                self.killed = victims[0]


@contextmanager
def deadly(what: str, journals: Path) -> Iterator[list[int]]:
    """Kill every worker that says in its journal that it begins this piece of work, as long as the block runs."""
    over = threading.Event()
    killed: list[int] = []

    def look() -> None:
        while not over.wait(0.005):
            # A journal whose results are somewhere else is removed, while this reads it too.
            with suppress(FileNotFoundError):
                for begun in Journals(journals, "").under_way():
                    if begun.what == what and begun.process not in killed:
                        os.kill(begun.process, signal.SIGKILL)
                        killed.append(begun.process)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def wait_until_gone(processes: list[int]) -> None:
    """Wait for what ends by itself when its parent is gone."""
    _, left = psutil.wait_procs([psutil.Process(one) for one in processes if psutil.pid_exists(one)], timeout=60)
    for process in left:
        process.kill()
    assert not left, "a process outlives its parent"

"""A kill in the middle of a stage."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from kraft_traces.pipeline.journal import Journals


def below(root: int) -> list[int]:
    """All processes that `root` has started, directly or not."""
    return [process.pid for process in psutil.Process(root).children(recursive=True)]


@contextmanager
def deadly(what: str, journals: Path, *, times: int | None = None) -> Iterator[list[int]]:
    """Kill the workers that say in their journal that they begin this piece of work, all or so many, in the block."""
    over = threading.Event()
    killed: list[int] = []

    def look() -> None:
        while len(killed) != times and not over.wait(0.005):
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

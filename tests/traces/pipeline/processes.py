"""A kill in the middle of a stage."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
def deadly(source: str, notes: Path) -> Iterator[list[int]]:
    """Kill every worker that notes that it checks a trace of this source, as long as the block runs."""
    over = threading.Event()
    killed: list[int] = []

    def look() -> None:
        while not over.wait(0.005):
            for note in notes.glob("*"):
                with suppress(OSError, ValueError):
                    named, _, process = json.loads(note.read_bytes())
                    if named == source and process not in killed:
                        os.kill(process, signal.SIGKILL)
                        killed.append(process)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()

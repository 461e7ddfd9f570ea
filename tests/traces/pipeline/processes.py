"""A kill in the middle of a stage."""

import os
import signal
from collections.abc import Callable


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

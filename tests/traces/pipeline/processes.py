"""Processes below a process, and a kill in the middle of a stage."""

import os
import signal
from collections.abc import Callable
from pathlib import Path


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                # The name may hold anything, a closing bracket too.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(folder.name)] = int(fields[1])
    return found


def below(root: int) -> list[int]:
    """All processes that `root` has started, directly or not."""
    parents = _parents()
    found = [root]
    for process in found:
        found.extend(child for child, parent in parents.items() if parent == process)
    return found[1:]


def command(process: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def python_workers(root: int) -> list[int]:
    """The Python workers of a Spark process: what its daemon has forked."""
    daemons = {process for process in below(root) if "pyspark.daemon" in command(process)}
    parents = _parents()
    return sorted(process for process in daemons if parents.get(process) in daemons)


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

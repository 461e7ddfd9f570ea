"""What the processes of a run use, as Linux tells of it: processor time, memory."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kraft_dev.benchmark.pipeline.processes import PROC, below, command, fields, parents

DRIVER, JAVA, DAEMON, WORKER = "driver", "java", "daemon", "worker"
"""The roles: the Python process that was started, Spark's Java process, the parent of the Python workers, and these."""

_LOOK_SECONDS = 0.5
_UTIME, _STIME = 11, 12


@dataclass(frozen=True)
class Usage:
    """What the processes of a role have used.

    Attributes:
        processes: how many there were.
        seconds: processor time of all of them, user's and system's.
        peak_bytes: the most memory in which one of them was resident at any time of its life.
    """

    processes: int
    seconds: float
    peak_bytes: int


def _role(process: int, parent: int, root: int) -> str | None:
    if process == root:
        return DRIVER
    words = command(process)
    if "pyspark.daemon" in words:
        return WORKER if "pyspark.daemon" in command(parent) else DAEMON
    # Other processes (a shell that starts Java, Java that tells its version) live for a moment.
    return JAVA if "org.apache.spark.deploy.SparkSubmit" in words else None


class Watch:
    """Adds up what this process and those below it use; `usage` tells at any time what it was until then."""

    def __init__(self) -> None:
        self._root = os.getpid()
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._role_of: dict[int, str | None] = {}
        self._seconds: dict[int, float] = {}
        self._peak: dict[int, int] = {}
        self._lock = threading.Lock()

    def look(self) -> None:
        """Look at all processes once.  What one does after the last look at it is not known."""
        with self._lock:
            known = parents()
            for process in [self._root, *below(self._root)]:
                role = self._role_of.setdefault(process, _role(process, known.get(process, 0), self._root))
                found = fields(process)
                if role is not None and found:
                    self._seconds[process] = (int(found[_UTIME]) + int(found[_STIME])) / self._ticks
                    self._peak[process] = max(self._peak.get(process, 0), _peak_bytes(process))

    def usage(self) -> dict[str, Usage]:
        """By role, after another look."""
        self.look()
        found: dict[str, Usage] = {}
        for role in (DRIVER, JAVA, DAEMON, WORKER):
            members = [process for process in self._seconds if self._role_of[process] == role]
            seconds = sum(self._seconds[process] for process in members)
            found[role] = Usage(len(members), seconds, max((self._peak[one] for one in members), default=0))
        return found


def _peak_bytes(process: int) -> int:
    try:
        status = (PROC / str(process) / "status").read_text()
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


@contextmanager
def watched_processes() -> Iterator[Watch]:
    """A watch that looks by itself now and then as long as the block runs."""
    watch = Watch()
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            watch.look()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()

"""The processes of a run, as Linux tells of them: who started whom, processor time, memory."""

import os
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

DRIVER, JAVA, DAEMON, WORKER = "driver", "java", "daemon", "worker"
"""The roles: the Python process that was started, Spark's Java process, the parent of the Python workers, and these."""

_PROC = Path("/proc")
_LOOK_SECONDS = 0.5
_UTIME, _STIME, _PARENT = 11, 12, 1


def end_below(root: int, *, but: Collection[int] = ()) -> None:
    """Kill what `root` has started, directly or not, but for some."""
    for process in below(root):
        if process not in but:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


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


def _fields(process: int) -> list[str]:
    """The fields of a process after its name, which may hold anything; none if it is gone."""
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def parents() -> dict[int, int]:
    """The parent of every process; empty where the system does not tell."""
    found: dict[int, int] = {}
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdecimal():
            fields = _fields(int(folder.name))
            if fields:
                found[int(folder.name)] = int(fields[_PARENT])
    return found


def below(root: int) -> list[int]:
    """All processes that `root` has started, directly or not."""
    known = parents()
    found = [root]
    for process in found:
        found.extend(child for child, parent in known.items() if parent == process)
    return found[1:]


def command(process: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return (_PROC / str(process) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


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
                fields = _fields(process)
                if role is not None and fields:
                    self._seconds[process] = (int(fields[_UTIME]) + int(fields[_STIME])) / self._ticks
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
        status = (_PROC / str(process) / "status").read_text()
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

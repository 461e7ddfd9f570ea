"""Temporary folder of a session, removed at its end, or by the next session if this one was killed."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "kraft-spec-spark-"
_LOCK = "running"


@contextmanager
def session_folder() -> Iterator[Path]:
    """Open a new folder with a lock in it, which the system releases when this process ends."""
    remove_stale()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # The lock file gets its name only once it is locked, so no other process finds it unlocked.
    making = folder / f"{_LOCK}.new"
    with making.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        making.rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def log_of(folder: Path) -> Path:
    """Return the path of Spark's log beside the folder; the log of a failed session stays."""
    return folder.with_suffix(".log")


def remove_stale() -> None:
    """Remove the folders and logs of this user's sessions that were killed."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):
            if lock.stat().st_uid == os.getuid() and _is_free(lock):
                shutil.rmtree(lock.parent, ignore_errors=True)
                log_of(lock.parent).unlink(missing_ok=True)


def _is_free(lock: Path) -> bool:
    with lock.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True

"""The temporary folder of a session: gone when the session is, and if that was killed, when the next one begins."""

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
    """A new folder for the time of the block, with a lock in it that the system lets go when this process ends."""
    remove_stale()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    # It gets its name once it is locked: whoever finds it by that name must not find it free.
    making = folder / f"{_LOCK}.new"
    with making.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        making.rename(folder / _LOCK)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def log_of(folder: Path) -> Path:
    """Spark's log, beside the folder: that of a session that failed stays."""
    return folder.with_suffix(".log")


def remove_stale() -> None:
    """Remove the folders, with their logs, of sessions of this user that have ended without doing so."""
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

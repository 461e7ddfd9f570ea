"""The temporary folder of a session: gone when the session is, and if that was killed, when the next one begins."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

_PREFIX = "kraft-spec-spark-"
_LOCK = "running"


class SessionFolder:
    """A new folder, with a lock in it that the system lets go when this process ends, however it does."""

    def __init__(self) -> None:
        """Make the folder, and remove those of this user's sessions that were killed."""
        remove_stale()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # It gets its name once it is locked: whoever finds it by that name must not find it free.
        making = self.path / f"{_LOCK}.new"
        self._lock: IO[bytes] = making.open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        making.rename(self.path / _LOCK)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def leave_only(self, kept: Path) -> None:
        """Remove everything in it but one file.  The folder stays: without its lock it is nobody's to remove."""
        for other in self.path.iterdir():
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            elif other != kept:
                other.unlink()
        self._lock.close()


def remove_stale() -> None:
    """Remove the folders of sessions of this user that have ended without doing so."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):
            if lock.stat().st_uid == os.getuid() and _is_free(lock):
                shutil.rmtree(lock.parent, ignore_errors=True)


def _is_free(lock: Path) -> bool:
    with lock.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True

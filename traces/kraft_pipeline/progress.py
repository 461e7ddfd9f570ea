"""How far a session is, from Spark's own status."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

Notice = Callable[[str, int, int], None]
"""Is told what is under way, how much of it is done, and how much there is; 0 and 0 when it begins."""

_LOOK_SECONDS = 0.3


def no_notice(what: str, done: int, total: int) -> None:
    """For those who do not want to know."""


@contextmanager
def watched(session: Any, what: str, notice: Notice) -> Iterator[None]:
    """Tell how many tasks are done, as long as the block runs."""
    if notice is no_notice:
        yield
        return
    # However soon it is over.
    notice(what, 0, 0)
    over = threading.Event()
    tracker = session.sparkContext.statusTracker()

    def look() -> None:
        # A session that stops under the watcher's eyes is no error of the watcher's.
        with suppress(Exception):
            while not over.wait(_LOOK_SECONDS):
                jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
                stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
                known = [stage for stage in stages if stage is not None]
                if total := sum(stage.numTasks for stage in known):
                    notice(what, sum(stage.numCompletedTasks for stage in known), total)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()

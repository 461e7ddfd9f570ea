"""Progress of a session, from Spark's status."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

Notice = Callable[[str, int, int], None]
"""Function that takes the name of a task, the completed amount and the total; both are 0 at the beginning."""

_LOOK_SECONDS = 0.3


def no_notice(what: str, done: int, total: int) -> None:
    """Ignore progress."""


@contextmanager
def watched(session: Any, what: str, notice: Notice) -> Iterator[None]:
    """Report the number of completed tasks while the block runs."""
    if notice is no_notice:
        yield
        return
    # Report at least once, even for a short block.
    notice(what, 0, 0)
    over = threading.Event()
    tracker = session.sparkContext.statusTracker()

    def look() -> None:
        # A session that stops meanwhile is not an error here.
        with suppress(Exception):
            while not over.wait(_LOOK_SECONDS):
                jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
                stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
                active = [stage for stage in stages if stage is not None]
                if total := sum(stage.numTasks for stage in active):
                    notice(what, sum(stage.numCompletedTasks for stage in active), total)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()

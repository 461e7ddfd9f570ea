"""A stage in chunks: what is lost when a run stops is the chunks under way, and what a worker's death costs is a task.

Several chunks run at a time, so that the cores that one leaves idle at its end already work on the next.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from kraft_traces.pipeline.session import parallelism

CHUNKS_AT_ONCE_MAX = 8

Notice = Callable[[str, int, int], None]
"""Is told what is under way, how much of it is done, and how much there is; 0 and 0 when it begins."""

_LOOK_SECONDS = 0.3


def no_notice(what: str, done: int, total: int) -> None:
    """For those who do not want to know."""


def run_chunks(session: Any, name: str, chunks: Sequence[int], run: Callable[[int], None], notice: Notice) -> None:
    """Run every chunk; the first error stops all of them."""
    if not chunks:
        return
    at_once = min(len(chunks), parallelism(session) + 1, CHUNKS_AT_ONCE_MAX)
    finished = 0

    def what() -> str:
        return name if len(chunks) == 1 else f"{name}, chunk {min(finished + 1, len(chunks))} of {len(chunks)}"

    with watched(session, what, notice), ThreadPoolExecutor(at_once, thread_name_prefix=name) as pool:
        waiting = list(reversed(chunks))
        running: set[Future[None]] = set()
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    running.add(pool.submit(run, waiting.pop()))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    finished += 1
        except BaseException:
            # Again and again: a chunk that is about to begin a job has none yet that could be cancelled.
            while running:
                session.sparkContext.cancelAllJobs()
                running = wait(running, timeout=_LOOK_SECONDS).not_done
            raise


@contextmanager
def watched(session: Any, what: Callable[[], str], notice: Notice) -> Iterator[None]:
    """Tell how many tasks are done, from Spark's own status, as long as the block runs."""
    if notice is no_notice:
        yield
        return
    # However soon it is over.
    notice(what(), 0, 0)
    over = threading.Event()
    tracker = session.sparkContext.statusTracker()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            done = total = 0
            for job in tracker.getActiveJobsIds():
                info = tracker.getJobInfo(job)
                for stage in () if info is None else info.stageIds:
                    state = tracker.getStageInfo(stage)
                    if state is not None:
                        done += state.numCompletedTasks
                        total += state.numTasks
            if total:
                notice(what(), done, total)

    thread = threading.Thread(target=_quietly, args=(look,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _quietly(look: Callable[[], None]) -> None:
    """A session that stops under the watcher's eyes is no error of the watcher's."""
    try:
        look()
    except Exception:
        return

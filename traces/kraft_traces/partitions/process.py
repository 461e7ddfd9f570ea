"""Checking partition traces in another process, because TLC keeps one specification in each.

The process that asks may hold the specification of the quorum; this one holds that of partitions, and is kept for the
next question.
"""

import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class PartitionProcess:
    """A process that is started at the first question; use it in a `with` statement."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def ask(
        self, function: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        """Call a function of a module there, and return or raise what it does; all of it must survive pickling.

        Raises:
            BrokenProcessPool: the process has ended without an answer.
        """
        if self._pool is None:
            # A forked one would share this one's Java virtual machine, which does not work.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, context, initializer=signal.signal, initargs=(signal.SIGINT, _end))
        return self._pool.submit(function, *args, **kwargs).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def _end(*_: object) -> None:
    """End without a word at an interrupt: the process that asks is interrupted too, and says so."""
    raise SystemExit

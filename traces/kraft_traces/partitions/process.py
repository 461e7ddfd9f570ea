"""Separate process for partition traces, because TLC keeps one specification per process.

The calling process may have loaded the specification of the quorum; this one loads that of partitions, and is kept for
later calls.
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
    """Process that is started at the first call; use it in a `with` statement."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def ask(
        self, function: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        """Call a module-level function in the process; arguments and result must survive pickling.

        Raises:
            BrokenProcessPool: the process ended without a result.
        """
        if self._pool is None:
            # A forked process would share the Java virtual machine, which does not work.
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
    """End silently at an interrupt, because the calling process is interrupted too and reports it."""
    raise SystemExit

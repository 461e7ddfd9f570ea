"""Checking partition traces in another process, because TLC keeps one specification in each.

The process that asks may hold the specification of the quorum; this one holds that of partitions, and is kept for the
next question.
"""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_END_SECONDS = 10.0


class PartitionProcessError(RuntimeError):
    """The process has ended in the middle of a question."""


class PartitionProcess:
    """A process that is started at the first question; use it in a `with` statement."""

    def __init__(self) -> None:
        # A forked one would share this one's Java virtual machine, which does not work.
        self._context = multiprocessing.get_context("spawn")
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def ask(
        self, function: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        """Call a function of a module there, and return or raise what it does; all of it must survive pickling.

        Raises:
            PartitionProcessError: the process has ended without an answer.
        """
        connection = self._connection or self._start()
        connection.send((function, args, kwargs))
        try:
            fine, answer = connection.recv()
        except EOFError as error:
            assert self._process is not None
            self._process.join(_END_SECONDS)
            raise PartitionProcessError(f"the process ended with exit code {self._process.exitcode}") from error
        if fine:
            value: Answer = answer
            return value
        raise answer

    def _start(self) -> Connection:
        here, there = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._connection = here
        return here

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is None or self._connection is None:
            return
        # It ends by itself when nobody can ask any more, and cleans up behind TLC.
        self._connection.close()
        self._process.join(_END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(connection: Connection) -> None:
    """Answer questions until there is nobody left to ask them."""
    try:
        while True:
            function, args, kwargs = connection.recv()
            try:
                answer = (True, function(*args, **kwargs))
            except Exception as error:
                answer = (False, error)
            connection.send(answer)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        # The asking process has ended, or is being interrupted and says so itself.
        return

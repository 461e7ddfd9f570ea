"""Signal handling, so that a command that is ended from outside leaves no process behind."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end the run as Ctrl-C does, so that adapters end with it."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def noted_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True once SIGINT, SIGTERM or SIGHUP has come; the run goes on until it looks."""
    is_noted = False

    def note(*_: Any) -> None:
        nonlocal is_noted
        is_noted = True

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield lambda: is_noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

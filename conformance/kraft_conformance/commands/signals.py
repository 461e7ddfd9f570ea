"""A command that is ended from outside leaves no process behind."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a SIGTERM end the run as Ctrl-C does, so that adapters end with it."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

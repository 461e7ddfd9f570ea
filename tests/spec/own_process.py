"""Separate processes for tests that load a specification, because TLC keeps static state."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

TOYS = Path(__file__).resolve().parent / "tla"
"""Folder of the toy specifications."""

SECONDS = 3600
"""Seconds after which a call is considered to hang."""

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


def in_own_process(
    function: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Answer:
    """Call a function of a module in a fresh process, and return its result or raise its exception.

    The function, its arguments and its answer must survive pickling.
    """
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawning) as pool:
        return pool.submit(function, *args, **kwargs).result(timeout=SECONDS)

"""For tests that load a specification: TLC keeps static state, so each needs a process of its own."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

TOYS = Path(__file__).resolve().parent / "tla"
"""Folder of the toy specifications."""

SECONDS = 3600
"""A call that takes longer hangs."""

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


def in_own_process(
    function: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Answer:
    """Call a function of a module in a fresh process, and return or raise what it does.

    The function, its arguments and its answer must survive pickling.
    """
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawning) as pool:
        return pool.submit(function, *args, **kwargs).result(timeout=SECONDS)

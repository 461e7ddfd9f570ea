"""Branch of the reference that decided a step."""

import sys
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from kraft_mutants.attribution.given import AnyGiven, played, player
from kraft_mutants.attribution.probing import Place
from kraft_spec.edits import installed_file

_DISPATCHER = "kraft_reference/replica.py"
"""Module that calls the handler of an event."""


def decided(inputs: AnyGiven) -> tuple[Any, Place | None]:
    """Play a step on the reference; return it with the place where the handler of its event returned.

    The place is None for the partition controllers, where several handlers contribute to a step.

    Raises:
        Exception: the reference cannot handle the event.
    """
    dispatcher = installed_file(_DISPATCHER)
    place: Place | None = None

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal place
        caller = frame.f_back
        if event != "return" or caller is None or Path(caller.f_code.co_filename) != dispatcher:
            return
        file = Path(frame.f_code.co_filename)
        if (
            caller.f_code.co_name in ("_handle", "_receive", "_receive_response")
            and file.parent == dispatcher.parent
            and file != dispatcher
        ):
            place = Place(f"{file.parent.name}/{file.name}", frame.f_lineno)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        step = played(import_module(player(inputs)), inputs)
    finally:
        sys.setprofile(before)
    return step, place

"""Foreign traces, which omit fields."""

import json
from random import Random
from typing import Any

from tests.traces.check.alterations import is_optional, places
from tests.traces.places import FieldPlace, document_of

from kraft_traces.lines import EventLine

SAYS_SOMETHING_BY_ITS_ABSENCE = frozenset(("replica", "crash"))
"""Without the first a line is the network's, without the second the replica did not die."""


def optional_places(line: EventLine) -> list[FieldPlace]:
    """Fields of a line that a foreign line may omit."""
    return [
        place
        for place in places(document_of(line))
        if is_optional(place)
        and place.path[0] not in SAYS_SOMETHING_BY_ITS_ABSENCE
        # A Voters record without its voters is no shorter record but another one.
        and not ("records" in place.path and place.path[-1] == "voters")
    ]


def without(line: EventLine, *left_out: tuple[str | int, ...]) -> bytes:
    """The bytes of a line without some fields."""
    document = document_of(line)
    for path in left_out:
        _remove(document, path)
    return json.dumps(document).encode() + b"\n"


def _remove(document: Any, path: tuple[str | int, ...]) -> None:
    owner = document
    for step in path[:-1]:
        # What it is part of may be left out already.
        if isinstance(step, str) and step not in owner:
            return
        owner = owner[step]
    owner.pop(path[-1], None)
    # An object that says nothing is left out: an empty input is no input.
    if path[:-1] and not owner and isinstance(owner, dict):
        _remove(document, path[:-1])


def with_holes(line: EventLine, chance: Random, share: float) -> bytes:
    """The bytes of a line without a random share of what it may leave out."""
    return without(line, *(place.path for place in optional_places(line) if chance.random() < share))

"""Trace lines in which one field has another value, read off the types of the line, as far as the model can see it."""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

import msgspec
from tests.traces.places import ABSENT, EVENT, Document, FieldPlace, fields_there, other_values, value_at, with_value

from kraft_reference.configuration import Configuration
from kraft_traces.check import Rejection, TraceChecker
from kraft_traces.check.model import trace_model
from kraft_traces.continuity import Continuity
from kraft_traces.encode import encode_line, header_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EventLine
from kraft_traces.own import own_generator
from kraft_traces.parsing import parse_header, parse_line

SETS = frozenset(("voters", "details", "reports", "granted", "rejected", "awaiting", "acknowledged", "fetchers")) | {
    "fetch_offsets",
    "target",
    "awaited_targets",
}
"""Lists that stand for sets and mappings: their order says nothing."""


class Alteration(NamedTuple):
    """Altered line, with the original and the new value."""

    path: str
    raw: bytes
    original: Any
    altered: Any


def places(document: Document) -> Iterator[FieldPlace]:
    """Yield every field of a line, at every depth."""
    return fields_there(document, EVENT)


def is_optional(place: FieldPlace) -> bool:
    """True if a foreign line may omit the field; a missing target of a record means that it has none."""
    return place.removable and (place.path[-1] != "target" or place.path[-2:] == ("voters", "target"))


def altered(document: Document, place: FieldPlace, chance: Random) -> Alteration | None:
    """Return the line with another value at one place; None if there is none that the model could see."""
    original = value_at(document, place.path)
    values = list(other_values(place.kind, original, place.removable))
    if not values:
        return None
    new = chance.choice(values)
    copy = with_value(document, place.path, new)
    if shown(copy) == shown(document):
        return None
    path = ".".join(map(str, place.path))
    return Alteration(path, json.dumps(copy).encode() + b"\n", original, "(absent)" if new is ABSENT else new)


def shown(document: Document) -> Document:
    """Return the part of a line that the model sees: without time, timers, durations and the order of sets."""
    visible = dict(document)
    if "time_ms" in visible:
        visible["time_ms"] = 0
    if "effects" in visible:
        visible["effects"] = [effect for effect in visible["effects"] if effect["kind"] != "StartTimer"]
    ordered: Document = _without_order(visible)
    return ordered


def _without_order(value: Any, name: str | None = None) -> Any:
    if isinstance(value, dict):
        kept_fields = {key: part for key, part in value.items() if (key, part) != ("target", None)}
        return {key: 0 if key == "timeout_ms" else _without_order(part, key) for key, part in kept_fields.items()}
    if isinstance(value, list):
        parts = [_without_order(part) for part in value]
        return sorted(parts, key=json.dumps) if name in SETS else parts
    return value


def line_of(raw: bytes) -> EventLine:
    """The line of altered bytes, its shape checked but nothing else."""
    return msgspec.json.decode(raw, type=EventLine)


def line_from(document: Document) -> EventLine:
    """The line that a JSON document stands for."""
    return line_of(json.dumps(document).encode())


class Prefix:
    """A trace of the reference up to some line, and what an altered version of the next line comes to."""

    def __init__(self, configuration: Configuration, lines: Sequence[EventLine]) -> None:
        """Begin before the first line."""
        self._lines = lines
        header = encode_line(header_line(configuration, own_generator()))
        self.checker = TraceChecker(trace_model(), configuration, "trace", own=True)
        self._continuity = Continuity(parse_header(header, "trace"), "trace")
        self._taken = 0

    def proceed(self) -> None:
        """Take the next line as it is."""
        line = self._lines[self._taken]
        self._taken += 1
        self._continuity.follow(line, self._taken + 1)
        if self.checker.feed(self._taken + 1, line) is not None:
            raise AssertionError(f"the reference is rejected at line {self._taken + 1}")

    def outcome(self, raw: bytes) -> TraceError | Rejection | None:
        """The error or the rejection; None if neither, after which the prefix is of no more use."""
        number = self._taken + 2
        try:
            line = parse_line(raw, "trace", number)
            assert isinstance(line, EventLine)
            deepcopy(self._continuity).follow(line, number)
        except TraceError as error:
            return error
        return self.checker.feed(number, line)

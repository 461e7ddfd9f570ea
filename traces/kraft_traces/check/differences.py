"""Differences between a line and the model, field by field."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from msgspec import UNSET

from kraft_spec.difference import Difference
from kraft_traces.check.observation import (
    EFFECT_FIELDS,
    MESSAGE_FIELDS,
    RECORDS,
    VOTERS,
    VOTERS_FIELDS,
    Canonical,
    Field,
    Fields,
    agrees,
)
from kraft_traces.check.wording import MISSING, NOTHING, plain, record

Expected = Mapping[Any, Any]
"""Fields of a message, an effect or a state in the model."""


_TRACE_NAMES = {name: kind.__struct_config__.tag for kind, (name, _) in EFFECT_FIELDS.items()}
_EFFECT_FIELDS = dict(EFFECT_FIELDS.values())


def members(value: Any) -> tuple[Any, ...]:
    """Return the members of a sequence of the model."""
    assert isinstance(value, tuple), "a sequence"
    return value


def field_differences(
    prefix: str, fields: tuple[Field, ...], expected: Expected, actual: Fields, *, complete: bool
) -> Iterator[Difference]:
    """Yield the fields that differ; a missing field agrees with any value, unless the line has to be `complete`."""
    for path, name, kind in fields:
        wanted, got = expected[name], actual[name]
        if got is UNSET:
            if complete:
                yield Difference(f"{prefix}{path}", kind.worded(wanted), MISSING)
        elif got != wanted and (complete or not agrees(got, wanted)):
            if kind is RECORDS:
                records = members(wanted), members(got)
                yield from _record_differences(f"{prefix}{path}", *records, complete=complete)
            elif kind is VOTERS:
                yield from field_differences(f"{prefix}{path}.", VOTERS_FIELDS, wanted, got, complete=complete)  # type: ignore[arg-type]
            else:
                yield Difference(f"{prefix}{path}", kind.worded(wanted), kind.worded(got))  # type: ignore[arg-type]


def _record_differences(
    path: str, expected: tuple[Any, ...], actual: tuple[Any, ...], *, complete: bool
) -> Iterator[Difference]:
    for index, (wanted, got) in enumerate(zip_longest(expected, actual)):
        if wanted != got and (complete or wanted is None or not agrees(got, wanted)):
            words = [NOTHING if value is None else record(value) for value in (wanted, got)]
            yield Difference(f"{path}[{index}]", *words)


def message_differences(prefix: str, expected: Expected, actual: Fields, *, complete: bool) -> Iterator[Difference]:
    """Yield the differences between a message of the model and one of the line."""
    if expected["type"] != actual["type"]:
        yield Difference(f"{prefix}type", str(expected["type"]), str(actual["type"]))
        return
    yield from field_differences(prefix, MESSAGE_FIELDS[str(actual["type"])], expected, actual, complete=complete)


def effect_differences(
    wanted: Sequence[Expected], actual: Sequence[tuple[int, Fields]], *, complete: bool
) -> Iterator[Difference]:
    """Yield the differences between ordered effects; effects of the same kind and receiver are compared in pairs."""
    places = [place for place, _ in actual]
    got = [effect for _, effect in actual]
    matcher = SequenceMatcher(None, [_label(e) for e in wanted], [_label(e) for e in got], autojunk=False)
    for code, first, last, from_, to in matcher.get_opcodes():
        if code == "equal":
            for index, other in zip(range(first, last), range(from_, to), strict=True):
                yield from _effect_difference(f"effects[{places[other]}]", wanted[index], got[other], complete=complete)
            continue
        pairs = min(last - first, to - from_)
        for index, other in zip(range(first, first + pairs), range(from_, from_ + pairs), strict=True):
            yield from _effect_difference(f"effects[{places[other]}]", wanted[index], got[other], complete=complete)
        for index in range(first + pairs, last):
            place = places[from_ + pairs] if from_ + pairs < len(places) else len(places)
            yield Difference(f"effects[{place}]", effect_text(wanted[index]), NOTHING)
        for other in range(from_ + pairs, to):
            yield Difference(f"effects[{places[other]}]", NOTHING, effect_text(got[other]))


def _label(effect: Fields) -> tuple[Canonical, ...]:
    """Return the key by which effects are paired: the kind, and the receiver of a message if it is known."""
    return (effect["type"], effect["destination"] if effect["type"] in MESSAGE_FIELDS else None)


def _effect_difference(field: str, wanted: Expected, got: Fields, *, complete: bool) -> Iterator[Difference]:
    if wanted["type"] != got["type"]:
        yield Difference(field, effect_text(wanted), effect_text(got))
    elif wanted["type"] in MESSAGE_FIELDS:
        yield from message_differences(f"{field}.message.", wanted, got, complete=complete)
    else:
        fields = _EFFECT_FIELDS[str(wanted["type"])]
        yield from field_differences(f"{field}.", fields, wanted, got, complete=complete)


def effect_text(effect: Fields) -> str:
    """Return a short text of an effect as a trace names it."""
    name = str(effect["type"])
    if name in MESSAGE_FIELDS:
        receiver = "an unknown replica" if effect["destination"] is UNSET else plain(effect["destination"])  # type: ignore[arg-type]
        return f"Send {name} to {receiver}"
    fields = [
        f"{path} {kind.worded(effect[field])}"  # type: ignore[arg-type]
        for path, field, kind in _EFFECT_FIELDS[name]
        if effect[field] is not UNSET
    ]
    return f"{_TRACE_NAMES[name]} {' '.join(fields)}"

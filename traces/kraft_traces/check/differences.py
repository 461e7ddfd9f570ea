"""Where a line and the model disagree, field by field."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import UNSET

from kraft_spec.tlc.values import TlaValue
from kraft_traces.check.observation import EFFECT_FIELDS, MESSAGE_FIELDS, RECORDS, Canonical, Field, agrees
from kraft_traces.check.wording import MISSING, NOTHING, plain, record

Row = tuple[TlaValue, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which a line and the model disagree, in the words of a trace."""

    field: str
    expected: str
    """What the model gives."""
    actual: str
    """What the line says."""


_TRACE_NAMES = {name: kind.__struct_config__.tag for kind, (name, _) in EFFECT_FIELDS.items()}
_EFFECT_FIELDS = dict(EFFECT_FIELDS.values())


def row(value: TlaValue) -> Row:
    """A tuple of the model, known to be one."""
    assert isinstance(value, tuple), "an observation is a tuple"
    return value


def field_differences(
    prefix: str, fields: tuple[Field, ...], expected: Row, actual: tuple[Canonical, ...], *, complete: bool
) -> Iterator[Difference]:
    """Where two rows of fields differ; what is left out agrees with everything, unless the line is to be `complete`."""
    for (name, kind), wanted, got in zip(fields, expected, actual, strict=True):
        if got is UNSET:
            if complete:
                yield Difference(f"{prefix}{name}", kind.worded(wanted), MISSING)
        elif got != wanted and (complete or not agrees(got, wanted)):
            if kind is RECORDS:
                yield from _record_differences(
                    f"{prefix}{name}",
                    row(wanted),
                    row(got),  # type: ignore[arg-type]
                    complete=complete,
                )
            else:
                yield Difference(f"{prefix}{name}", kind.worded(wanted), kind.worded(got))  # type: ignore[arg-type]


def _record_differences(path: str, expected: Row, actual: Row, *, complete: bool) -> Iterator[Difference]:
    for index, (wanted, got) in enumerate(zip_longest(expected, actual)):
        if wanted != got and (complete or wanted is None or not agrees(got, wanted)):
            words = [NOTHING if one is None else record(one) for one in (wanted, got)]
            yield Difference(f"{path}[{index}]", *words)


def message_differences(
    prefix: str, expected: TlaValue, actual: tuple[Canonical, ...], *, complete: bool
) -> Iterator[Difference]:
    """Where a message of the model and one of the line differ."""
    wanted = row(expected)
    if wanted[0] != actual[0]:
        yield Difference(f"{prefix}type", str(wanted[0]), str(actual[0]))
        return
    yield from field_differences(prefix, MESSAGE_FIELDS[str(wanted[0])], wanted[1:], actual[1:], complete=complete)


def effect_differences(
    expected: TlaValue, actual: tuple[tuple[int, tuple[Canonical, ...]], ...], *, complete: bool
) -> Iterator[Difference]:
    """Where the ordered effects differ: those of one kind (and receiver) are set against each other."""
    wanted = [row(effect) for effect in row(expected)]
    places = [place for place, _ in actual]
    got = [effect for _, effect in actual]
    matcher = SequenceMatcher(None, [_label(e) for e in wanted], [_label(e) for e in got], autojunk=False)
    for code, first, last, from_, to in matcher.get_opcodes():
        if code == "equal":
            for one, other in zip(range(first, last), range(from_, to), strict=True):
                yield from _effect_difference(f"effects[{places[other]}]", wanted[one], got[other], complete=complete)
            continue
        pairs = min(last - first, to - from_)
        for one, other in zip(range(first, first + pairs), range(from_, from_ + pairs), strict=True):
            yield from _effect_difference(f"effects[{places[other]}]", wanted[one], got[other], complete=complete)
        for one in range(first + pairs, last):
            place = places[from_ + pairs] if from_ + pairs < len(places) else len(places)
            yield Difference(f"effects[{place}]", effect_text(wanted[one]), NOTHING)
        for other in range(from_ + pairs, to):
            yield Difference(f"effects[{places[other]}]", NOTHING, effect_text(got[other]))


def _label(effect: tuple[Canonical, ...]) -> tuple[Canonical, ...]:
    """What makes two effects the same one: the kind, of a message also its receiver if that is known."""
    return (effect[0], effect[2] if effect[0] in MESSAGE_FIELDS else None)


def _effect_difference(field: str, wanted: Row, got: tuple[Canonical, ...], *, complete: bool) -> Iterator[Difference]:
    if wanted[0] != got[0]:
        yield Difference(field, effect_text(wanted), effect_text(got))
    elif wanted[0] in MESSAGE_FIELDS:
        yield from message_differences(f"{field}.message.", wanted, got, complete=complete)
    else:
        fields = _EFFECT_FIELDS[str(wanted[0])]
        yield from field_differences(f"{field}.", fields, wanted[1:], got[1:], complete=complete)


def effect_text(effect: tuple[Canonical, ...]) -> str:
    """An effect in the words of a trace."""
    name = str(effect[0])
    if name in MESSAGE_FIELDS:
        receiver = "somebody" if effect[2] is UNSET else plain(effect[2])  # type: ignore[arg-type]
        return f"Send {name} to {receiver}"
    shown = [
        f"{field} {kind.worded(value)}"  # type: ignore[arg-type]
        for (field, kind), value in zip(_EFFECT_FIELDS[name], effect[1:], strict=True)
        if value is not UNSET
    ]
    return f"{_TRACE_NAMES[name]} {' '.join(shown)}"

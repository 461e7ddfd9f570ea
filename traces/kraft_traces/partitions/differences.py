"""Where a line and the model disagree, field by field, and which rules speak of that field."""

from collections.abc import Iterator, Mapping

from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.check.differences import Difference

RULES_OF_FIELDS: Mapping[str, tuple[str, ...]] = {
    "replicas": ("partition-reassign.start", "partition-reassign.override", "partition-reassign.cancel"),
    "in_sync": ("partition-reassign.isr-never-empty", "partition-reassign.complete-in-one-step"),
    "adding": ("partition-reassign.start", "partition-reassign.complete-in-one-step"),
    "removing": ("partition-reassign.start", "partition-reassign.complete-in-one-step"),
    "leader": ("partition-reassign.leader-in-removing",),
    "leader_epoch": ("partition-reassign.leader-in-removing",),
    "store": ("partition-reassign.persisted",),
    "partition_epoch": ("partition-reassign.persisted",),
    "store_legacy": ("partition-reassign.legacy-znode",),
    "legacy": ("partition-reassign.legacy-znode",),
    "leader_and_isr": ("partition-reassign.leader-and-isr-fields", "partition-reassign.mixed-versions"),
    "stop_replica": ("partition-reassign.cancel", "partition-reassign.override"),
    "answer": ("partition-reassign.error-order", "partition-reassign.per-partition", "partition-reassign.list"),
    "controller": ("partition-reassign.controller-only",),
    "deleting": ("partition-reassign.unknown-partition",),
}
"""What a reader should look at first, by the last name in a field's path."""

_KEYED = {"store": 1, "partitions": 1, "legacy": 1}
"""Fields that are rows by partition."""


def rules_of(differences: tuple[Difference, ...]) -> tuple[str, ...]:
    """The rules about the fields that differ, in their order."""
    names = [name for one in differences for name in reversed(one.field.split("."))]
    return tuple(dict.fromkeys(rule for name in names for rule in RULES_OF_FIELDS.get(name.split("[")[0], ())))


def observed_differences(expected: Mapping[str, TlaValue], actual: Mapping[str, TlaValue]) -> Iterator[Difference]:
    """Where what the model gives and what the line shows differ."""
    for field, wanted in expected.items():
        got = actual[field]
        if wanted == got:
            continue
        if field in _KEYED and isinstance(wanted, frozenset) and isinstance(got, frozenset):
            yield from _by_partition(field, wanted, got)
        elif isinstance(wanted, frozenset) and isinstance(got, frozenset):
            for one in sorted(wanted - got, key=str):
                yield Difference(field, worded(one), "missing")
            for one in sorted(got - wanted, key=str):
                yield Difference(field, "nothing", worded(one))
        else:
            yield Difference(field, worded(wanted), worded(got))


def _by_partition(field: str, expected: frozenset[TlaValue], actual: frozenset[TlaValue]) -> Iterator[Difference]:
    wanted, got = _rows(expected), _rows(actual)
    for name in sorted({*wanted, *got}, key=str):
        path = f"{field}[{_label(name)}]"
        one, other = wanted.get(name), got.get(name)
        if isinstance(one, Function) and isinstance(other, Function):
            for part in sorted({*one, *other}, key=str):
                if one.get(part) != other.get(part):
                    yield Difference(f"{path}.{part}", worded(one.get(part)), worded(other.get(part)))
        elif one != other:
            yield Difference(path, worded(one), worded(other))


def _rows(rows: frozenset[TlaValue]) -> dict[TlaValue, TlaValue]:
    return {row[0]: row[1] for row in rows if isinstance(row, tuple)}


def _label(name: TlaValue) -> str:
    return "-".join(map(str, name)) if isinstance(name, tuple) else str(name)


def worded(value: object) -> str:
    """A value in the words of a trace."""
    match value:
        case None:
            return "nothing"
        case frozenset():
            return "{" + ", ".join(sorted(worded(one) for one in value)) + "}"
        case tuple():
            return "[" + ", ".join(worded(one) for one in value) + "]"
        case Mapping():
            return " ".join(f"{name} {worded(one)}" for name, one in value.items())
        case _:
            return str(value)

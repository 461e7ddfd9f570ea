"""A vector of the subject `partitions` in words: how it begins, what happens, and what must come of it."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from kraft_conformance.runner.explanation import counted, headed
from kraft_conformance.runner.partition_items import items, label, partition_fields, view_fields
from kraft_traces.partitions.lines import TracedEvent
from kraft_vectors.partitions.format import PartitionVector, PartitionVectorStep
from kraft_vectors.partitions.view_changes import by_name

_LETTERS = {"replicas": "R", "in_sync": "I", "adding": "AR", "removing": "RR"}
"""The lists of a partition as KIP-455 calls them."""


def partition_explained(vector: PartitionVector) -> Iterator[str]:
    """The lines of an explanation."""
    requires, cluster = vector.requires, vector.cluster
    yield from headed(vector, (*requires.kips, *requires.features))
    count = counted(len(vector.history), "event")
    yield f"Brokers {_ids(cluster.brokers)}, controllers {_ids(cluster.controllers)}, after {count}:"
    for field, value in view_fields(vector.before).items():
        if field != "partitions" and value:
            yield f"  {field} {_short(value)}"
    for name, one in by_name(vector.before).items():
        yield f"  {label(name)} {_fields(partition_fields(one))}"
    for number, step in enumerate(vector.steps, 1):
        yield ""
        yield f"{number}. {happening(step.event)}"
        yield from _expected(step)


def happening(event: TracedEvent) -> str:
    """An event in a line."""
    fields = {name: value for name, value in msgspec.to_builtins(event).items() if name not in ("name", "timeout_ms")}
    return f"{type(event).__name__} {_fields(fields)}"


def _expected(step: PartitionVectorStep) -> Iterator[str]:
    for item in items(step.outputs):
        first = [str(one + 1) for one, other in step.before if other == item.position]
        order = f" (after {', '.join(first)})" if first else ""
        yield f"   [{item.position + 1}] {item.name}{': ' if item.fields else ''}{_fields(item.fields)}{order}"
    if step.refusal is not None:
        yield f"   refused: {step.refusal}"
    changes = view_fields(step.state)
    rows = changes.pop("partitions", {})
    for field, value in changes.items():
        yield f"   {field} becomes {_short(value)}"
    for name, row in rows.items():
        yield f"   {name} becomes {_fields(row)}"
    if not changes and not rows:
        yield "   the state stays as it is"
    for one in step.latitude:
        others = "in any order" if one.any_of is UNSET else f"or {' or '.join(map(str, one.any_of))}"
        of = "" if one.partition is None else f" of {label(one.partition)}"
        yield f"   {one.field}{of} {others}: {one.reason}"


def _ids(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))


def _fields(fields: Any) -> str:
    return ", ".join(f"{_LETTERS.get(name, name)} {_short(value)}" for name, value in fields.items())


def _short(value: Any) -> str:
    """A value as the texts write it: a partition as `A-0`."""
    if isinstance(value, list | tuple):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], int):
            return f"{value[0]}-{value[1]}"
        return f"[{', '.join(map(_short, value))}]"
    if isinstance(value, dict):
        return f"({_fields(value)})"
    return value if isinstance(value, str) else json.dumps(value)

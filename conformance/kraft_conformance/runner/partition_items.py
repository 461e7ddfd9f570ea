"""Effects and states of controllers as named items with plain fields, for comparison."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET

from kraft_conformance.runner.plain import plain
from kraft_traces.partitions.lines import Name
from kraft_vectors.partitions.shown import (
    ControllerView,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownPartition,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)

STORED = (ShownStorePartitions, ShownStoreReassignPartitions)
"""Effects that are observable from level `effects` on."""

Fields: TypeAlias = Mapping[str, Any]


class Item(NamedTuple):
    """Part of an effect; each partition of a write is an item of its own."""

    name: str
    """Name that distinguishes the item from all others of a step."""
    kind: str
    partition: Name | None
    fields: Fields
    position: int
    """Position of its effect in the step."""


def label(name: Name) -> str:
    """Return a partition as texts write it, such as `A-0`."""
    return f"{name[0]}-{name[1]}"


def plain_fields(part: msgspec.Struct) -> dict[str, Any]:
    """Return the present fields as JSON values; lists of partitions become objects by name."""
    fields: dict[str, Any] = plain(part)
    if "reassignments" in fields:
        fields["reassignments"] = {label(row.pop("partition")): row for row in fields["reassignments"]}
    if "results" in fields:
        results = {label(partition): error for partition, error in fields["results"]}
        # If a request names a partition twice, each result counts.
        fields["results"] = results if len(results) == len(fields["results"]) else fields["results"]
    return fields


def partition_fields(partition: ShownPartition) -> dict[str, Any]:
    """Return the present fields of a partition, without its name."""
    fields = plain_fields(partition)
    fields.pop("name")
    return fields


def items(effects: Iterable[ShownEffect]) -> Iterator[Item]:
    """Yield the items of a step in their order."""
    for position, effect in enumerate(effects):
        kind = str(type(effect).__struct_config__.tag)
        match effect:
            case ShownStorePartitions(partitions):
                for partition in partitions:
                    yield Item(
                        f"{kind} {label(partition.name)}", kind, partition.name, partition_fields(partition), position
                    )
            case ShownLeaderAndIsr() | ShownStopReplica():
                fields = plain_fields(effect)
                for name in ("type", "broker", "partition"):
                    fields.pop(name)
                yield Item(sent_to(kind, effect.partition, effect.broker), kind, effect.partition, fields, position)
            case _:
                fields = plain_fields(effect)
                fields.pop("type")
                yield Item(kind, kind, None, fields, position)


def sent_to(kind: str, partition: Name, broker: int) -> str:
    """Return the name of a request to a broker about a partition."""
    return f"{kind} {label(partition)} to {broker}"


def view_fields(view: ControllerView) -> dict[str, Any]:
    """Return the present fields of a view; partitions by name."""
    fields = plain_fields(view)
    if view.partitions is not UNSET:
        fields["partitions"] = {label(partition.name): partition_fields(partition) for partition in view.partitions}
    return fields

"""What the controllers do and know as named items with plain fields, so that two of them can be compared."""

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
"""What is shown from the level `effects` on."""

Fields: TypeAlias = Mapping[str, Any]


class Item(NamedTuple):
    """One thing that is done: of what is stored in one step each partition is one."""

    name: str
    """What tells it apart from all others of a step."""
    kind: str
    partition: Name | None
    fields: Fields
    position: int
    """Of its effect in the step."""


def label(name: Name) -> str:
    """A partition as the texts write it, `A-0`."""
    return f"{name[0]}-{name[1]}"


def plain_fields(part: msgspec.Struct) -> dict[str, Any]:
    """The fields that are there as JSON values; what is said of partitions, by their names."""
    fields: dict[str, Any] = plain(part)
    if "reassignments" in fields:
        fields["reassignments"] = {label(row.pop("partition")): row for row in fields["reassignments"]}
    if "results" in fields:
        results = {label(partition): error for partition, error in fields["results"]}
        # Of a request that names a partition twice each result counts.
        fields["results"] = results if len(results) == len(fields["results"]) else fields["results"]
    return fields


def partition_fields(partition: ShownPartition) -> dict[str, Any]:
    """The fields of a partition that are there, without its name."""
    fields = plain_fields(partition)
    fields.pop("name")
    return fields


def items(effects: Iterable[ShownEffect]) -> Iterator[Item]:
    """The items of a step in their order."""
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
    """The name of what a broker is sent about a partition."""
    return f"{kind} {label(partition)} to {broker}"


def view_fields(view: ControllerView) -> dict[str, Any]:
    """The fields of a view that are there; partitions by their names."""
    fields = plain_fields(view)
    if view.partitions is not UNSET:
        fields["partitions"] = {label(partition.name): partition_fields(partition) for partition in view.partitions}
    return fields

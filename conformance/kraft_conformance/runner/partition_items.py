"""What the controllers do and know as named items with plain fields, so that two of them can be compared."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET

from kraft_conformance.protocol.partitions import (
    ControllerView,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownPartition,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)
from kraft_traces.partitions.lines import Name

_SETS = frozenset({"in_sync", "adding", "removing", "alive", "deleting", "legacy", "targets", "results"})
"""Lists in which the order says nothing."""

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
    """The fields that are there as JSON values; those that are sets are sorted."""
    return {name: _plain(name, value) for name, value in msgspec.to_builtins(part).items()}


def _plain(name: str, value: Any) -> Any:
    if name == "reassignments":
        rows = [{key: _plain(key, one) for key, one in row.items()} for row in value]
        return {label(row.pop("partition")): row for row in rows}
    if name == "results" and len({label(partition) for partition, _ in value}) == len(value):
        return {label(partition): error for partition, error in value}
    if isinstance(value, list | tuple):
        return sorted(value, key=_place) if name in _SETS else list(value)
    return value


def _place(one: Any) -> Any:
    """Ids go by their number; rows begin with a text and a number, and go by what they look like."""
    return one if isinstance(one, int) else str(one)


def partition_fields(one: ShownPartition) -> dict[str, Any]:
    """The fields of a partition that are there, without its name."""
    fields = plain_fields(one)
    fields.pop("name")
    return fields


def items(effects: Iterable[ShownEffect]) -> Iterator[Item]:
    """The items of a step in their order."""
    for position, effect in enumerate(effects):
        kind = str(type(effect).__struct_config__.tag)
        match effect:
            case ShownStorePartitions(partitions):
                for one in partitions:
                    yield Item(f"{kind} {label(one.name)}", kind, one.name, partition_fields(one), position)
            case ShownLeaderAndIsr() | ShownStopReplica():
                fields = plain_fields(effect)
                for known in ("type", "broker", "partition"):
                    fields.pop(known)
                yield Item(told(kind, effect.partition, effect.broker), kind, effect.partition, fields, position)
            case _:
                fields = plain_fields(effect)
                fields.pop("type")
                yield Item(kind, kind, None, fields, position)


def told(kind: str, partition: Name, broker: int) -> str:
    """The name of what a broker is told about a partition."""
    return f"{kind} {label(partition)} to {broker}"


def view_fields(view: ControllerView) -> dict[str, Any]:
    """The fields of a view that are there; partitions by their names."""
    fields = plain_fields(view)
    if view.partitions is not UNSET:
        fields["partitions"] = {label(one.name): partition_fields(one) for one in view.partitions}
    return fields

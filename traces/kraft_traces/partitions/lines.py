"""Types of the lines of a kraft-partition-trace/1.

A partition is named by topic and number, as in `["A", 0]`; a set of ids is an ascending list.
Events and effects are derived from the reference's declarations, with the same names and fields in the same order.
"""

from collections.abc import Mapping
from inspect import getdoc
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from kraft_partitions import effects, events
from kraft_partitions.outcome import Refusal
from kraft_partitions.partition import Partition, TopicPartition
from kraft_traces.lines import SpecHash
from kraft_traces.values import ReplicaId, SmallCount

SCHEMA: Literal["kraft-partition-trace/1"] = "kraft-partition-trace/1"

Id: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""Id of a broker or a node, or an epoch, of any value that the model's integers can represent."""
Name: TypeAlias = tuple[str, Id]
Ids: TypeAlias = tuple[Id, ...]
Target: TypeAlias = tuple[Name, Ids]


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Part of a line, which has exactly its declared fields."""


# ---------------------------------------------------------------------------------------------------------
# Parts.
# ---------------------------------------------------------------------------------------------------------

OF_PARTITIONS: Mapping[str, Any] = {
    "leader": ReplicaId | None,
    "leader_epoch": SmallCount,
    "partition_epoch": SmallCount,
}
"""Types of the fields of a partition; a request may have any number."""


def line_type(hint: Any, types: Mapping[Any, Any]) -> Any:
    """Convert a type of the reference to that of lines; `types` maps types that have their own in lines."""
    if hint in types:
        return types[hint]
    parts: Any = tuple([part if part is Ellipsis else line_type(part, types) for part in get_args(hint)])
    if get_origin(hint) is frozenset:
        return tuple.__class_getitem__((*parts, ...))
    if get_origin(hint) is tuple:
        return tuple.__class_getitem__(parts)
    if get_origin(hint) in (Union, UnionType):
        return Union.__getitem__(parts)
    return hint


def derive_type(
    kind: Any,
    base: type[Struct],
    known: Mapping[Any, Any],
    more: Mapping[str, Any],
    *,
    name: str = "",
    may_be_absent: frozenset[str] = frozenset(),
    **options: Any,
) -> type[Struct]:
    """Derive the type in lines of an event, an effect or a value of the reference.

    Args:
        kind: its class in the reference.
        base: base class of the derived type.
        known: types of parts by those of the reference.
        more: types of fields by name, if the reference's type is not enough.
        name: name of the derived type, by default that of the class.
        may_be_absent: optional fields.
        options: options of msgspec.
    """
    fields: list[Any] = []
    for field, hint in get_type_hints(kind).items():
        type_ = more.get(field) or line_type(hint, known)
        if field in more and type(None) in get_args(hint):
            type_ = type_ | None
        fields.append((field, type_ | UnsetType, UNSET) if field in may_be_absent else (field, type_))
    doc = {"__doc__": getdoc(kind)}
    return defstruct(
        name or kind.__name__, fields, bases=(base,), namespace=doc, module=__name__, frozen=True, **options
    )


class _Named(_Part, frozen=True):
    name: Name


class _Event(_Part, frozen=True, tag_field="name"):
    """Event."""


class _Effect(_Part, frozen=True, tag_field="type"):
    """Effect."""


VALUES: Mapping[Any, Any] = {int: Id, TopicPartition: Name}
"""Types of plain values in lines."""
_TRACED_PARTITION = derive_type(Partition, _Named, VALUES, OF_PARTITIONS, name="TracedPartition")
_TRACED_REASSIGNMENT = derive_type(effects.Reassignment, _Part, VALUES, {}, name="TracedReassignment")
_PARTS = {
    **VALUES,
    tuple[TopicPartition, Partition]: _TRACED_PARTITION,
    effects.Reassignment: _TRACED_REASSIGNMENT,
}
_EVENTS = [derive_type(kind, _Event, _PARTS, {}) for kind in get_args(events.Event)]
_EFFECTS = [derive_type(kind, _Effect, _PARTS, OF_PARTITIONS) for kind in get_args(effects.Effect)]

if TYPE_CHECKING:
    TracedPartition: TypeAlias = Any
    TracedReassignment: TypeAlias = Any
    TracedEvent: TypeAlias = Any
    TracedEffect: TypeAlias = Any

    def __getattr__(name: str) -> Any: ...

else:
    TracedPartition, TracedReassignment = _TRACED_PARTITION, _TRACED_REASSIGNMENT
    TracedEvent = Union[tuple(_EVENTS)]  # noqa: UP007 - of as many as there are
    """Event with its fields."""
    TracedEffect = Union[tuple(_EFFECTS)]  # noqa: UP007
    """Entry of the `effects` of a line."""
    globals().update({kind.__name__: kind for kind in (*_EVENTS, *_EFFECTS)})

# ---------------------------------------------------------------------------------------------------------
# Lines.
# ---------------------------------------------------------------------------------------------------------


class TracedState(_Part, frozen=True):
    """State of the controller after an event."""

    controller: Id
    alive: Ids
    deleting: tuple[str, ...]
    legacy: tuple[Target, ...]
    partitions: tuple[TracedPartition, ...]


class PartitionEventLine(_Part, frozen=True):
    """Event with its outcome and the state after it."""

    sequence: Annotated[int, Meta(ge=1)]
    event: TracedEvent
    refusal: Refusal | None
    effects: tuple[TracedEffect, ...]
    state: TracedState


class PartitionHeader(_Part, frozen=True, kw_only=True):
    """Cluster at the beginning of the trace, with all brokers alive and in sync."""

    schema: Literal["kraft-partition-trace/1"]
    generator: str
    seed: Id | None
    profile: str
    """Name of the settings of the open decisions of KIP-455."""
    spec_hash: SpecHash | UnsetType = UNSET
    """Hash of the model that the trace was written for."""
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """Nodes; the first one is the initial controller."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]
    switched_off: tuple[str, ...]
    """Ids of the rules that this run omits on purpose."""

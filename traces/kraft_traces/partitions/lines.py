"""The lines of a kraft-partition-trace/1: names and order are the reference's, and a set of ids is a list that ascends.

A partition is named by topic and number, as in `["A", 0]`.
The parts of a line have the fields that the reference declares, and their names: an event or an effect that is added
there is here by that.
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
"""Of a broker or a node, or an epoch, as a request may have it: what the model's integers can hold."""
Name: TypeAlias = tuple[str, Id]
Ids: TypeAlias = tuple[Id, ...]
Target: TypeAlias = tuple[Name, Ids]


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    """What has all its fields and no others."""


# ---------------------------------------------------------------------------------------------------------
# Parts.
# ---------------------------------------------------------------------------------------------------------

OF_PARTITIONS: Mapping[str, Any] = {
    "leader": ReplicaId | None,
    "leader_epoch": SmallCount,
    "partition_epoch": SmallCount,
}
"""What is true of a partition, by field; a request may say anything."""


def checked(hint: Any, known: Mapping[Any, Any]) -> Any:
    """A type of the reference as lines have it; `known` are its parts that have types of their own there."""
    if hint in known:
        return known[hint]
    parts: Any = tuple([one if one is Ellipsis else checked(one, known) for one in get_args(hint)])
    if get_origin(hint) is frozenset:
        return tuple.__class_getitem__((*parts, ...))
    if get_origin(hint) is tuple:
        return tuple.__class_getitem__(parts)
    if get_origin(hint) in (Union, UnionType):
        return Union.__getitem__(parts)
    return hint


def derived(
    kind: Any,
    base: type[Struct],
    known: Mapping[Any, Any],
    more: Mapping[str, Any],
    *,
    name: str = "",
    may_be_absent: frozenset[str] = frozenset(),
    **options: Any,
) -> type[Struct]:
    """The form of an event, an effect or a value of the reference.

    Args:
        kind: its class there.
        base: of the form.
        known: the types of parts, by those of the reference.
        more: the types of fields by their names, where those of the reference do not say everything.
        name: of the form, if not that of the class.
        may_be_absent: fields that need not be shown.
        options: of msgspec.
    """
    fields: list[Any] = []
    for field, hint in get_type_hints(kind).items():
        shown = more.get(field) or checked(hint, known)
        if field in more and type(None) in get_args(hint):
            shown = shown | None
        fields.append((field, shown | UnsetType, UNSET) if field in may_be_absent else (field, shown))
    doc = {"__doc__": getdoc(kind)}
    return defstruct(
        name or kind.__name__, fields, bases=(base,), namespace=doc, module=__name__, frozen=True, **options
    )


class _Named(_Part, frozen=True):
    name: Name


class _Event(_Part, frozen=True, tag_field="name"):
    """What happens."""


class _Effect(_Part, frozen=True, tag_field="type"):
    """What is done."""


VALUES: Mapping[Any, Any] = {int: Id, TopicPartition: Name}
"""How lines have what is no part of its own."""
_TRACED_PARTITION = derived(Partition, _Named, VALUES, OF_PARTITIONS, name="TracedPartition")
_TRACED_REASSIGNMENT = derived(effects.Reassignment, _Part, VALUES, {}, name="TracedReassignment")
_PARTS = {
    **VALUES,
    tuple[TopicPartition, Partition]: _TRACED_PARTITION,
    effects.Reassignment: _TRACED_REASSIGNMENT,
}
_EVENTS = [derived(kind, _Event, _PARTS, {}) for kind in get_args(events.Event)]
_EFFECTS = [derived(kind, _Effect, _PARTS, OF_PARTITIONS) for kind in get_args(effects.Effect)]

if TYPE_CHECKING:
    TracedPartition: TypeAlias = Any
    TracedReassignment: TypeAlias = Any
    TracedEvent: TypeAlias = Any
    TracedEffect: TypeAlias = Any

    def __getattr__(name: str) -> Any: ...

else:
    TracedPartition, TracedReassignment = _TRACED_PARTITION, _TRACED_REASSIGNMENT
    TracedEvent = Union[tuple(_EVENTS)]  # noqa: UP007 - of as many as there are
    """What happened, with the fields of its own."""
    TracedEffect = Union[tuple(_EFFECTS)]  # noqa: UP007
    """An entry of the `effects` of a line."""
    globals().update({kind.__name__: kind for kind in (*_EVENTS, *_EFFECTS)})

# ---------------------------------------------------------------------------------------------------------
# Lines.
# ---------------------------------------------------------------------------------------------------------


class TracedState(_Part, frozen=True):
    """The state after an event, as the controller has it."""

    controller: Id
    alive: Ids
    deleting: tuple[str, ...]
    legacy: tuple[Target, ...]
    partitions: tuple[TracedPartition, ...]


class PartitionEventLine(_Part, frozen=True):
    """One event, what came of it, and the state after."""

    sequence: Annotated[int, Meta(ge=1)]
    event: TracedEvent
    refusal: Refusal | None
    effects: tuple[TracedEffect, ...]
    state: TracedState


class PartitionHeader(_Part, frozen=True, kw_only=True):
    """What the cluster was when the trace began: everybody alive and in sync."""

    schema: Literal["kraft-partition-trace/1"]
    generator: str
    seed: Id | None
    profile: str
    """Name of the answers to the open points of KIP-455."""
    spec_hash: SpecHash | UnsetType = UNSET
    """Of the model that the trace was written for."""
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """The first one is controller to begin with."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]
    switched_off: tuple[str, ...]
    """Ids of the rules that this run leaves out on purpose."""

"""What kraft-adapter/1 and kraft-partition-vector/1 show of partitions: the cluster, its state and effects.

Events, effects and fields of the state are those of kraft-partition-trace/1, under the same names.
What an adapter may leave out has the default `UNSET` here, where a trace must have it.
"""

from typing import TYPE_CHECKING, Any, TypeAlias, Union, get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_partitions import effects
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.partition import Partition, TopicPartition
from kraft_traces.partitions.encode import header_of
from kraft_traces.partitions.lines import (
    OF_PARTITIONS,
    VALUES,
    Id,
    Ids,
    Name,
    Target,
    TracedReassignment,
    derive_type,
)
from kraft_traces.values import ReplicaId


class PartitionCluster(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of a partition trace's header that say what the cluster is: everybody alive and in sync."""

    profile: str
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """The first one is controller to begin with."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]


def partition_cluster_of(configuration: PartitionConfiguration) -> PartitionCluster:
    """The protocol's form of a configuration.

    Raises:
        ValueError: the profile has no name.
    """
    header = header_of(configuration)
    return PartitionCluster(**{name: getattr(header, name) for name in PartitionCluster.__struct_fields__})


_MAY_BE_ABSENT = frozenset({*Partition._fields, "version"})
"""How a partition is, which an adapter need not show."""


class _NamedPartition(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class _Effect(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What is done."""


_SHOWN_PARTITION = derive_type(
    Partition, _NamedPartition, VALUES, OF_PARTITIONS, name="ShownPartition", may_be_absent=_MAY_BE_ABSENT
)
_PARTS = {
    **VALUES,
    tuple[TopicPartition, Partition]: _SHOWN_PARTITION,
    effects.Reassignment: TracedReassignment,
}
_SHOWN = {
    f"Shown{kind.__name__}": derive_type(
        kind,
        _Effect,
        _PARTS,
        OF_PARTITIONS,
        name=f"Shown{kind.__name__}",
        may_be_absent=_MAY_BE_ABSENT,
        tag=kind.__name__,
    )
    for kind in get_args(effects.Effect)
}

if TYPE_CHECKING:
    ShownPartition: TypeAlias = Any
    ShownEffect: TypeAlias = Any

    def __getattr__(name: str) -> Any: ...

else:
    ShownPartition = _SHOWN_PARTITION
    """A partition, as far as it is shown."""
    ShownEffect = Union[tuple(_SHOWN.values())]  # noqa: UP007 - of as many as there are
    """What a controller of partitions did, as an adapter shows it."""
    globals().update(_SHOWN)


class ControllerView(Struct, frozen=True, forbid_unknown_fields=True):
    """The state, as the controller has it and as far as it is shown."""

    controller: Id | UnsetType = UNSET
    alive: Ids | UnsetType = UNSET
    deleting: tuple[str, ...] | UnsetType = UNSET
    legacy: tuple[Target, ...] | UnsetType = UNSET
    partitions: tuple[ShownPartition, ...] | UnsetType = UNSET

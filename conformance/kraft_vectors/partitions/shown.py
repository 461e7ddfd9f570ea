"""Types of the subject `partitions` in kraft-adapter/1 and kraft-partition-vector/1: cluster, state and effects.

Events, effects and fields of the state have their names of kraft-partition-trace/1.  Fields that an adapter may omit
have the default `UNSET`.
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
    """Fields of a partition trace's header that describe the cluster; all replicas are alive and in sync."""

    profile: str
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """Controllers; the first one is active at the beginning."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]


def partition_cluster_of(configuration: PartitionConfiguration) -> PartitionCluster:
    """Return the cluster of a configuration.

    Raises:
        ValueError: the profile has no name.
    """
    header = header_of(configuration)
    return PartitionCluster(**{name: getattr(header, name) for name in PartitionCluster.__struct_fields__})


_MAY_BE_ABSENT = frozenset({*Partition._fields, "version"})
"""Fields of a partition that an adapter may omit."""


class _NamedPartition(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class _Effect(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """An effect."""


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
    """The observable fields of a partition."""
    ShownEffect = Union[tuple(_SHOWN.values())]  # noqa: UP007 - of as many as there are
    """An effect of a partition controller, as an adapter shows it."""
    globals().update(_SHOWN)


class ControllerView(Struct, frozen=True, forbid_unknown_fields=True):
    """The controller's state, as far as it is shown."""

    controller: Id | UnsetType = UNSET
    alive: Ids | UnsetType = UNSET
    deleting: tuple[str, ...] | UnsetType = UNSET
    legacy: tuple[Target, ...] | UnsetType = UNSET
    partitions: tuple[ShownPartition, ...] | UnsetType = UNSET

"""The types of a kraft-partition-vector/1.  The order of the fields here is their order in a file."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_partitions.errors import Error
from kraft_partitions.outcome import Refusal
from kraft_traces.partitions.lines import Name, TracedEvent
from kraft_traces.values import Count, ReplicaId
from kraft_vectors.features import Feature, Kip, Level, Subject
from kraft_vectors.manifest import VectorId
from kraft_vectors.partitions.shown import ControllerView, PartitionCluster, ShownEffect

PARTITION_SCHEMA: Literal["kraft-partition-vector/1"] = "kraft-partition-vector/1"


class PartitionRequires(Struct, frozen=True, forbid_unknown_fields=True):
    """Requirements on the implementation."""

    kips: tuple[Kip, ...]
    """KIPs that it must implement at least in part."""
    profiles: tuple[str, ...]
    """Profiles with this outcome; the implementation must have one of them."""
    features: tuple[Feature, ...]


class PartitionVectorEvent(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event at the controllers."""

    event: TracedEvent


class PartitionLatitude(Struct, frozen=True, forbid_unknown_fields=True):
    """Allowed alternative: a field of a partition, the same wherever the step shows it, or an error of a response."""

    partition: Name | None
    """Partition; null for the error of a whole request."""
    field: Literal["leader", "replicas", "error"]
    reason: str
    any_of: tuple[ReplicaId | Error, ...] | UnsetType = UNSET
    """Other allowed values."""
    any_order: bool = False
    """True if the same replicas are allowed in every order."""


class PartitionVectorStep(PartitionVectorEvent, frozen=True, kw_only=True):
    """An event and its expected outcome."""

    outputs: tuple[ShownEffect, ...]
    """Effects as a multiset; `before` has their order."""
    before: tuple[tuple[Count, Count], ...]
    """Positions in `outputs`: the first comes before the second, if both are about the same partition."""
    refusal: Refusal | None
    state: ControllerView
    """Changed fields of the state; all others stay unchanged."""
    latitude: tuple[PartitionLatitude, ...] = ()


class PartitionVector(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A vector of the subject `partitions`."""

    subject: ClassVar[Subject] = "partitions"

    schema: Literal["kraft-partition-vector/1"]
    id: VectorId
    title: str
    source: str
    """Scenario or script that it was made from."""
    rules: Annotated[tuple[str, ...], Meta(min_length=1)]
    level: Level
    requires: PartitionRequires
    cluster: PartitionCluster
    history: tuple[PartitionVectorEvent, ...]
    """Events from the beginning of the cluster to `before`."""
    before: ControllerView
    """State before the steps, with every field."""
    steps: Annotated[tuple[PartitionVectorStep, ...], Meta(min_length=1)]

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
    """What an implementation must have to be asked."""

    kips: tuple[Kip, ...]
    """Each at least in part."""
    profiles: tuple[str, ...]
    """Those under which this is the outcome; an implementation has one of them."""
    features: tuple[Feature, ...]


class PartitionVectorEvent(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event at the controllers."""

    event: TracedEvent


class PartitionLatitude(Struct, frozen=True, forbid_unknown_fields=True):
    """What may be otherwise: a field of a partition, the same wherever the step shows it, or an error of an answer."""

    partition: Name | None
    """null for the error of a request as a whole."""
    field: Literal["leader", "replicas", "error"]
    reason: str
    any_of: tuple[ReplicaId | Error, ...] | UnsetType = UNSET
    """The values that are right as well."""
    any_order: bool = False
    """Whether the same replicas are right in every order."""


class PartitionVectorStep(PartitionVectorEvent, frozen=True, kw_only=True):
    """An event, and what must come of it."""

    outputs: tuple[ShownEffect, ...]
    """A multiset: their order says nothing, `before` does."""
    before: tuple[tuple[Count, Count], ...]
    """Positions in `outputs`: the first comes before the second, as far as they are about the same partition."""
    refusal: Refusal | None
    state: ControllerView
    """The fields that have another value afterwards; all others keep theirs."""
    latitude: tuple[PartitionLatitude, ...] = ()


class PartitionVector(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One vector."""

    subject: ClassVar[Subject] = "partitions"

    schema: Literal["kraft-partition-vector/1"]
    id: VectorId
    title: str
    source: str
    """The scenario or script that it was made by."""
    rules: Annotated[tuple[str, ...], Meta(min_length=1)]
    level: Level
    requires: PartitionRequires
    cluster: PartitionCluster
    history: tuple[PartitionVectorEvent, ...]
    """From the beginning of the cluster to `before`."""
    before: ControllerView
    """With every field."""
    steps: Annotated[tuple[PartitionVectorStep, ...], Meta(min_length=1)]

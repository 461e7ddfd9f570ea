"""The types of a kraft-vector/1.  The order of the fields here is their order in a file."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.values import Alternative, MaySend, MayStart
from kraft_traces.checkpoint_types import TracedReplicaState
from kraft_traces.effects import TracedEffect
from kraft_traces.lines import TracedCrash, TracedInput
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import Count, KraftVersion, ReplicaId
from kraft_traces.vocabulary import EventName
from kraft_vectors.cluster import Cluster
from kraft_vectors.draw import TracedDraw
from kraft_vectors.features import Feature, Kip, Level, Subject
from kraft_vectors.manifest import VectorId


class Requires(Struct, frozen=True, forbid_unknown_fields=True):
    """Requirements on the implementation."""

    kips: tuple[Kip, ...]
    """KIPs that it must implement at least in part."""
    kraft_version: KraftVersion
    profiles: tuple[str, ...]
    """Profiles with this outcome; the implementation must have one of them."""
    features: tuple[Feature, ...]


class VectorEvent(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event at the replica."""

    event: EventName
    message: TracedMessage | UnsetType = UNSET
    input: TracedInput | UnsetType = UNSET
    draw: TracedDraw
    crash: TracedCrash | UnsetType = UNSET


class VectorStep(VectorEvent, frozen=True, kw_only=True):
    """An event and its expected outcome.  The fields from `outputs` on are those of `Expected`."""

    outputs: tuple[TracedEffect, ...]
    """Effects as a multiset; `before` has their order."""
    before: tuple[tuple[Count, Count], ...]
    """Positions in `outputs`: the first precedes the second; a write before a send is durable when it leaves."""
    refusal: Refusal | None
    """Reason why the event has no effect; null if it has one."""
    state: TracedState
    """The fields that have another value afterwards; all others keep theirs, after a refused event too."""
    latitude: tuple[Alternative, ...] = ()
    """Allowed alternatives of single fields."""
    may_send: tuple[MaySend, ...] | UnsetType = UNSET
    """Allowed additional requests; absent if there are none."""
    may_start: tuple[MayStart, ...] | UnsetType = UNSET
    """Allowed additional timers; absent if there are none."""


class Expected(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Expected outcome of a step in another course, as in `VectorStep` without the event."""

    outputs: tuple[TracedEffect, ...]
    before: tuple[tuple[Count, Count], ...]
    refusal: Refusal | None
    state: TracedState
    latitude: tuple[Alternative, ...] = ()
    may_send: tuple[MaySend, ...] | UnsetType = UNSET
    may_start: tuple[MayStart, ...] | UnsetType = UNSET


class OpenChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """Setting of an open decision that leads to another course."""

    decision: str
    answer: str
    reason: str
    """Rule that leaves the decision open, and its level."""


class Course(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Alternative outcome of the same events, for a replica with other settings of the open decisions."""

    choices: Annotated[tuple[OpenChoice, ...], Meta(min_length=1)]
    """Settings that lead to it."""
    before: TracedState
    """Fields that differ from the vector's `before`, because of a choice in the history."""
    steps: Annotated[tuple[Expected, ...], Meta(min_length=1)]
    """Expected outcomes, one for each step of the vector."""


class Vector(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=False):
    """A vector of the subject `replica`."""

    subject: ClassVar[Subject] = "replica"

    schema: Literal["kraft-vector/1"]
    id: VectorId
    title: str
    source: str
    """Scenario or script that it was made from."""
    rules: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Rules that decide it."""
    level: Level
    requires: Requires
    replica: ReplicaId
    cluster: Cluster
    """Setup of the cluster, as in the header of a trace."""
    constructed: str | UnsetType = UNSET
    """Reason why no events lead to `before`; the adapter then needs `state_injection`."""
    history: tuple[VectorEvent, ...] | None
    """Events from the first start to `before`; null if that is a constructed state."""
    before: TracedReplicaState
    """State before the steps, also with what a trace does not show."""
    steps: Annotated[tuple[VectorStep, ...], Meta(min_length=1)]
    courses: tuple[Course, ...] | UnsetType = UNSET
    """Alternative outcomes; absent if there are none."""

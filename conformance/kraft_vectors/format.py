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
    """What an implementation must have to be asked."""

    kips: tuple[Kip, ...]
    """Each at least in part."""
    kraft_version: KraftVersion
    profiles: tuple[str, ...]
    """Those under which this is the outcome; an implementation has one of them."""
    features: tuple[Feature, ...]


class VectorEvent(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An event at the replica."""

    event: EventName
    message: TracedMessage | UnsetType = UNSET
    input: TracedInput | UnsetType = UNSET
    draw: TracedDraw
    crash: TracedCrash | UnsetType = UNSET


class VectorStep(VectorEvent, frozen=True, kw_only=True):
    """An event, and what must come of it.  The fields from `outputs` on are those of `Expected`."""

    outputs: tuple[TracedEffect, ...]
    """A multiset: their order says nothing, `before` does."""
    before: tuple[tuple[Count, Count], ...]
    """Positions in `outputs`: the first comes before the second."""
    refusal: Refusal | None
    state: TracedState
    """The fields that have another value afterwards; all others keep theirs."""
    latitude: tuple[Alternative, ...] = ()
    may_send: tuple[MaySend, ...] | UnsetType = UNSET
    """Requests beside those among `outputs`; absent where there are none."""
    may_start: tuple[MayStart, ...] | UnsetType = UNSET
    """Timers beside those among `outputs`; absent where there are none."""


class Expected(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What must come of a step in another course: as in `VectorStep`, without the event."""

    outputs: tuple[TracedEffect, ...]
    before: tuple[tuple[Count, Count], ...]
    refusal: Refusal | None
    state: TracedState
    latitude: tuple[Alternative, ...] = ()
    may_send: tuple[MaySend, ...] | UnsetType = UNSET
    may_start: tuple[MayStart, ...] | UnsetType = UNSET


class OpenChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to an open decision that leads to another course."""

    decision: str
    answer: str
    reason: str
    """The rule that leaves it open, and what it says of it."""


class Course(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What must come of the same events at a replica that answers open decisions otherwise."""

    choices: Annotated[tuple[OpenChoice, ...], Meta(min_length=1)]
    before: TracedState
    """The fields that have other values than in the vector's `before`, because a choice was made in the history."""
    steps: Annotated[tuple[Expected, ...], Meta(min_length=1)]
    """One for each step of the vector."""


class Vector(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=False):
    """One vector."""

    subject: ClassVar[Subject] = "replica"

    schema: Literal["kraft-vector/1"]
    id: VectorId
    title: str
    source: str
    """The scenario or script that it was made by."""
    rules: Annotated[tuple[str, ...], Meta(min_length=1)]
    level: Level
    requires: Requires
    replica: ReplicaId
    cluster: Cluster
    constructed: str | UnsetType = UNSET
    """Why no events lead to `before`; only an adapter with `state_injection` can be asked then."""
    history: tuple[VectorEvent, ...] | None
    """From the first start to `before`; null if that is a constructed state."""
    before: TracedReplicaState
    steps: Annotated[tuple[VectorStep, ...], Meta(min_length=1)]
    courses: tuple[Course, ...] | UnsetType = UNSET
    """Others that are right as well; absent where there are none."""

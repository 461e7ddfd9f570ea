"""The requests of the runner and the replies of an adapter: one JSON object a line, one reply to each request.

A field with the default `UNSET` may be absent; in a reply that says that it was not observed.
The order of the fields here is their order in a line.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_conformance.protocol.base import Message as _Message
from kraft_conformance.protocol.partitions import (
    PartitionObserve,
    PartitionObserveReply,
    PartitionReply,
    PartitionRequest,
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
)
from kraft_reference.outcome import Refusal
from kraft_traces.checkpoint_types import TracedReplicaState
from kraft_traces.effects import TracedEffect
from kraft_traces.lines import KipLevel, TracedCrash, TracedInput
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import DurationMs, KraftVersion, Offset, ReplicaId
from kraft_traces.vocabulary import EventName
from kraft_vectors.cluster import Cluster
from kraft_vectors.draw import TracedDraw
from kraft_vectors.features import KIPS, UNOBSERVED, Feature, Level, Subject

SCHEMA: Literal["kraft-adapter/1"] = "kraft-adapter/1"


class Software(Struct, frozen=True, forbid_unknown_fields=True):
    """Who speaks."""

    name: str
    version: str


# -------------------------------------------------------------------------------------------------------------
# Requests.
# -------------------------------------------------------------------------------------------------------------


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """The first request, once."""

    # A text and no literal: an adapter that speaks another version answers with its own, and is then refused by name.
    schema: str
    runner: Software


class Reset(_Message, frozen=True, kw_only=True, tag="reset"):
    """Forget everything; a replica of this cluster was formatted and started, or is in the state `before`."""

    replica: ReplicaId
    cluster: Cluster
    before: TracedReplicaState | UnsetType = UNSET


class Step(_Message, frozen=True, kw_only=True, tag="step"):
    """An event happens at the replica."""

    event: EventName
    message: TracedMessage | UnsetType = UNSET
    input: TracedInput | UnsetType = UNSET
    draw: TracedDraw
    crash: TracedCrash | UnsetType = UNSET
    """The replica dies in this step, after so many of its writes and sends."""


class Observe(_Message, frozen=True, kw_only=True, tag="observe"):
    """What is the state?"""


class Crash(_Message, frozen=True, kw_only=True, tag="crash"):
    """The process dies between two steps."""

    log_end_offset: Offset
    """How much of the log survives."""


class Restart(_Message, frozen=True, kw_only=True, tag="restart"):
    """The process starts from its disk."""

    endpoint: str | None
    """Where it listens from now on; null for where the cluster says."""
    draw: TracedDraw


class Bye(_Message, frozen=True, kw_only=True, tag="bye"):
    """The last request."""


Request = Hello | Reset | Step | Observe | Crash | Restart | Bye | PartitionRequest
"""What the suite asks an adapter."""

# -------------------------------------------------------------------------------------------------------------
# Replies.
# -------------------------------------------------------------------------------------------------------------


class HelloReply(_Message, frozen=True, kw_only=True, tag="hello"):
    """What is tested, and how much of it can be."""

    schema: str
    implementation: Software
    kip_levels: Annotated[dict[str, KipLevel], Meta(extra_json_schema={"propertyNames": {"enum": list(KIPS)}})]
    """A KIP that is not named is not implemented."""
    kraft_versions: tuple[KraftVersion, ...]
    profile: str
    observability: Level
    state_injection: bool | Literal["constructed"] = False
    """Whether `reset` may carry a state; "constructed": one that no events lead to, and no other."""
    unsupported: tuple[Feature, ...] = ()
    unobserved: tuple[Annotated[str, Meta(extra_json_schema={"enum": list(UNOBSERVED)})], ...] = ()
    """What it never shows although its observability would have it: kinds of effects, timers, and fields."""
    subjects: tuple[Subject, ...] = ("replica",)
    """What the adapter can put in front of the runner; whoever does not say it has a replica of the quorum."""

    @property
    def has_pre_vote(self) -> bool:
        """True if it implements KIP-996, even in part."""
        return self.kip_levels.get("KIP-996", "none") != "none"

    def injects(self, *, has_history: bool) -> bool:
        """Whether it is given the state in which a vector begins, and not the events that lead there."""
        return self.state_injection is True or (bool(self.state_injection) and not has_history)


class ResetReply(_Message, frozen=True, kw_only=True, tag="reset"):
    """It is done."""


class _Done(_Message, frozen=True, kw_only=True):
    effects: tuple[TracedEffect, ...]
    """In their order; after a crash in the step what it completed."""
    refusal: Refusal | UnsetType | None = UNSET
    """Why nothing happened; null if something did."""
    poll_again_ms: DurationMs | UnsetType = UNSET
    """How soon an implementation with one poll loop, polled in this step, wants to be polled again with no event."""
    died: str | UnsetType = UNSET
    """Of what the process of the replica has ended by itself: it is Stopped now."""


class StepReply(_Done, frozen=True, kw_only=True, tag="step"):
    """What the replica did."""


class ObserveReply(_Message, frozen=True, kw_only=True, tag="observe"):
    """The state, as far as it is observed."""

    state: TracedState


class CrashReply(_Message, frozen=True, kw_only=True, tag="crash"):
    """It is done."""


class RestartReply(_Done, frozen=True, kw_only=True, tag="restart"):
    """What the replica did when it started."""


class ByeReply(_Message, frozen=True, kw_only=True, tag="bye"):
    """The adapter ends now."""


class ErrorReply(_Message, frozen=True, kw_only=True, tag="error"):
    """The request cannot be carried out."""

    code: Literal["unsupported", "failed"]
    detail: str


Reply = (
    HelloReply
    | ResetReply
    | StepReply
    | ObserveReply
    | CrashReply
    | RestartReply
    | ByeReply
    | ErrorReply
    | PartitionReply
)
"""What an adapter answers."""

REPLIES: dict[type[Request], type[Reply]] = {
    Hello: HelloReply,
    Reset: ResetReply,
    Step: StepReply,
    Observe: ObserveReply,
    Crash: CrashReply,
    Restart: RestartReply,
    Bye: ByeReply,
    PartitionReset: PartitionResetReply,
    PartitionStep: PartitionStepReply,
    PartitionObserve: PartitionObserveReply,
}
"""Which reply answers which request, an `ErrorReply` apart."""

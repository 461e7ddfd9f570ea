"""Requests of the runner and replies of an adapter: one JSON object per line, one reply to each request.

A field with the default `UNSET` may be absent; an absent field of a reply was not observed.
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
    """Name and version of a program."""

    name: str
    version: str


# -------------------------------------------------------------------------------------------------------------
# Requests.
# -------------------------------------------------------------------------------------------------------------


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """The first request, sent once."""

    # A text, not a literal: an adapter of another version replies with its own, and the error can name it.
    schema: str
    runner: Software


class Reset(_Message, frozen=True, kw_only=True, tag="reset"):
    """Discard all state, and set up a replica: formatted and started, or in the state `before`."""

    replica: ReplicaId
    cluster: Cluster
    before: TracedReplicaState | UnsetType = UNSET


class Step(_Message, frozen=True, kw_only=True, tag="step"):
    """An event at the replica."""

    event: EventName
    message: TracedMessage | UnsetType = UNSET
    input: TracedInput | UnsetType = UNSET
    draw: TracedDraw
    crash: TracedCrash | UnsetType = UNSET
    """Crash in this step, after the given number of writes and sends."""


class Observe(_Message, frozen=True, kw_only=True, tag="observe"):
    """Request for the state."""


class Crash(_Message, frozen=True, kw_only=True, tag="crash"):
    """Crash of the process between two steps."""

    log_end_offset: Offset
    """End of the log that survives."""


class Restart(_Message, frozen=True, kw_only=True, tag="restart"):
    """Start of the process from its disk."""

    endpoint: str | None
    """New endpoint; null for the endpoint in the cluster."""
    draw: TracedDraw


class Bye(_Message, frozen=True, kw_only=True, tag="bye"):
    """The last request."""


Request = Hello | Reset | Step | Observe | Crash | Restart | Bye | PartitionRequest
"""Any request."""

# -------------------------------------------------------------------------------------------------------------
# Replies.
# -------------------------------------------------------------------------------------------------------------


class HelloReply(_Message, frozen=True, kw_only=True, tag="hello"):
    """Description of the implementation: its KIPs, versions, profile and observability."""

    schema: str
    implementation: Software
    kip_levels: Annotated[dict[str, KipLevel], Meta(extra_json_schema={"propertyNames": {"enum": list(KIPS)}})]
    """KIPs that are not named are not implemented."""
    kraft_versions: tuple[KraftVersion, ...]
    profile: str
    observability: Level
    state_injection: bool | Literal["constructed"] = False
    """True if `reset` may carry any state; "constructed" if only a state that no events lead to."""
    unsupported: tuple[Feature, ...] = ()
    unobserved: tuple[Annotated[str, Meta(extra_json_schema={"enum": list(UNOBSERVED)})], ...] = ()
    """Kinds of effects, timers and fields that the adapter never shows although its observability includes them."""
    subjects: tuple[Subject, ...] = ("replica",)
    """Subjects that can be tested; by default a replica of the quorum."""

    @property
    def has_pre_vote(self) -> bool:
        """True if it implements KIP-996, even in part."""
        return self.kip_levels.get("KIP-996", "none") != "none"

    def injects(self, *, has_history: bool) -> bool:
        """True if a vector begins with an injected state instead of its history."""
        return self.state_injection is True or (bool(self.state_injection) and not has_history)


class ResetReply(_Message, frozen=True, kw_only=True, tag="reset"):
    """Confirmation of a reset."""


class _Done(_Message, frozen=True, kw_only=True):
    effects: tuple[TracedEffect, ...]
    """Effects in their order; those completed before a crash in the step."""
    refusal: Refusal | UnsetType | None = UNSET
    """Reason for doing nothing; null if the replica did something."""
    poll_again_ms: DurationMs | UnsetType = UNSET
    """Delay after which an implementation with one poll loop, polled in this step, wants to be polled again."""
    died: str | UnsetType = UNSET
    """Reason why the process of the replica ended by itself; the replica is Stopped now."""


class StepReply(_Done, frozen=True, kw_only=True, tag="step"):
    """Effects of the event."""


class ObserveReply(_Message, frozen=True, kw_only=True, tag="observe"):
    """The observable state."""

    state: TracedState


class CrashReply(_Message, frozen=True, kw_only=True, tag="crash"):
    """Confirmation of a crash."""


class RestartReply(_Done, frozen=True, kw_only=True, tag="restart"):
    """Effects of the start."""


class ByeReply(_Message, frozen=True, kw_only=True, tag="bye"):
    """Confirmation before the adapter exits."""


class ErrorReply(_Message, frozen=True, kw_only=True, tag="error"):
    """Error instead of the reply."""

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
"""Any reply."""

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
"""Type of the reply to each request, apart from `ErrorReply`."""

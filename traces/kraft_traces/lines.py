"""Types of the lines of a kraft-trace/1: header, events, checkpoints (`checkpoint_types`), end.

A field with the default `UNSET` may be absent, which means that it was not observed; `None` is an explicit null.
Traces of this project's reference have every field of an event.
The order of the fields here is their order in a line.
"""

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from kraft_reference.configuration import PreVoteSupport
from kraft_reference.outcome import Refusal
from kraft_simulation.occurrence import NetworkEvent
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedEffect
from kraft_traces.forms import Derived, forms, observed
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import (
    Count,
    DurationMs,
    KraftVersion,
    Level,
    Number,
    Offset,
    ReplicaId,
    Sequence,
    SmallCount,
    TimeMs,
    TracedKey,
)
from kraft_traces.vocabulary import EVENT_TYPES, EVENTS, EventName, TracedCause

SCHEMA: Literal["kraft-trace/1"] = "kraft-trace/1"
KNOWN_SCHEMAS: tuple[str, ...] = (SCHEMA,)

KipLevel = Literal["none", "partial", "full"]
"""Extent to which the traced software implements a KIP."""

SpecHash = Annotated[
    str,
    Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="SHA-256 of the model, in hexadecimal."),
]


class Generator(Struct, frozen=True, forbid_unknown_fields=True):
    """Software that wrote the trace, with the inputs that reproduce it."""

    name: str
    version: str
    seed: Number | None = None
    workload: str | None = None
    """Scenario or kind of run."""


class TracedReplica(Struct, frozen=True, forbid_unknown_fields=True):
    """Replica as its operator formatted it."""

    id: ReplicaId
    directory_id: str | None
    endpoint: str
    pre_vote: PreVoteSupport
    endpoints: bool
    """True if its messages have the leader's endpoint."""
    min_version: Level | UnsetType = UNSET
    """Lowest kraft.version that its software supports; absent: 0."""
    max_version: Level | UnsetType = UNSET
    """Highest kraft.version that its software supports; absent: 1."""
    initial_voters: tuple[TracedKey, ...] | UnsetType = UNSET
    """Voters that it was formatted with, if not those of the cluster; empty for none."""
    auto_join: bool = False
    """True if it requests by itself to become a voter."""


class DeclaredReplica(TracedReplica, frozen=True, forbid_unknown_fields=True):
    """Replica of a trace."""

    observed: bool | UnsetType = UNSET
    """False if no line records its events; absent: true."""


class TracedTimeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """Durations of `kraft_reference.configuration.Timeouts`, in milliseconds."""

    election_timeout_ms: DurationMs
    election_backoff_max_ms: DurationMs
    fetch_timeout_ms: DurationMs
    fetch_interval_ms: DurationMs
    request_timeout_ms: DurationMs
    voter_change_timeout_ms: DurationMs | UnsetType = UNSET


class TracedDecisions(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of `kraft_reference.profile.Profile`, for a profile that is not one of the named ones."""

    observer_refusal: Literal["expires", "lasts", "timer-unused"]
    prospective_announcement: Literal["follower", "stays"]
    end_quorum_fetched_flag: Literal["cleared", "kept"]
    diverging_fetch: Literal["counts", "ignored"]
    restart_precedence: Literal["known-leader", "own-vote"]
    voter_key_error: Literal["INVALID_REQUEST", "INVALID_VOTER_KEY"]
    resigned_metric: Literal["resigned", "unattached"]
    kraft_version_gate: Literal["commit", "append"] | UnsetType = UNSET
    """Absent: commit."""
    vote_of_non_voter: Literal["by-log"] | UnsetType = UNSET
    """Absent: by-log, the only setting; KIP-642's refuse-and-campaign is a mutant of the reference."""
    leader_high_watermark: Literal["kept", "unknown"] | UnsetType = UNSET
    """Absent: kept."""
    own_vote_at_restart: Literal["candidate", "prospective", "unattached"] | UnsetType = UNSET
    """Absent: candidate."""
    voted_directory_at_version_0: Literal["forgotten", "remembered"] | UnsetType = UNSET
    """Absent: forgotten."""
    vote_of_lost_file: Literal["spent", "free"] | UnsetType = UNSET
    """Absent: spent."""
    announcement_again: Literal["when-idle", "by-timer"] | UnsetType = UNSET
    """Absent: when-idle."""
    announced_to: Literal["not-fetching", "all", "all-again"] | UnsetType = UNSET
    """Absent: not-fetching."""
    diverging_cut: Literal["own-offset", "smaller-offset"] | UnsetType = UNSET
    """Absent: own-offset."""
    unanswered_fetch: Literal["leader-again", "servers-too"] | UnsetType = UNSET
    """Absent: leader-again."""
    update_voter_credit: Literal["none", "fetch"] | UnsetType = UNSET
    """Absent: none."""
    report_at_version_0: Literal["noted", "refused"] | UnsetType = UNSET
    """Absent: noted."""
    lagging_voter: Literal["awaited", "refused", "added"] | UnsetType = UNSET
    """Absent: awaited."""


class HeaderLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="header"):
    """First line: the cluster and the software that wrote the trace."""

    schema: Literal["kraft-trace/1"]
    generator: Generator
    profile: str
    """Name of the settings of the KIPs' open decisions."""
    decisions: TracedDecisions | UnsetType = UNSET
    """Settings, for a profile that is not one of the named ones."""
    spec_hash: SpecHash | UnsetType = UNSET
    kip_levels: dict[str, KipLevel] | UnsetType = UNSET
    kraft_version: KraftVersion
    cluster_id: str
    replicas: tuple[DeclaredReplica, ...]
    """Voters and observers."""
    voters: tuple[TracedKey, ...]
    """Static voters, or those of the bootstrap checkpoint."""
    bootstrap_servers: tuple[ReplicaId, ...] = ()
    """Ids of the bootstrap servers; empty for the voters."""
    fetch_max_records: SmallCount = 0
    """0 for no limit."""
    switched_off: tuple[str, ...] = ()
    """Ids of the rules that this run omits on purpose."""
    timeouts: TracedTimeouts | UnsetType = UNSET

    @property
    def opaque(self) -> frozenset[int]:
        """Ids of the replicas that are not observed where the trace begins."""
        return frozenset(replica.id for replica in self.replicas if replica.observed is False)


# Fields of network events first, each once: this is the order of every event's fields.
_INPUT_FORMS = {
    name: form for kind in (*get_args(NetworkEvent), *EVENT_TYPES.values()) for name, form in forms(kind).items()
}

if TYPE_CHECKING:
    TracedInput = Derived
else:
    TracedInput = defstruct(
        "TracedInput",
        [(name, *observed(form)) for name, form in _INPUT_FORMS.items()],
        bases=(Derived,),
        namespace={"__doc__": "Fields of the event; `kraft_traces.vocabulary.EVENTS` has those of each event."},
        module=__name__,
        frozen=True,
        gc=False,
    )


class TracedCrash(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Point in the step at which the replica died: number of completed writes and sends, and surviving log."""

    completed: Count
    log_end_offset: Offset


class EventLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False, tag_field="kind", tag="event"):
    """Event with its outcome."""

    sequence: Sequence
    time_ms: TimeMs | UnsetType = UNSET
    replica: ReplicaId | UnsetType = UNSET
    """Replica of the event; absent for an event of the network."""
    event: EventName
    cause: TracedCause | UnsetType = UNSET
    message: TracedMessage | UnsetType = UNSET
    """Delivered message."""
    input: TracedInput | UnsetType = UNSET
    effects: tuple[TracedEffect, ...] | UnsetType = UNSET
    """Effects of the replica, in order; with a crash point, only those that it completed."""
    refusal: Refusal | UnsetType | None = UNSET
    """Reason why the replica refused the event; null if it did not."""
    crash: TracedCrash | UnsetType = UNSET
    """Absent if the replica did not die in the step."""
    # Any message, because msgspec requires `type` only for a union; `consistency` checks the type.
    answer: TracedMessage | UnsetType = UNSET
    """VoteResponse that the sender's own network layer generates (AnswerUnsupportedVersion)."""
    state: TracedState | UnsetType = UNSET
    unrecorded: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Replicas with unrecorded events before this line."""


def input_of(line: EventLine) -> TracedInput | UnsetType:
    """Return the input of a line, or the default of its event if the line has none."""
    default = EVENTS[line.event].default
    return TracedInput(**default) if line.input is UNSET and default is not None else line.input


class EndLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="end"):
    """Last line."""

    events: Count
    """Number of event lines."""
    complete: bool
    """False if the writer stopped before the run was over."""


Line = HeaderLine | EventLine | CheckpointLine | EndLine
"""Any line of a trace."""

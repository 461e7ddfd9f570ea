"""The lines of a kraft-trace/1: header, events, checkpoints (`checkpoint_types`), end.

A field with the default `UNSET` may be absent, which says that it was not observed; `None` is an explicit null.
Our own traces carry every field that an event has.
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
from kraft_traces.vocabulary import EVENT_TYPES, EventName, TracedCause

SCHEMA: Literal["kraft-trace/1"] = "kraft-trace/1"
KNOWN_SCHEMAS: tuple[str, ...] = (SCHEMA,)

KipLevel = Literal["none", "partial", "full"]
"""How much of a KIP the software that made the trace implements."""

SpecHash = Annotated[
    str,
    Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="SHA-256 of the model, in hexadecimal."),
]


class Generator(Struct, frozen=True, forbid_unknown_fields=True):
    """What wrote the trace, and what makes it write the same one again."""

    name: str
    version: str
    seed: Number | None = None
    workload: str | None = None
    """The scenario or kind of run."""


class TracedReplica(Struct, frozen=True, forbid_unknown_fields=True):
    """A replica as its operator formatted it."""

    id: ReplicaId
    directory_id: str | None
    endpoint: str
    pre_vote: PreVoteSupport
    endpoints: bool
    """Whether its messages carry the leader's endpoint."""
    min_version: Level | UnsetType = UNSET
    """Lowest kraft.version that its software supports; absent: 0."""
    max_version: Level | UnsetType = UNSET
    """Highest one; absent: 1."""
    initial_voters: tuple[TracedKey, ...] | UnsetType = UNSET
    """The voters that it was formatted with, if not those of the cluster; empty for none."""
    auto_join: bool = False
    """Whether it asks by itself to become a voter."""


class TracedTimeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """The durations of `kraft_reference.configuration.Timeouts`, in milliseconds."""

    election_timeout_ms: DurationMs
    election_backoff_max_ms: DurationMs
    fetch_timeout_ms: DurationMs
    fetch_interval_ms: DurationMs
    request_timeout_ms: DurationMs
    voter_change_timeout_ms: DurationMs | UnsetType = UNSET


class TracedDecisions(Struct, frozen=True, forbid_unknown_fields=True):
    """The answers of `kraft_reference.profile.Profile`, for a profile that is not one of the named ones."""

    observer_refusal: Literal["expires", "lasts", "timer-unused"]
    prospective_announcement: Literal["follower", "stays"]
    end_quorum_fetched_flag: Literal["cleared", "kept"]
    diverging_fetch: Literal["counts", "ignored"]
    restart_precedence: Literal["known-leader", "own-vote"]
    voter_key_error: Literal["INVALID_REQUEST", "INVALID_VOTER_KEY"]
    resigned_metric: Literal["resigned", "unattached"]
    kraft_version_gate: Literal["commit", "append"] | UnsetType = UNSET
    """Absent: commit."""
    vote_of_non_voter: Literal["by-log", "refuse-and-campaign"] | UnsetType = UNSET
    """Absent: by-log."""
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


class HeaderLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="header"):
    """The first line: what the cluster is and who wrote the trace."""

    schema: Literal["kraft-trace/1"]
    generator: Generator
    profile: str
    """Name of the answers to the open points of the KIPs."""
    decisions: TracedDecisions | UnsetType = UNSET
    """The answers themselves, for a profile that is not a named one."""
    spec_hash: SpecHash | UnsetType = UNSET
    kip_levels: dict[str, KipLevel] | UnsetType = UNSET
    kraft_version: KraftVersion
    cluster_id: str
    replicas: tuple[TracedReplica, ...]
    """Voters and observers."""
    voters: tuple[TracedKey, ...]
    """The static voters, or those of the bootstrap checkpoint."""
    bootstrap_servers: tuple[ReplicaId, ...] = ()
    """Empty: the voters."""
    fetch_max_records: SmallCount = 0
    """0 for no limit."""
    switched_off: tuple[str, ...] = ()
    """Ids of the rules that this run leaves out on purpose."""
    timeouts: TracedTimeouts | UnsetType = UNSET


# Those of the network first, and each once: the order of every event's own fields.
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
        namespace={"__doc__": "The event's own fields; which event has which is in `kraft_traces.vocabulary.EVENTS`."},
        module=__name__,
        frozen=True,
        gc=False,
    )


class TracedCrash(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Where in the step the replica died: how many durable effects and sends happened, how much log survived."""

    completed: Count
    log_end_offset: Offset


class EventLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False, tag_field="kind", tag="event"):
    """One event."""

    sequence: Sequence
    time_ms: TimeMs | UnsetType = UNSET
    replica: ReplicaId | UnsetType = UNSET
    """Where it happened; absent for an event of the network."""
    event: EventName
    cause: TracedCause | UnsetType = UNSET
    message: TracedMessage | UnsetType = UNSET
    """The message that was delivered."""
    input: TracedInput | UnsetType = UNSET
    effects: tuple[TracedEffect, ...] | UnsetType = UNSET
    """What the replica did, in order; after a crash point only what it completed."""
    refusal: Refusal | UnsetType | None = UNSET
    """Why nothing happened; null if something did."""
    crash: TracedCrash | UnsetType = UNSET
    """Absent if the replica did not die in the step."""
    # Any message, because msgspec asks for `type` only where there is a choice; `consistency` narrows it down.
    answer: TracedMessage | UnsetType = UNSET
    """The VoteResponse that the sender's own network layer makes (AnswerUnsupportedVersion)."""
    state: TracedState | UnsetType = UNSET
    unrecorded: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Replicas of which events before this line are not in the trace."""


class EndLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="end"):
    """The last line."""

    events: Count
    """How many event lines there are."""
    complete: bool
    """False if the writer stopped before the run was over."""


Line = HeaderLine | EventLine | CheckpointLine | EndLine
"""Any line of a trace."""

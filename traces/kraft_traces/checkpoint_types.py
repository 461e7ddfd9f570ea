"""Types of a checkpoint: the whole cluster between two events, so that the lines after it can be checked by themselves.

Every field is required, except where a replica is not observed; this project writes sets and mappings as ascending
lists.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_reference.configuration import PreVoteSupport
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import (
    Count,
    Epoch,
    KraftVersion,
    Offset,
    ReplicaId,
    TimeMs,
    TracedDetails,
    TracedKey,
    TracedRecord,
    TracedSnapshot,
    TracedTarget,
)


class TracedReplicaState(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Whole state of a replica."""

    state: TracedState
    """State as in an event line, with every field."""
    snapshot: TracedSnapshot
    """Snapshot before its log: the newest one, or the bootstrap checkpoint with end offset 0."""
    records: tuple[TracedRecord, ...]
    """Records of its log from the end of the snapshot on, with details and target if they have them."""
    epoch_start_offset: Offset
    """Leader: offset of the first record of its epoch; 0 otherwise."""
    preferred_candidates: tuple[TracedKey, ...]
    """Resigned: voters by falling fetch offset."""


def own_id(replica: TracedReplicaState) -> int:
    """Return the id of a replica in a checkpoint, whose state has every field."""
    key = replica.state.replica_key
    assert key is not UNSET, "a checkpoint has every field"
    return key.id


class TracedFlight(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """In-flight message."""

    message: TracedMessage
    """Message with every field and its id."""
    copies: Annotated[
        int,
        Meta(
            ge=0,
            le=2**31 - 1,
            description="Number of copies; 0 for a delivered Fetch that awaits its response.",
        ),
    ]


class TracedLedEpoch(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """History of an epoch that had a leader."""

    epoch: Epoch
    leaders: tuple[TracedKey, ...]
    """Its leaders; two are a violation."""
    end_offset: Offset
    """End offset of its leader's log in the epoch."""
    rewritten: bool
    """True if a leader of the epoch wrote an offset twice, a violation."""


class TracedVotes(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Newest epoch in which a replica voted, with the candidates; epoch 0 and none if it has not voted on this disk."""

    replica: ReplicaId
    epoch: Epoch
    candidates: tuple[TracedKey, ...]
    """Its candidates; two are a violation."""


class TracedInForce(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Voters and kraft.version from a compacted committed record on that changed them."""

    offset: Offset
    epoch: Epoch
    kraft_version: KraftVersion | None
    voters: tuple[TracedKey, ...] | None
    details: tuple[TracedDetails, ...]
    target: TracedTarget


class TracedCommitted(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Committed records: those below a high watermark of a leader.

    Records before `start_offset` are compacted; the other fields are the voters and kraft.version at that offset.
    """

    start_offset: Offset
    epoch: Epoch
    """Epoch of the record before `start_offset`; 0 if there is none."""
    kraft_version: KraftVersion | None
    """Null before a kraft.version is committed."""
    voters: tuple[TracedKey, ...] | None
    """Null before a voter set is committed."""
    details: tuple[TracedDetails, ...]
    target: TracedTarget
    records: tuple[TracedRecord, ...]
    past: tuple[TracedInForce, ...] | UnsetType = UNSET
    """Compacted records that changed voters or kraft.version.

    A checkpoint without them, or without `directories`, begins no trace and ends no gap."""


class TracedHistory(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """History of the run that the properties need."""

    epochs: tuple[TracedLedEpoch, ...]
    votes: tuple[TracedVotes, ...]
    """Votes of each replica."""
    committed: TracedCommitted
    crashes: Count
    directories: tuple[str, ...] | UnsetType = UNSET
    """Every directory id that a replica has, or has had."""

    @property
    def is_whole(self) -> bool:
        """True if a run can continue from it; early versions did not write `past`, `directories` and all epochs."""
        return self.committed.past is not UNSET and self.directories is not UNSET


class CheckpointLine(
    Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="kind", tag="checkpoint", omit_defaults=True
):
    """State of the whole cluster after an event, or of replicas that are observed from there on."""

    sequence: Count
    """Sequence of the event before; 0 for a checkpoint before the first."""
    time_ms: TimeMs
    """Time, not before that of any earlier line."""
    replicas: tuple[TracedReplicaState, ...]
    """Each observed replica of the header, once; with `observed` only these."""
    network: tuple[TracedFlight, ...]
    """In-flight messages; with `observed` only Fetches that await a response of these."""
    cuts: tuple[tuple[ReplicaId, ReplicaId], ...]
    """Cut links: source and destination."""
    history: TracedHistory | UnsetType = UNSET
    """Absent if the header declares a replica as not observed, because it is then not known."""
    software: tuple[tuple[ReplicaId, PreVoteSupport], ...] = ()
    """Pre-Vote support of each replica whose software was replaced since the start."""
    observed: tuple[ReplicaId, ...] = ()
    """Replicas that are observed from here on, with their states; those of others are not here."""

    @property
    def has_whole_history(self) -> bool:
        """True if a run can continue from it alone."""
        return self.history is not UNSET and self.history.is_whole

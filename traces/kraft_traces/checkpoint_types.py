"""A checkpoint in a trace: everything there is between two events, so that what follows can be checked by itself.

Every field is there; lists that stand for sets and mappings are in ascending order where we write them.
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
    """Everything a replica knows."""

    state: TracedState
    """As in an event line, with every field."""
    snapshot: TracedSnapshot
    """What its log stands on: the newest snapshot, or the bootstrap checkpoint with end offset 0."""
    records: tuple[TracedRecord, ...]
    """Those of its log, from the end of the snapshot on; each has its details, and its target if it is one with it."""
    epoch_start_offset: Offset
    """Leader: offset of the first record of its epoch; 0 otherwise."""
    preferred_candidates: tuple[TracedKey, ...]
    """Resigned: voters by falling fetch offset."""


class TracedFlight(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A message on its way."""

    message: TracedMessage
    """With every field, its id included."""
    copies: Annotated[
        int,
        Meta(ge=0, le=2**31 - 1, description="How many copies of it; 0 for a Fetch that has arrived and waits."),
    ]


class TracedLedEpoch(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What is known of an epoch that somebody led."""

    epoch: Epoch
    leaders: tuple[TracedKey, ...]
    end_offset: Offset
    """Of its leader's log, as far as it went in the epoch."""
    rewritten: bool
    """Whether a leader of the epoch wrote an offset twice."""


class TracedVotes(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The newest epoch in which a replica voted, and for whom; epoch 0 and nobody if it has not on this disk."""

    replica: ReplicaId
    epoch: Epoch
    candidates: tuple[TracedKey, ...]


class TracedInForce(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What is in force from a committed record on that is put away, because it changes something."""

    offset: Offset
    epoch: Epoch
    kraft_version: KraftVersion | None
    voters: tuple[TracedKey, ...] | None
    details: tuple[TracedDetails, ...]
    target: TracedTarget


class TracedCommitted(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The records below a high watermark of a leader.

    Those before the offset where they start are put away, and what was in force there is said beside them.
    """

    start_offset: Offset
    epoch: Epoch
    """Of the record before; 0 at the very beginning."""
    kraft_version: KraftVersion | None
    """Null before a level is committed."""
    voters: tuple[TracedKey, ...] | None
    """Null before a voters set is committed."""
    details: tuple[TracedDetails, ...]
    target: TracedTarget
    records: tuple[TracedRecord, ...]
    past: tuple[TracedInForce, ...] | UnsetType = UNSET
    """Of the records that are put away, those that change what is in force; see `TracedHistory.is_whole`."""


class TracedHistory(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What the properties remember of the run so far."""

    epochs: tuple[TracedLedEpoch, ...]
    votes: tuple[TracedVotes, ...]
    """Of each replica."""
    committed: TracedCommitted
    crashes: Count
    directories: tuple[str, ...] | UnsetType = UNSET
    """Every directory id that a replica has, or has had."""

    @property
    def is_whole(self) -> bool:
        """Is it enough to go on from?  Early versions wrote no `past`, no `directories`, and not all epochs."""
        return self.committed.past is not UNSET and self.directories is not UNSET


class CheckpointLine(
    Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="kind", tag="checkpoint", omit_defaults=True
):
    """Everything there is after an event."""

    sequence: Count
    """Of the event before; 0 for a checkpoint before the first."""
    time_ms: TimeMs
    """Not before that of any earlier line."""
    replicas: tuple[TracedReplicaState, ...]
    """Each of the header, once."""
    network: tuple[TracedFlight, ...]
    """The messages on their way."""
    cuts: tuple[tuple[ReplicaId, ReplicaId], ...]
    """The links that are cut: source and destination."""
    history: TracedHistory
    software: tuple[tuple[ReplicaId, PreVoteSupport], ...] = ()
    """Pre-Vote support of each replica whose software was replaced since the start."""

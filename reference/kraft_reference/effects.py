"""What a step asks its driver to do, in this order: write the quorum state, write a snapshot, cut, append and sync the
log, then send and answer, then start timers.

The order is the point: whatever a message depends on stands before it.
Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
"""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.messages import Message, Reply
from kraft_reference.records import Record
from kraft_reference.roles import Role


class Timer(StrEnum):
    """The timers of a replica; each is local to it."""

    ELECTION = "election"
    FETCH = "fetch"
    CHECK_QUORUM = "check-quorum"
    BEGIN_QUORUM_EPOCH = "begin-quorum-epoch"
    VOTER_CHANGE = "voter-change"


TIMERS: dict[Role, tuple[Timer, ...]] = {
    Role.UNATTACHED: (Timer.ELECTION,),
    Role.PROSPECTIVE: (Timer.ELECTION,),
    Role.CANDIDATE: (Timer.ELECTION,),
    Role.LEADER: (Timer.CHECK_QUORUM, Timer.BEGIN_QUORUM_EPOCH, Timer.VOTER_CHANGE),
    Role.FOLLOWER: (Timer.FETCH,),
    Role.RESIGNED: (Timer.ELECTION,),
    Role.STOPPED: (),
}
"""Which timers may run in which role (not all do: an Unattached observer has none)."""


@dataclass(frozen=True, slots=True)
class PersistQuorumState:
    """Write epoch, leader id and voted key to the quorum state file and sync it.

    Version 0 of the file has no place for the voted directory id.
    Rules: durable.fields-v1, durable.fields-v0, durable.version-by-kraft, identity.voted-key-persisted.
    """

    epoch: int
    leader_id: int | None
    voted_key: ReplicaKey | None
    version: int = 1
    """Of the file: 0 at kraft.version 0, 1 above.  Rule: wire.quorum-state."""


@dataclass(frozen=True, slots=True)
class WriteSnapshot:
    """Write a snapshot, sync it, and delete what it stands for.

    That is the part of the log before its end offset; the whole log where that has no record at its end that matches.
    Rules: snapshot.control-records-first, snapshot.load-resets-history.
    """

    snapshot: Snapshot
    replaces_log: bool
    """Does the log begin anew after it?  So it does for a snapshot that was fetched."""


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Cut the log to `end_offset`."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append records at `base_offset`, not yet synced."""

    base_offset: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Sync the log up to `end_offset`."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Send:
    """Hand a message to the network."""

    message: Message


@dataclass(frozen=True, slots=True)
class StartTimer:
    """(Re)start a timer to fire after `duration_ms`."""

    timer: Timer
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer an admin client.  Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit."""

    reply: Reply


DurableEffect = PersistQuorumState | WriteSnapshot | TruncateLog | AppendRecords | FlushLog
"""What a step leaves on disk."""

Effect = DurableEffect | Send | Answer | StartTimer
"""What the driver of a replica has to do after a step, in order."""

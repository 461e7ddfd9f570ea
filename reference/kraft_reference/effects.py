"""Effects: instructions of a step to its driver.

The driver carries them out in this sequence: quorum state, snapshot, truncation, append, sync, messages and replies,
timers.  A write comes before the messages that depend on it.
Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
"""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import Epoch, Offset, ReplicaId, ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.messages import Message, Reply
from kraft_reference.records import Record
from kraft_reference.roles import Role


class Timer(StrEnum):
    """Timers of a replica."""

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
"""Timers that may run in each role; an Unattached observer has none."""


@dataclass(frozen=True, slots=True)
class PersistQuorumState:
    """Write epoch, leader id and voted key to the quorum state file and sync it.

    Version 0 of the file has no field for the voted directory id.
    Rules: durable.fields-v1, durable.fields-v0, durable.version-by-kraft, identity.voted-key-persisted.
    """

    epoch: Epoch
    leader_id: ReplicaId | None
    voted_key: ReplicaKey | None
    version: int = 1
    """Version of the file: 0 at kraft.version 0, 1 above.  Rule: wire.quorum-state."""


@dataclass(frozen=True, slots=True)
class WriteSnapshot:
    """Write a snapshot, sync it, and delete the records that it replaces.

    A taken snapshot replaces the part of the log before its end, a fetched one the whole log.
    Rules: snapshot.control-records-first, snapshot.load-resets-history.
    """

    snapshot: Snapshot
    replaces_log: bool
    """True for a fetched snapshot."""


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Delete the records of the log from `end_offset` on."""

    end_offset: Offset


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append records at `base_offset`, not yet synced."""

    base_offset: Offset
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Sync the log up to `end_offset`."""

    end_offset: Offset


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
    """Send a reply to an admin client.  Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit."""

    reply: Reply


DurableEffect = PersistQuorumState | WriteSnapshot | TruncateLog | AppendRecords | FlushLog
"""Effect on the disk."""

Effect = DurableEffect | Send | Answer | StartTimer
"""Instruction of a step to its driver."""

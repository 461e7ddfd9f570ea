"""What a step asks its driver to do, in this order: write the quorum state, cut, append and sync the log, then
send, then start timers.

The order is the point: whatever a message depends on stands before it.
Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
"""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Message
from kraft_reference.records import Record
from kraft_reference.roles import Role


class Timer(StrEnum):
    """The timers of a replica; each is local to it."""

    ELECTION = "election"
    FETCH = "fetch"
    CHECK_QUORUM = "check-quorum"
    BEGIN_QUORUM_EPOCH = "begin-quorum-epoch"


TIMERS: dict[Role, tuple[Timer, ...]] = {
    Role.UNATTACHED: (Timer.ELECTION,),
    Role.PROSPECTIVE: (Timer.ELECTION,),
    Role.CANDIDATE: (Timer.ELECTION,),
    Role.LEADER: (Timer.CHECK_QUORUM, Timer.BEGIN_QUORUM_EPOCH),
    Role.FOLLOWER: (Timer.FETCH,),
    Role.RESIGNED: (Timer.ELECTION,),
    Role.STOPPED: (),
}
"""Which timers may run in which role (not all do: an Unattached observer has none)."""


@dataclass(frozen=True, slots=True)
class PersistQuorumState:
    """Write epoch, leader id and voted key to the quorum state file and sync it.

    At kraft.version 0 the file (version 0) has no place for the voted directory id.
    Rules: durable.fields-v1, durable.fields-v0, durable.version-by-kraft.
    """

    epoch: int
    leader_id: int | None
    voted_key: ReplicaKey | None


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


DurableEffect = PersistQuorumState | TruncateLog | AppendRecords | FlushLog
Effect = DurableEffect | Send | StartTimer

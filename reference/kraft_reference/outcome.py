"""Outcome of one event at a replica: the state after, messages, timers, and the reason if it was refused."""

from enum import StrEnum
from typing import NamedTuple

from kraft_reference.configuration import Configuration, Timeouts
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.messages import Message, Reply
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter, other_voters


class Refusal(StrEnum):
    """Reason why an event changed nothing but bookkeeping; the codes are stable and language neutral."""

    NOT_RUNNING = "NOT_RUNNING"
    """The process is down."""
    RUNNING = "RUNNING"
    """A disk or the software is replaced, and a process started, only while the process is down."""
    NOT_IN_ROLE = "NOT_IN_ROLE"
    """The role of the replica has no such timer or action."""
    NOTHING_DUE = "NOTHING_DUE"
    """No request is due, or this step is not one that the replica may take now."""
    UNCORRELATED_RESPONSE = "UNCORRELATED_RESPONSE"
    """The response matches no outstanding request: it timed out, or the replica has changed its role since."""
    STALE_EPOCH = "STALE_EPOCH"
    """The message is of an older epoch."""
    UNKNOWN_EPOCH = "UNKNOWN_EPOCH"
    """A Fetch, FetchSnapshot or UpdateVoter has a larger epoch, which a replica does not learn from these."""
    NOT_LEADER = "NOT_LEADER"
    """Only the leader handles the request."""
    MALFORMED_REQUEST = "MALFORMED_REQUEST"
    """A field of the request is missing or out of range."""
    FOREIGN_CLUSTER = "FOREIGN_CLUSTER"
    """The request carries another cluster id."""
    ERROR_RESPONSE = "ERROR_RESPONSE"
    """The response carries an error and nothing else to learn."""
    NO_PRE_VOTE_ROUND = "NO_PRE_VOTE_ROUND"
    """A voter does not support Pre-Vote, and the round of Pre-Votes is over."""
    ELECTION_IS_OVER = "ELECTION_IS_OVER"
    """The vote arrives when the replica is no candidate any more."""
    SECOND_LEADER_IN_EPOCH = "SECOND_LEADER_IN_EPOCH"
    """The message names another leader of the epoch than the one known: election safety is broken somewhere."""
    NOT_FOLLOWER_OF_SENDER = "NOT_FOLLOWER_OF_SENDER"
    """Fetched data counts only if the sender is the leader that the replica follows."""
    TRUNCATION_BELOW_HIGH_WATERMARK = "TRUNCATION_BELOW_HIGH_WATERMARK"
    """The leader asks the replica to truncate committed records."""
    CHECK_QUORUM_OFF = "CHECK_QUORUM_OFF"
    """Never returned here; the trace format keeps the code."""
    REQUEST_REFUSED = "REQUEST_REFUSED"
    """A voter change is refused or fails; the error of the response is the reason."""
    CHANGE_NOT_ALLOWED = "CHANGE_NOT_ALLOWED"
    """The preconditions of voter changes do not hold for the voter set of an AppendVoters."""
    NO_CHANGE_WAITS = "NO_CHANGE_WAITS"
    """No pending change waits for this ApiVersions response."""
    SNAPSHOT_OUT_OF_RANGE = "SNAPSHOT_OUT_OF_RANGE"
    """A snapshot must end after the newest one, at the high watermark or before it, and at the end of a batch."""
    SNAPSHOT_NOT_WANTED = "SNAPSHOT_NOT_WANTED"
    """The snapshot is not the one that the follower asked for."""


class Outcome(NamedTuple):
    """Result of `handle`; `durability.effects_of` adds the writes."""

    state: ReplicaState
    sends: tuple[Message | Reply, ...] = ()
    timers: tuple[StartTimer, ...] = ()
    refusal: Refusal | None = None


def entry_timers(before: ReplicaState, after: ReplicaState, draw: Draw, timeouts: Timeouts) -> tuple[StartTimer, ...]:
    """Return the timers that entering the role of `after` starts; a timer that keeps running is not among them."""
    match after.role:
        case Role.UNATTACHED:
            # An observer has no election timer: it never campaigns.  A Resigned replica hands its timer over.
            # Rules: state.unattached.entry-timer, state.resigned.timer-handover, observer.states.
            keeps_running = before.role in (Role.UNATTACHED, Role.RESIGNED)
            if keeps_running or not is_voter(after):
                return ()
            return (StartTimer(Timer.ELECTION, draw.election_timeout_ms),)
        # Rule: state.timers.random.
        case Role.PROSPECTIVE | Role.CANDIDATE | Role.RESIGNED:
            return (StartTimer(Timer.ELECTION, draw.election_timeout_ms),)
        case Role.FOLLOWER:
            # Rule: fetch.timer.
            return (StartTimer(Timer.FETCH, timeouts.fetch_timeout_ms),)
        case Role.LEADER if other_voters(after):
            # Rules: check-quorum.sole-voter, check-quorum.period, begin-quorum.resend.
            return (
                StartTimer(Timer.CHECK_QUORUM, timeouts.check_quorum_period_ms),
                StartTimer(Timer.BEGIN_QUORUM_EPOCH, timeouts.begin_quorum_epoch_interval_ms),
            )
        case _:
            return ()


def with_timers(before: ReplicaState, after: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Return the outcome of a change of role: the new state and the timers that it starts."""
    return Outcome(after, timers=entry_timers(before, after, draw, configuration.timeouts))

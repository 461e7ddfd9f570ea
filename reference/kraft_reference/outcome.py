"""What handling one event comes to: the state after, the messages, the timers, and why nothing happened."""

from enum import StrEnum
from typing import NamedTuple

from kraft_reference.configuration import Configuration, Timeouts
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.messages import Message, Reply
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter, other_voters


class Refusal(StrEnum):
    """Why an event changed nothing but bookkeeping; language neutral, stable."""

    NOT_RUNNING = "NOT_RUNNING"
    RUNNING = "RUNNING"
    NOT_IN_ROLE = "NOT_IN_ROLE"
    NOTHING_DUE = "NOTHING_DUE"
    UNCORRELATED_RESPONSE = "UNCORRELATED_RESPONSE"
    STALE_EPOCH = "STALE_EPOCH"
    UNKNOWN_EPOCH = "UNKNOWN_EPOCH"
    NOT_LEADER = "NOT_LEADER"
    MALFORMED_REQUEST = "MALFORMED_REQUEST"
    FOREIGN_CLUSTER = "FOREIGN_CLUSTER"
    ERROR_RESPONSE = "ERROR_RESPONSE"
    NO_PRE_VOTE_ROUND = "NO_PRE_VOTE_ROUND"
    ELECTION_IS_OVER = "ELECTION_IS_OVER"
    SECOND_LEADER_IN_EPOCH = "SECOND_LEADER_IN_EPOCH"
    NOT_FOLLOWER_OF_SENDER = "NOT_FOLLOWER_OF_SENDER"
    TRUNCATION_BELOW_HIGH_WATERMARK = "TRUNCATION_BELOW_HIGH_WATERMARK"
    CHECK_QUORUM_OFF = "CHECK_QUORUM_OFF"
    REQUEST_REFUSED = "REQUEST_REFUSED"
    """A voter change is refused or fails; the answer says why."""
    CHANGE_NOT_ALLOWED = "CHANGE_NOT_ALLOWED"
    """The rules of voter changes do not let the Leader append this voters set now."""
    NO_CHANGE_WAITS = "NO_CHANGE_WAITS"
    """An answer to ApiVersions that no pending change waits for."""
    SNAPSHOT_OUT_OF_RANGE = "SNAPSHOT_OUT_OF_RANGE"
    """A snapshot ends after the newest one and at the high watermark at the latest."""
    SNAPSHOT_NOT_WANTED = "SNAPSHOT_NOT_WANTED"


class Outcome(NamedTuple):
    """The outcome of one event at one replica."""

    state: ReplicaState
    sends: tuple[Message | Reply, ...] = ()
    timers: tuple[StartTimer, ...] = ()
    refusal: Refusal | None = None


def entry_timers(before: ReplicaState, after: ReplicaState, draw: Draw, timeouts: Timeouts) -> tuple[StartTimer, ...]:
    """The timers that entering the role of `after` starts; one that goes on running is not started again.

    Rule: state.timers.random.
    """
    match after.role:
        case Role.UNATTACHED:
            # Rules: state.unattached.entry-timer, state.resigned.timer-handover, observer.states.
            keeps_running = before.role in (Role.UNATTACHED, Role.RESIGNED)
            if keeps_running or not is_voter(after):
                return ()
            return (StartTimer(Timer.ELECTION, draw.election_timeout_ms),)
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


def entered(before: ReplicaState, after: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """The outcome of entering a role: the state and the timers it starts."""
    return Outcome(after, timers=entry_timers(before, after, draw, configuration.timeouts))

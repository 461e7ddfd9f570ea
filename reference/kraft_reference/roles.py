"""Roles, and the table of the changes of role.

`transitions.enter` takes epoch, leader and vote from the table and refuses a change that the table does not list.
The diagram in the documentation is drawn from it.
The model checks pairs of roles only: RoleTable.tla holds the pairs (role before, role after) of one step.
"""

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The role of a replica in one epoch.  Rules: state.roles, metric.current-state."""

    UNATTACHED = "Unattached"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    FOLLOWER = "Follower"
    RESIGNED = "Resigned"
    STOPPED = "Stopped"
    """The process does not run.  The KIPs have no such role."""


class Cause(StrEnum):
    """The reason for a change of role."""

    ELECTION_TIMEOUT = "election timeout"
    FETCH_TIMEOUT = "fetch timeout"
    CHECK_QUORUM_TIMEOUT = "check-quorum timeout"
    SHUTDOWN = "graceful shutdown"
    REMOVAL_COMMITTED = "own removal committed"
    LAST_TO_REMOVE = "last voter that a reassignment removes"
    LARGER_EPOCH = "larger epoch without a leader"
    LARGER_EPOCH_WITH_LEADER = "larger epoch with a leader"
    LEADER_OF_EPOCH = "leader of the same epoch"
    PRE_VOTE_WON = "majority of Pre-Votes"
    PRE_VOTE_UNSUPPORTED = "a voter does not support Pre-Vote"
    PRE_VOTE_LOST = "Pre-Vote lost"
    VOTE_CAST = "vote cast"
    ELECTION_WON = "majority of votes"
    CRASH = "crash"
    RESTART = "restart"


class EpochChange(StrEnum):
    """Effect of a transition on the epoch.  Rule: state.epoch-monotonic."""

    KEEP = "keep"
    RAISE = "raise by one"
    ADOPT = "adopt"
    FROM_LOG = "keep, or the last epoch of the log"


class VoteChange(StrEnum):
    """Effect of a transition on the voted key.  Rule: state.same-epoch-preserves."""

    KEEP = "keep"
    CLEAR = "clear"
    OWN = "own key"
    CAST = "the requester"


class LeaderChange(StrEnum):
    """Effect of a transition on the leader id."""

    KEEP = "keep"
    CLEAR = "clear"
    OWN = "own id"
    NAMED = "the named leader"


class IllegalTransitionError(Exception):
    """A change of role that the table does not list: a defect of the implementation, never of the input."""


class Transition(NamedTuple):
    """Row of the table."""

    source: Role
    cause: Cause
    target: Role
    epoch: EpochChange
    leader: LeaderChange
    vote: VoteChange
    rule: str
    """The rule that demands this change of role."""


UNATTACHED, PROSPECTIVE, CANDIDATE, LEADER, FOLLOWER, RESIGNED, STOPPED = Role
RUNNING = (UNATTACHED, PROSPECTIVE, CANDIDATE, LEADER, FOLLOWER, RESIGNED)

# What a transition does to epoch, leader id and voted key.
_KEEP = (EpochChange.KEEP, LeaderChange.KEEP, VoteChange.KEEP)
_ADOPT = (EpochChange.ADOPT, LeaderChange.CLEAR, VoteChange.CLEAR)  # Rule: state.learn-higher-epoch.no-leader.
_FOLLOW = (EpochChange.ADOPT, LeaderChange.NAMED, VoteChange.CLEAR)  # Rule: state.learn-higher-epoch.leader.
_LEADER_FOUND = (EpochChange.KEEP, LeaderChange.NAMED, VoteChange.KEEP)
_VOTE = (EpochChange.KEEP, LeaderChange.KEEP, VoteChange.CAST)
_NOMINATE = (EpochChange.RAISE, LeaderChange.CLEAR, VoteChange.OWN)  # Rule: state.candidate.entry.
_LEAD = (EpochChange.KEEP, LeaderChange.OWN, VoteChange.KEEP)
_NEXT_EPOCH = (EpochChange.RAISE, LeaderChange.CLEAR, VoteChange.CLEAR)
_FORGET_LEADER = (EpochChange.KEEP, LeaderChange.CLEAR, VoteChange.KEEP)
_LOG_EPOCH = (EpochChange.FROM_LOG, LeaderChange.CLEAR, VoteChange.OWN)

TRANSITIONS: tuple[Transition, ...] = (
    # A message of a larger epoch.
    *[
        Transition(role, Cause.LARGER_EPOCH, UNATTACHED, *_ADOPT, "state.learn-higher-epoch.no-leader")
        for role in RUNNING
    ],
    *[
        Transition(role, Cause.LARGER_EPOCH_WITH_LEADER, FOLLOWER, *_FOLLOW, "state.learn-higher-epoch.leader")
        for role in RUNNING
    ],
    # The same, when the endpoint of the leader is unknown: the replica keeps the leader id and looks for the endpoint.
    *[
        Transition(role, Cause.LARGER_EPOCH_WITH_LEADER, UNATTACHED, *_FOLLOW, "discovery.endpoint-lookup")
        for role in RUNNING
    ],
    # The leader of its own epoch, with and without an endpoint.
    Transition(UNATTACHED, Cause.LEADER_OF_EPOCH, FOLLOWER, *_LEADER_FOUND, "state.unattached.leader"),
    Transition(PROSPECTIVE, Cause.LEADER_OF_EPOCH, FOLLOWER, *_LEADER_FOUND, "state.prospective.discovers-leader"),
    Transition(CANDIDATE, Cause.LEADER_OF_EPOCH, FOLLOWER, *_LEADER_FOUND, "state.candidate.leader-equal-epoch"),
    Transition(UNATTACHED, Cause.LEADER_OF_EPOCH, UNATTACHED, *_LEADER_FOUND, "discovery.endpoint-lookup"),
    Transition(PROSPECTIVE, Cause.LEADER_OF_EPOCH, UNATTACHED, *_LEADER_FOUND, "discovery.endpoint-lookup"),
    Transition(CANDIDATE, Cause.LEADER_OF_EPOCH, UNATTACHED, *_LEADER_FOUND, "discovery.endpoint-lookup"),
    # Elections.
    Transition(UNATTACHED, Cause.ELECTION_TIMEOUT, PROSPECTIVE, *_KEEP, "state.unattached.election-timeout"),
    Transition(CANDIDATE, Cause.ELECTION_TIMEOUT, PROSPECTIVE, *_KEEP, "state.candidate.election-timeout"),
    Transition(FOLLOWER, Cause.FETCH_TIMEOUT, PROSPECTIVE, *_KEEP, "state.follower.fetch-timeout"),
    Transition(PROSPECTIVE, Cause.PRE_VOTE_LOST, FOLLOWER, *_KEEP, "state.prospective.lost.known-leader"),
    Transition(PROSPECTIVE, Cause.PRE_VOTE_LOST, UNATTACHED, *_KEEP, "state.prospective.lost.no-leader"),
    Transition(PROSPECTIVE, Cause.VOTE_CAST, PROSPECTIVE, *_VOTE, "state.prospective.add-vote"),
    Transition(PROSPECTIVE, Cause.PRE_VOTE_WON, CANDIDATE, *_NOMINATE, "state.prospective.to-candidate"),
    Transition(PROSPECTIVE, Cause.PRE_VOTE_UNSUPPORTED, CANDIDATE, *_NOMINATE, "prevote.unsupported-version"),
    Transition(CANDIDATE, Cause.ELECTION_WON, LEADER, *_LEAD, "state.candidate.to-leader"),
    # The end of leadership.
    Transition(LEADER, Cause.CHECK_QUORUM_TIMEOUT, RESIGNED, *_KEEP, "check-quorum.resign"),
    Transition(LEADER, Cause.SHUTDOWN, RESIGNED, *_KEEP, "state.leader.resigns"),
    Transition(LEADER, Cause.REMOVAL_COMMITTED, RESIGNED, *_KEEP, "remove-voter.leader-removal"),
    Transition(LEADER, Cause.LAST_TO_REMOVE, RESIGNED, *_KEEP, "reassign.leader-steps-down-before-own-removal"),
    Transition(RESIGNED, Cause.ELECTION_TIMEOUT, UNATTACHED, *_NEXT_EPOCH, "state.resigned.timeout"),
    # Software without KIP-996.
    Transition(RESIGNED, Cause.ELECTION_TIMEOUT, CANDIDATE, *_NOMINATE, "state.resigned.timeout"),
    # The process.
    *[Transition(role, Cause.CRASH, STOPPED, *_KEEP, "durable.soft-transitions") for role in RUNNING],
    Transition(STOPPED, Cause.RESTART, RESIGNED, *_KEEP, "durable.restart.was-leader"),
    Transition(STOPPED, Cause.RESTART, FOLLOWER, *_KEEP, "durable.restart.known-leader"),
    Transition(STOPPED, Cause.RESTART, CANDIDATE, *_FORGET_LEADER, "durable.restart.voted-self"),
    Transition(STOPPED, Cause.RESTART, PROSPECTIVE, *_KEEP, "durable.restart.voted-self"),
    Transition(STOPPED, Cause.RESTART, UNATTACHED, *_KEEP, "durable.restart.known-leader"),
    Transition(STOPPED, Cause.LARGER_EPOCH, UNATTACHED, *_LOG_EPOCH, "durable.restart.log-epoch"),
)
"""Every change of role, in the order of the documentation."""

TRANSITION = {(row.source, row.cause, row.target): row for row in TRANSITIONS}


def role_changes() -> frozenset[tuple[Role, Role]]:
    """Return the pairs of different roles before and after one step.

    A sole voter, and software without Pre-Vote, pass through Prospective (and Candidate) within one step; a Resigned
    sole voter without Pre-Vote even becomes Leader in one.
    Rules: state.sole-voter, state.candidate-only-from-prospective.
    """
    direct = {(row.source, row.target) for row in TRANSITIONS}
    to_prospective = {source for source, target in direct if target is PROSPECTIVE is not source}
    passed_through = {(source, target) for source in to_prospective for target in (CANDIDATE, LEADER)}
    sole_voters = {(STOPPED, LEADER), (RESIGNED, LEADER)}
    return frozenset((a, b) for a, b in direct | passed_through | sole_voters if a is not b)

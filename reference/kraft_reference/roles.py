"""The roles, and the one table of how a replica moves between them.

The table drives the code (`kraft_reference.transitions.enter` refuses what it does not list and takes
epoch, leader and vote from its columns) and the diagram in the documentation.  The model checks the pairs
of roles alone: RoleTable.tla is generated from them, and every step that changes a role must be one of them.
"""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """The role of a replica in one epoch.  Rules: state.roles, metric.current-state."""

    UNATTACHED = "Unattached"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    FOLLOWER = "Follower"
    RESIGNED = "Resigned"
    STOPPED = "Stopped"
    """Not a role of the KIPs: the process does not run."""


class Cause(StrEnum):
    """Why a replica changes its role."""

    ELECTION_TIMEOUT = "election timeout"
    FETCH_TIMEOUT = "fetch timeout"
    CHECK_QUORUM_TIMEOUT = "check-quorum timeout"
    SHUTDOWN = "graceful shutdown"
    REMOVAL_COMMITTED = "own removal committed"
    LAST_TO_REMOVE = "last voter that a reassignment removes"
    LARGER_EPOCH = "larger epoch without a leader"
    LARGER_EPOCH_WITH_LEADER = "larger epoch with a leader"
    LEADER_OF_EPOCH = "leader of the same epoch"
    NON_VOTER_ASKED = "vote asked for by a non-voter"
    PRE_VOTE_WON = "majority of Pre-Votes"
    PRE_VOTE_UNSUPPORTED = "a voter does not support Pre-Vote"
    PRE_VOTE_LOST = "Pre-Vote lost"
    VOTE_CAST = "vote cast"
    ELECTION_WON = "majority of votes"
    CRASH = "crash"
    RESTART = "restart"


class EpochChange(StrEnum):
    """What a transition does to the epoch.  Rule: state.epoch-monotonic."""

    KEEP = "keep"
    RAISE = "raise by one"
    ADOPT = "adopt"
    FROM_LOG = "keep, or the last epoch of the log"


class VoteChange(StrEnum):
    """What a transition does to the voted key.  Rule: state.same-epoch-preserves."""

    KEEP = "keep"
    CLEAR = "clear"
    OWN = "own key"
    CAST = "the requester"


class LeaderChange(StrEnum):
    """What a transition does to the leader id."""

    KEEP = "keep"
    CLEAR = "clear"
    OWN = "own id"
    NAMED = "the named leader"


class IllegalTransitionError(Exception):
    """The transition table has no such row: a defect of the implementation, never of the input."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table."""

    source: Role
    cause: Cause
    target: Role
    epoch: EpochChange
    leader: LeaderChange
    vote: VoteChange
    rules: tuple[str, ...]


_RUNNING = (
    Role.UNATTACHED,
    Role.PROSPECTIVE,
    Role.CANDIDATE,
    Role.LEADER,
    Role.FOLLOWER,
    Role.RESIGNED,
)
_KEEP = (EpochChange.KEEP, LeaderChange.KEEP, VoteChange.KEEP)


def _rows() -> tuple[Transition, ...]:
    rows: list[Transition] = []

    def row(
        sources: tuple[Role, ...],
        cause: Cause,
        target: Role,
        change: tuple[EpochChange, LeaderChange, VoteChange],
        *rules: str,
    ) -> None:
        rows.extend(Transition(source, cause, target, *change, rules) for source in sources)

    adopt, keep, raised = EpochChange.ADOPT, EpochChange.KEEP, EpochChange.RAISE
    # Any message with a larger epoch.
    row(
        _RUNNING,
        Cause.LARGER_EPOCH,
        Role.UNATTACHED,
        (adopt, LeaderChange.CLEAR, VoteChange.CLEAR),
        "state.learn-higher-epoch.no-leader",
    )
    row(
        _RUNNING,
        Cause.LARGER_EPOCH_WITH_LEADER,
        Role.FOLLOWER,
        (adopt, LeaderChange.NAMED, VoteChange.CLEAR),
        "state.learn-higher-epoch.leader",
    )
    row(
        _RUNNING,
        Cause.LARGER_EPOCH_WITH_LEADER,
        Role.UNATTACHED,
        (adopt, LeaderChange.NAMED, VoteChange.CLEAR),
        "state.learn-higher-epoch.leader",
        "discovery.endpoint-lookup",
    )
    # The leader of the own epoch.
    row(
        (Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE),
        Cause.LEADER_OF_EPOCH,
        Role.FOLLOWER,
        (keep, LeaderChange.NAMED, VoteChange.KEEP),
        "state.unattached.leader",
        "state.prospective.discovers-leader",
        "state.candidate.leader-equal-epoch",
    )
    row(
        (Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE),
        Cause.LEADER_OF_EPOCH,
        Role.UNATTACHED,
        (keep, LeaderChange.NAMED, VoteChange.KEEP),
        "discovery.endpoint-lookup",
    )
    # Elections.
    row(
        (Role.UNATTACHED, Role.CANDIDATE),
        Cause.ELECTION_TIMEOUT,
        Role.PROSPECTIVE,
        _KEEP,
        "state.unattached.election-timeout",
        "state.candidate.election-timeout",
        "state.candidate.lost",
    )
    row((Role.FOLLOWER,), Cause.FETCH_TIMEOUT, Role.PROSPECTIVE, _KEEP, "state.follower.fetch-timeout")
    row((Role.UNATTACHED,), Cause.NON_VOTER_ASKED, Role.PROSPECTIVE, _KEEP, "reassign.votes-from-non-voters")
    row((Role.PROSPECTIVE,), Cause.PRE_VOTE_LOST, Role.FOLLOWER, _KEEP, "state.prospective.lost.known-leader")
    row((Role.PROSPECTIVE,), Cause.PRE_VOTE_LOST, Role.UNATTACHED, _KEEP, "state.prospective.lost.no-leader")
    row(
        (Role.PROSPECTIVE,),
        Cause.VOTE_CAST,
        Role.PROSPECTIVE,
        (keep, LeaderChange.KEEP, VoteChange.CAST),
        "state.prospective.add-vote",
    )
    row(
        (Role.PROSPECTIVE,),
        Cause.PRE_VOTE_WON,
        Role.CANDIDATE,
        (raised, LeaderChange.CLEAR, VoteChange.OWN),
        "state.prospective.to-candidate",
        "state.candidate.entry",
    )
    row(
        (Role.PROSPECTIVE,),
        Cause.PRE_VOTE_UNSUPPORTED,
        Role.CANDIDATE,
        (raised, LeaderChange.CLEAR, VoteChange.OWN),
        "prevote.unsupported-version",
        "prevote.response.flag-false",
    )
    row(
        (Role.CANDIDATE,),
        Cause.ELECTION_WON,
        Role.LEADER,
        (keep, LeaderChange.OWN, VoteChange.KEEP),
        "state.candidate.to-leader",
    )
    # The end of a leadership.
    row((Role.LEADER,), Cause.CHECK_QUORUM_TIMEOUT, Role.RESIGNED, _KEEP, "check-quorum.resign")
    row((Role.LEADER,), Cause.SHUTDOWN, Role.RESIGNED, _KEEP, "state.leader.resigns")
    row((Role.LEADER,), Cause.REMOVAL_COMMITTED, Role.RESIGNED, _KEEP, "remove-voter.leader-removal")
    row(
        (Role.LEADER,),
        Cause.LAST_TO_REMOVE,
        Role.RESIGNED,
        _KEEP,
        "reassign.leader-steps-down-before-own-removal",
    )
    row(
        (Role.RESIGNED,),
        Cause.ELECTION_TIMEOUT,
        Role.UNATTACHED,
        (raised, LeaderChange.CLEAR, VoteChange.CLEAR),
        "state.resigned.timeout",
    )
    # Software without KIP-996.
    row(
        (Role.RESIGNED,),
        Cause.ELECTION_TIMEOUT,
        Role.CANDIDATE,
        (raised, LeaderChange.CLEAR, VoteChange.OWN),
        "state.resigned.timeout",
    )
    # The process.
    row(_RUNNING, Cause.CRASH, Role.STOPPED, _KEEP, "durable.soft-transitions")
    row((Role.STOPPED,), Cause.RESTART, Role.RESIGNED, _KEEP, "durable.restart.was-leader")
    row((Role.STOPPED,), Cause.RESTART, Role.FOLLOWER, _KEEP, "durable.restart.known-leader")
    row(
        (Role.STOPPED,),
        Cause.RESTART,
        Role.CANDIDATE,
        (keep, LeaderChange.CLEAR, VoteChange.KEEP),
        "durable.restart.voted-self",
    )
    row((Role.STOPPED,), Cause.RESTART, Role.PROSPECTIVE, _KEEP, "durable.restart.voted-self")
    row((Role.STOPPED,), Cause.RESTART, Role.UNATTACHED, _KEEP, "durable.restart.known-leader")
    row(
        (Role.STOPPED,),
        Cause.LARGER_EPOCH,
        Role.UNATTACHED,
        (EpochChange.FROM_LOG, LeaderChange.CLEAR, VoteChange.OWN),
        "durable.restart.log-epoch",
    )
    return tuple(rows)


TRANSITIONS: tuple[Transition, ...] = _rows()
"""Every transition there is, in the order in which the documentation shows them."""

TRANSITION: dict[tuple[Role, Cause, Role], Transition] = {
    (row.source, row.cause, row.target): row for row in TRANSITIONS
}


def role_changes() -> frozenset[tuple[Role, Role]]:
    """The pairs of different roles before and after one step, passing through included.

    A sole voter, and software without Pre-Vote, pass through Prospective (and Candidate) within one step.
    Rules: state.sole-voter, state.candidate-only-from-prospective.
    """
    direct = {(row.source, row.target) for row in TRANSITIONS}
    to_prospective = {source for source, target in direct if target is Role.PROSPECTIVE is not source}
    passed = {(source, target) for source in to_prospective for target in (Role.CANDIDATE, Role.LEADER)}
    sole_voters = {(Role.STOPPED, Role.LEADER), (Role.RESIGNED, Role.LEADER)}
    return frozenset((a, b) for a, b in direct | passed | sole_voters if a is not b)

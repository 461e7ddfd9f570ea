"""Which rows of the transition table a step of the model takes.

The model has no causes: its operators in Roles.tla are the rows.
So a step is explained by the shortest way through the table from the state before to the state after, over rows whose
causes its action can have, each changing epoch, leader and vote as its columns say.
A step that no way explains is a disagreement between the model and the table.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kraft_reference.roles import TRANSITIONS, Cause, EpochChange, LeaderChange, Role, Transition, VoteChange

NO_LEADER = -1
NO_KEY: tuple[int, str] = (-1, "")


class Brief(NamedTuple):
    """What the columns of the table speak of, as `Brief` of Probes.tla gives it."""

    role: Role
    epoch: int
    leader: int
    voted: tuple[int, str]
    key: tuple[int, str]


_TO_LEADER = (Cause.PRE_VOTE_WON, Cause.PRE_VOTE_UNSUPPORTED, Cause.ELECTION_WON)
_LEARNS = (Cause.LARGER_EPOCH, Cause.LARGER_EPOCH_WITH_LEADER, Cause.LEADER_OF_EPOCH)

CAUSES: dict[str, tuple[Cause, ...]] = {
    "ElectionTimeout": (Cause.ELECTION_TIMEOUT, Cause.PRE_VOTE_LOST, *_TO_LEADER),
    "FetchTimeout": (Cause.FETCH_TIMEOUT, *_TO_LEADER),
    "CheckQuorumTimeout": (Cause.CHECK_QUORUM_TIMEOUT,),
    "Shutdown": (Cause.SHUTDOWN,),
    "HandleVoteRequest": (Cause.LARGER_EPOCH, Cause.VOTE_CAST, Cause.NON_VOTER_ASKED, *_TO_LEADER),
    "HandleVoteResponse": (*_LEARNS, *_TO_LEADER, Cause.PRE_VOTE_LOST),
    "HandleBeginQuorumEpochRequest": _LEARNS,
    "HandleBeginQuorumEpochResponse": _LEARNS,
    "HandleEndQuorumEpochRequest": _LEARNS,
    "HandleEndQuorumEpochResponse": _LEARNS,
    "HandleFetchRequest": (Cause.REMOVAL_COMMITTED,),
    "HandleFetchResponse": _LEARNS,
    "HandleFetchSnapshotResponse": _LEARNS,
    "HandleAddVoterResponse": _LEARNS,
    "HandleRemoveVoterResponse": _LEARNS,
    "HandleUpdateVoterResponse": _LEARNS,
    "ClientAppend": (Cause.REMOVAL_COMMITTED,),
    "AppendVoters": (Cause.REMOVAL_COMMITTED,),
    "AlterPartitionReassignments": (Cause.REMOVAL_COMMITTED,),
    "AdvanceReassignment": (Cause.LAST_TO_REMOVE,),
    "Crash": (Cause.CRASH,),
    "Restart": (Cause.RESTART, Cause.LARGER_EPOCH, Cause.ELECTION_WON),
}
"""What an action of the model can be the cause of."""

_STEPS_MAX = 4


class UnexplainedStepError(Exception):
    """The table has no way from the state before to the state after."""


def rows_taken(action: str, before: Brief, after: Brief, *, pre_vote_unsupported: bool) -> tuple[Transition, ...]:
    """The rows that explain a step.

    `pre_vote_unsupported` tells two rows apart that change the same: a Prospective that gives up Pre-Vote, and one that
    won it.

    Raises:
        UnexplainedStepError: There is no way through the table.
    """
    if before[:4] == after[:4] or action == "ReplaceDisk":
        return ()
    unwanted = Cause.PRE_VOTE_WON if pre_vote_unsupported else Cause.PRE_VOTE_UNSUPPORTED
    causes = frozenset(CAUSES.get(action, ())) - {unwanted}
    ways: list[tuple[Brief, tuple[Transition, ...]]] = [(before, ())]
    for _ in range(_STEPS_MAX):
        for reached, rows in ways:
            if _is_there(reached, after, action):
                return rows
        ways = [(reached, (*rows, row)) for state, rows in ways for row, reached in _onward(state, after, causes)]
    raise UnexplainedStepError(f"{action} from {before} to {after}")


def _is_there(reached: Brief, after: Brief, action: str) -> bool:
    if reached == after:
        return True
    # Unattached casts a vote, and a static voter forgets the directory id of its vote, without leaving the role.
    casts = action == "HandleVoteRequest" and reached.role is Role.UNATTACHED and reached.voted == NO_KEY
    rereads = action == "Restart" and reached.voted[0] == after.voted[0] and after.voted[1] == ""
    return (casts or rereads) and reached._replace(voted=after.voted) == after


def _onward(state: Brief, after: Brief, causes: frozenset[Cause]) -> Iterator[tuple[Transition, Brief]]:
    for row in TRANSITIONS:
        adopts_nothing = row.epoch is EpochChange.ADOPT and after.epoch <= state.epoch
        if row.source is state.role and row.cause in causes and not adopts_nothing:
            yield row, _after(row, state, after)


def _after(row: Transition, state: Brief, after: Brief) -> Brief:
    """The state after a row; what a message or the log contributes is taken from the state after the step."""
    epoch = {EpochChange.KEEP: state.epoch, EpochChange.RAISE: state.epoch + 1}.get(row.epoch, after.epoch)
    leaders = {LeaderChange.KEEP: state.leader, LeaderChange.CLEAR: NO_LEADER, LeaderChange.OWN: state.key[0]}
    votes = {VoteChange.KEEP: state.voted, VoteChange.CLEAR: NO_KEY, VoteChange.OWN: state.key}
    return Brief(row.target, epoch, leaders.get(row.leader, after.leader), votes.get(row.vote, after.voted), state.key)

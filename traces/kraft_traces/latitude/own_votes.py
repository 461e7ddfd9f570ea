"""A leader's vote for itself, which need not be kept: that it leads the epoch says it."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from kraft_reference.state import ReplicaState
from kraft_traces.effects import TracedEffect, TracedPersistQuorumState
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedKey, traced_key

_Shown = TypeVar("_Shown", TracedPersistQuorumState, TracedState)


def with_vote(shown: _Shown, vote: TracedKey) -> _Shown:
    """A quorum state file or a state with the vote for itself that a leader has left out.

    Only of a replica that names itself as leader and names no vote: nobody leads without the own vote, nobody else
    gets a vote while the leader is known, and whoever restarts with such a file starts as Resigned.
    The vote of a Candidate, and a vote for somebody else, stays as it is shown.
    Rules: state.candidate.entry, vote.known-leader.rejects, durable.restart.was-leader.

    Args:
        shown: the file or the state, as an implementation shows it.
        vote: of the replica for itself.
    """
    return replace(shown, voted_key=vote) if shown.voted_key is None and shown.leader_id == vote.id else shown


def with_votes(effects: Sequence[TracedEffect], vote: TracedKey) -> tuple[TracedEffect, ...]:
    """The effects with such files; see `with_vote`."""
    return tuple([with_vote(one, vote) if isinstance(one, TracedPersistQuorumState) else one for one in effects])


def with_own_vote(shown: _Shown, *states: ReplicaState) -> _Shown:
    """The same beside the reference.

    Args:
        shown: the file or the state, as an implementation shows it.
        states: the reference's at that moment, the first with such a vote in that epoch counts; at kraft.version 0 a
            vote may be without its directory id, and a constructed state may have another vote.
    """
    for state in states:
        voted = state.voted_key
        if shown.epoch == state.epoch and voted is not None and voted.id == state.key.id:
            return with_vote(shown, traced_key(voted))
    return shown


def with_own_votes(effects: Sequence[TracedEffect], *states: ReplicaState) -> tuple[TracedEffect, ...]:
    """The effects with such files; see `with_own_vote`."""
    return tuple([with_own_vote(one, *states) if isinstance(one, TracedPersistQuorumState) else one for one in effects])

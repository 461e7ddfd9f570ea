"""Votes that need not be kept: a leader's for itself, and without Pre-Vote each beside a known leader."""

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


def with_own_vote(shown: _Shown, *states: ReplicaState, keeps_votes: bool = True) -> _Shown:
    """The same beside the reference.

    Args:
        shown: the file or the state, as an implementation shows it.
        states: the reference's at that moment, the first with such a vote in that epoch counts; at kraft.version 0 a
            vote may be without its directory id, and a constructed state may have another vote.
        keeps_votes: whether the implementation has to keep its vote beside a leader.  KIP-996 asks for it, because a
            Prospective may lose the leader; without Pre-Vote the leader is known until the epoch ends, and that alone
            refuses other votes.
    """
    for state in states:
        voted = state.voted_key
        if shown.epoch != state.epoch or voted is None:
            continue
        if not keeps_votes and shown.voted_key is None and shown.leader_id is not None:
            return replace(shown, voted_key=traced_key(voted))
        if voted.id == state.key.id:
            return with_vote(shown, traced_key(voted))
    return shown


def with_own_votes(
    effects: Sequence[TracedEffect], *states: ReplicaState, keeps_votes: bool = True
) -> tuple[TracedEffect, ...]:
    """The effects with such files; see `with_own_vote`."""
    return tuple(
        [
            with_own_vote(one, *states, keeps_votes=keeps_votes) if isinstance(one, TracedPersistQuorumState) else one
            for one in effects
        ]
    )

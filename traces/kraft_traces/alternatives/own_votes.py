"""Votes that need not be kept: a leader's for itself, and without Pre-Vote any vote while the leader is known."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from kraft_reference.state import ReplicaState
from kraft_traces.effects import TracedEffect, TracedPersistQuorumState
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedKey, traced_key

_Traced = TypeVar("_Traced", TracedPersistQuorumState, TracedState)


def with_vote(traced: _Traced, vote: TracedKey) -> _Traced:
    """Return a quorum state file or a state with the vote for itself that a leader omitted.

    This applies only to a replica that is its own leader and has no vote.  A leader has always voted for itself, no
    other candidate gets its vote while the leader is known, and a replica that restarts with such a file starts as
    Resigned. The vote of a Candidate, and a vote for another replica, is not changed.
    Rules: state.candidate.entry, vote.known-leader.rejects, durable.restart.was-leader.

    Args:
        traced: file or state of an implementation.
        vote: vote of the replica for itself.
    """
    return replace(traced, voted_key=vote) if traced.voted_key is None and traced.leader_id == vote.id else traced


def with_votes(effects: Sequence[TracedEffect], vote: TracedKey) -> tuple[TracedEffect, ...]:
    """Return the effects with such files; see `with_vote`."""
    return tuple([with_vote(it, vote) if isinstance(it, TracedPersistQuorumState) else it for it in effects])


def with_own_vote(traced: _Traced, *states: ReplicaState, keeps_votes: bool = True) -> _Traced:
    """Return a file or a state with a vote that it may omit, taken from the reference.

    Args:
        traced: file or state of an implementation.
        states: states of the reference at that moment; the first with such a vote in that epoch counts.  At
            kraft.version 0 a vote may lack its directory id, and a constructed state may have another vote.
        keeps_votes: True if the implementation has to keep its vote while the leader is known.  KIP-996 requires it,
            because a Prospective may lose the leader.  Without Pre-Vote the leader is known until the epoch ends, which
            is enough to refuse other votes.
    """
    for state in states:
        voted = state.voted_key
        if traced.epoch != state.epoch or voted is None:
            continue
        if not keeps_votes and traced.voted_key is None and traced.leader_id is not None:
            return replace(traced, voted_key=traced_key(voted))
        if voted.id == state.key.id:
            return with_vote(traced, traced_key(voted))
    return traced


def with_own_votes(
    effects: Sequence[TracedEffect], *states: ReplicaState, keeps_votes: bool = True
) -> tuple[TracedEffect, ...]:
    """Return the effects with such files; see `with_own_vote`."""
    return tuple(
        [
            with_own_vote(effect, *states, keeps_votes=keeps_votes)
            if isinstance(effect, TracedPersistQuorumState)
            else effect
            for effect in effects
        ]
    )

"""Vectors for an adapter without KIP-996: those in which software without Pre-Vote has the same outcome.

Software without Pre-Vote campaigns as soon as its election timer fires.
A vector applies if the reference without Pre-Vote, given the vector's events without Pre-Votes, has the expected
outcome.
"""

from collections.abc import Iterator
from contextlib import suppress

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import HelloReply, Reset, RestartReply, StepReply
from kraft_conformance.runner.asking import request_of_event
from kraft_reference.roles import Role
from kraft_traces.checkpoints import traced_replica_state
from kraft_traces.message_types import TracedVoteRequest, TracedVoteResponse
from kraft_vectors.expecting import without_id
from kraft_vectors.format import Vector, VectorEvent
from kraft_vectors.state_changes import apply_changes

_OF_A_ROUND = ("Poll", "ElectionTimeout")
"""Events that send Pre-Votes and end a Pre-Vote round."""


def without_pre_votes(vector: Vector, hello: HelloReply) -> Vector:
    """Return the vector for this adapter; without KIP-996, the replica and the history have no Pre-Vote.

    The vector requires KIP-996 if software without Pre-Vote has another outcome.
    """
    if hello.has_pre_vote:
        return vector
    replicas = vector.cluster.replicas
    own = tuple(
        [replace(replica, pre_vote="unsupported") if replica.id == vector.replica else replica for replica in replicas]
    )
    history = None if vector.history is None else tuple(_without_rounds(vector))
    old = replace(vector, cluster=replace(vector.cluster, replicas=own), history=history)
    kips = tuple([kip for kip in vector.requires.kips if kip != "KIP-996"])
    # The reference raises ValueError for an impossible event, such as a crash that keeps more than the log.
    with suppress(ValueError):
        if not _uses_pre_vote(vector) and _does_the_same(old):
            return replace(old, requires=replace(vector.requires, kips=kips))
    return replace(vector, requires=replace(vector.requires, kips=(*kips, "KIP-996")))


def _uses_pre_vote(vector: Vector) -> bool:
    """True if the steps begin in a Pre-Vote round, or the replica receives a Pre-Vote or its response in them."""
    return vector.before.state.role == Role.PROSPECTIVE or any(map(_is_of_pre_vote, vector.steps))


def _is_of_pre_vote(event: VectorEvent) -> bool:
    return isinstance(event.message, TracedVoteRequest | TracedVoteResponse) and event.message.pre_vote is True


def _without_rounds(vector: Vector) -> Iterator[VectorEvent]:
    """Yield the history without Pre-Votes: the election timer fires when the Pre-Vote round would be won.

    No replica sends a Pre-Vote to this software, because its versions of VoteRequest have none.
    """
    reference = ReferenceAdapter()
    reference.answer(Reset(id=0, replica=vector.replica, cluster=vector.cluster))
    timeout: VectorEvent | None = None
    for event in vector.history or ():
        before = reference.replica().state.role
        reference.answer(request_of_event(event))
        after = reference.replica().state.role
        if after is Role.PROSPECTIVE and before is not Role.PROSPECTIVE:
            timeout = event
        elif timeout is not None and before is Role.PROSPECTIVE and after is Role.CANDIDATE:
            yield replace(timeout, draw=event.draw)
        elif not _is_of_pre_vote(event) and (before is not Role.PROSPECTIVE or event.event not in _OF_A_ROUND):
            yield event


def _does_the_same(vector: Vector) -> bool:
    """True if the reference, configured as the vector says, has the expected outcome."""
    reference = ReferenceAdapter()
    before = vector.before if vector.history is None else UNSET
    reference.answer(Reset(id=0, replica=vector.replica, cluster=vector.cluster, before=before))
    for event in vector.history or ():
        reference.answer(request_of_event(event))
    if traced_replica_state(reference.replica().state) != vector.before:
        return False
    expected = vector.before.state
    for step in vector.steps:
        reply = reference.answer(request_of_event(step))
        expected = apply_changes(expected, step.state)
        if isinstance(reply, StepReply | RestartReply) and (
            tuple(map(without_id, reply.effects)) != step.outputs or reply.refusal != step.refusal
        ):
            return False
        if reference.state() != expected:
            return False
    return True

"""The vectors for an adapter without KIP-996: those in which software without Pre-Vote does the same.

Software without Pre-Vote stands for election as soon as its timer fires.
The reference as such software decides about each vector: it plays the vector without its Pre-Votes, and has to do what
the vector expects.
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
from kraft_vectors.state_changes import applied

_OF_A_ROUND = ("Poll", "ElectionTimeout")
"""The events that, in a Pre-Vote round, send Pre-Votes and end the round."""


def as_asked(vector: Vector, hello: HelloReply) -> Vector:
    """Return the vector for this adapter: for one without KIP-996, with a replica and a history without Pre-Vote.

    It needs KIP-996 if software without Pre-Vote does otherwise.
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
    # The reference raises a ValueError at an event that cannot be, such as a crash that keeps more than there is.
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
    """The history without Pre-Votes: a timer that begins a Pre-Vote round fires only when the round is won.

    Nobody sends a Pre-Vote to software without it, because its versions of VoteRequest have none.
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
    """True if the reference, configured as the vector says, does all that the vector expects."""
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
        expected = applied(expected, step.state)
        if isinstance(reply, StepReply | RestartReply) and (
            tuple(map(without_id, reply.effects)) != step.outputs or reply.refusal != step.refusal
        ):
            return False
        if reference.state() != expected:
            return False
    return True

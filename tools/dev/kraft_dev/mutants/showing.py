"""Replies of an adapter reduced to a lower observability level."""

from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.messages import HelloReply, Reply, RestartReply, StepReply
from kraft_conformance.protocol.partitions import PartitionStepReply
from kraft_traces.effects import TracedAnswer, TracedSend
from kraft_vectors.features import Level
from kraft_vectors.partitions.shown import ShownStorePartitions, ShownStoreReassignPartitions

_Reply = TypeVar("_Reply", bound=Reply)


def at_level(reply: _Reply, level: Level, *, injects: bool) -> _Reply:
    """Return a reply without the fields above an observability level; its `hello` claims that level.

    Args:
        reply: The adapter's reply.
        level: The observability level.
        injects: True if a state can be injected.
    """
    if isinstance(reply, HelloReply):
        return replace(reply, observability=level, state_injection=injects)
    if isinstance(reply, StepReply | RestartReply) and level != "state":
        reply = replace(reply, refusal=UNSET)
    if level != "wire":
        return reply
    if isinstance(reply, StepReply | RestartReply):
        return replace(
            reply, effects=tuple([effect for effect in reply.effects if isinstance(effect, TracedSend | TracedAnswer)])
        )
    if isinstance(reply, PartitionStepReply):
        stored = ShownStorePartitions | ShownStoreReassignPartitions
        return replace(reply, effects=tuple([effect for effect in reply.effects if not isinstance(effect, stored)]))
    return reply

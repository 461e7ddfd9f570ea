"""The replies of an adapter as those of one that shows less."""

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
    """A reply without what a level of observability does not show; `hello` says so.

    Args:
        reply: to whatever was asked.
        level: what is shown.
        injects: whether a state can be set.
    """
    if isinstance(reply, HelloReply):
        return replace(reply, observability=level, state_injection=injects)
    if isinstance(reply, StepReply | RestartReply) and level != "state":
        reply = replace(reply, refusal=UNSET)
    if level != "wire":
        return reply
    if isinstance(reply, StepReply | RestartReply):
        return replace(
            reply, effects=tuple([one for one in reply.effects if isinstance(one, TracedSend | TracedAnswer)])
        )
    if isinstance(reply, PartitionStepReply):
        stored = ShownStorePartitions | ShownStoreReassignPartitions
        return replace(reply, effects=tuple([one for one in reply.effects if not isinstance(one, stored)]))
    return reply

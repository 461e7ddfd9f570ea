"""The controller of brokers, topics and partitions: the leader of the quorum, which knows what is committed.

One request at a time, from what the committed records say to the commit of the records that it makes of it.
What becomes of a partition is decided by the reference (`kraft_partitions`); nothing of KIP-455 is here.
Rules: partition-reassign.controller-only, partition-reassign.persisted.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from kraft_kafka.node.driver import Node
from kraft_kafka.node.image import ABORT, BEGIN, END, Image, changes, counted, image_of
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import due, handle
from kraft_partitions.decisions import KAFKA_4, KIP
from kraft_partitions.effects import StorePartitions
from kraft_partitions.events import CompleteReassignment, Event
from kraft_partitions.outcome import Outcome
from kraft_partitions.state import ControllerState
from kraft_reference.roles import Role

TOPIC = 2
"""The resource type of a topic's configuration."""
_NOBODY = -1
_Answer = TypeVar("_Answer")


class _NotControllerError(Exception):
    """This node does not lead, or leads no longer: what became of the request is not known."""


class Controller:
    """Of one node, whether it leads or not."""

    def __init__(self, node: Node) -> None:
        """That of this node."""
        self.node = node
        self._one_at_a_time = asyncio.Lock()
        self._read_end = -1
        self._image = Image()

    @property
    def image(self) -> Image:
        """What the committed records say, as far as this node knows of their commit.

        Raises:
            WireError: one of them is of a version that came after 4.1.
        """
        state = self.node.replica.state
        end = min(state.high_watermark, state.log.end_offset)
        if end != self._read_end:
            self._read_end, self._image = end, image_of(self.node.disk.values(end))
        return self._image

    async def write(
        self, decide: Callable[[Image], tuple[Sequence[bytes], _Answer]], not_controller: _Answer
    ) -> _Answer:
        """Make records of what is committed, and answer once they are too; all of them count, or none.

        Args:
            decide: gives the records and the answer.
            not_controller: the answer where this node does not lead, or leads no longer.
        """
        async with self._one_at_a_time:
            try:
                await self._complete()
                values, answer = decide(self._led())
                await self._commit(values)
            except _NotControllerError:
                return not_controller
            with suppress(_NotControllerError):
                await self._complete()
            return answer

    async def happen(self, event: Event) -> Outcome:
        """What the reference makes of an event, stored; a node that does not lead answers as the reference does."""

        def decide(image: Image) -> tuple[Sequence[bytes], Outcome]:
            outcome = self.outcome(image, event)
            return self.records(image, outcome), outcome

        return await self.write(decide, self.outcome(self.image, event, _NOBODY))

    def outcome(self, image: Image, event: Event, controller: int | None = None) -> Outcome:
        """What the reference makes of an event at this node, which is the controller unless another one is named."""
        state, configuration = self._reference(image, self.node.id if controller is None else controller)
        return handle(state, event, configuration)

    def records(self, image: Image, outcome: Outcome) -> list[bytes]:
        """Those of what an outcome stores."""
        stored = [effect for effect in outcome.effects if isinstance(effect, StorePartitions)]
        return [value for effect in stored for value in changes(image, effect.partitions)]

    def _reference(self, image: Image, controller: int) -> tuple[ControllerState, PartitionConfiguration]:
        """The state of the reference that the records say, and its configuration."""
        partitions = dict(sorted(image.partitions.items()))
        unclean = [
            name
            for (kind, name), config in image.configs.items()
            if kind == TOPIC and config.get("unclean.leader.election.enable") == "true"
        ]
        profile = KIP if self.node.configuration.profile.name == KIP.name else KAFKA_4
        configuration = PartitionConfiguration(
            frozenset(image.brokers), {}, (self.node.id,), frozenset(unclean), profile
        )
        return ControllerState(controller, {controller: partitions}, partitions, image.alive), configuration

    def _led(self) -> Image:
        if not self.node.leads:
            raise _NotControllerError
        return self.image

    async def _complete(self) -> None:
        """Complete what is due, each in a step of its own.  Rule: partition-reassign.complete-in-one-step."""
        while ready := due(*self._reference(self._led(), self.node.id)):
            outcome = self.outcome(self.image, CompleteReassignment(ready[0]))
            await self._commit(self.records(self.image, outcome))

    async def _commit(self, values: Sequence[bytes]) -> None:
        """Append records as one step, and wait until they are committed."""
        if not values:
            return
        node, epoch = self.node, self.node.replica.state.epoch
        _, is_open = counted(node.disk.values(node.replica.state.log.end_offset))
        whole = [BEGIN, *values, END] if len(values) > 1 else [*values]
        for value in [ABORT, *whole] if is_open else whole:
            node.append(value)
        end = node.replica.state.log.end_offset
        while node.replica.state.high_watermark < end:
            node.changed.clear()
            await node.changed.wait()
            if node.replica.state.role is not Role.LEADER or node.replica.state.epoch != epoch:
                raise _NotControllerError

"""The controller of brokers, topics and partitions: the leader of the quorum.

It handles one request at a time: it reads the committed records, makes new records, and waits for their commit.
The reference (`kraft_partitions`) decides every partition change; nothing of KIP-455 is here.
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
_NO_CONTROLLER = -1
_Answer = TypeVar("_Answer")


class _NotControllerError(Exception):
    """The node does not lead, or has lost leadership: the outcome of the request is unknown."""


class Controller:
    """The controller of a node, whether the node leads or not."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._one_at_a_time = asyncio.Lock()
        self._read_end = -1
        self._image = Image()

    @property
    def image(self) -> Image:
        """State from the records that this node knows as committed.

        Raises:
            WireError: a record has a version that is newer than 4.1.
        """
        state = self.node.replica.state
        end = min(state.high_watermark, state.log.end_offset)
        if end != self._read_end:
            self._read_end, self._image = end, image_of(self.node.disk.values(end))
        return self._image

    async def write(
        self, decide: Callable[[Image], tuple[Sequence[bytes], _Answer]], not_controller: _Answer
    ) -> _Answer:
        """Make records from the committed state, and answer once they are committed; they take effect atomically.

        Args:
            decide: returns the records and the answer.
            not_controller: the answer if this node does not lead, or has lost leadership.
        """
        async with self._one_at_a_time:
            try:
                await self._complete()
                values, answer = decide(self._require_leadership())
                await self._commit(values)
            except _NotControllerError:
                return not_controller
            with suppress(_NotControllerError):
                await self._complete()
            return answer

    async def happen(self, event: Event) -> Outcome:
        """Handle an event with the reference and store its outcome; a node that does not lead stores nothing."""

        def decide(image: Image) -> tuple[Sequence[bytes], Outcome]:
            outcome = self.outcome(image, event)
            return self.records(image, outcome), outcome

        return await self.write(decide, self.outcome(self.image, event, _NO_CONTROLLER))

    def outcome(self, image: Image, event: Event, controller: int | None = None) -> Outcome:
        """Return the reference's outcome of an event; this node is the controller unless another is named."""
        state, configuration = self._reference(image, self.node.id if controller is None else controller)
        return handle(state, event, configuration)

    def records(self, image: Image, outcome: Outcome) -> list[bytes]:
        """Return the records of an outcome's stored changes."""
        stored = [effect for effect in outcome.effects if isinstance(effect, StorePartitions)]
        return [value for effect in stored for value in changes(image, effect.partitions)]

    def _reference(self, image: Image, controller: int) -> tuple[ControllerState, PartitionConfiguration]:
        """Return the reference's state that the records encode, and its configuration."""
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

    def _require_leadership(self) -> Image:
        if not self.node.leads:
            raise _NotControllerError
        return self.image

    async def _complete(self) -> None:
        """Complete each due reassignment, in a step of its own.  Rule: partition-reassign.complete-in-one-step."""
        while ready := due(*self._reference(self._require_leadership(), self.node.id)):
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

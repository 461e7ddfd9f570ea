"""Adapter of the reference's partition controllers: the example for adapters of KIP-455.

`adapters.reference` replies to `hello` and passes requests whose type begins with `partition_` to this module.
"""

from msgspec import UNSET

from kraft_conformance.protocol.partitions import (
    PartitionObserve,
    PartitionObserveReply,
    PartitionReply,
    PartitionRequest,
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
)
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.occurrence import happen
from kraft_partitions.state import ControllerState, initial_state
from kraft_traces.partitions.encode import configuration_of, event_of, line_of, traced_state
from kraft_vectors.partitions.values import shown_effect, state_from, view_of


class PartitionAdapter:
    """All controllers of a cluster."""

    def __init__(self, controllers: Controllers = REFERENCE) -> None:
        self._controllers = controllers
        self.configuration: PartitionConfiguration | None = None
        self._state: ControllerState | None = None

    def answer(self, request: PartitionRequest) -> PartitionReply:
        """Handle a request and return the reply.

        Raises:
            ValueError: the request is not possible in this state.
        """
        match request:
            case PartitionReset(id=number):
                self.configuration = configuration_of(request.cluster)
                before = request.before
                self._state = initial_state(self.configuration) if before is UNSET else state_from(before)
                return PartitionResetReply(id=number)
            case PartitionStep(id=number):
                configuration, state = self._running()
                done = happen(1, state, event_of(request.event), configuration, self._controllers)
                self._state = done.state
                effects = tuple(map(shown_effect, line_of(done).effects))
                return PartitionStepReply(id=number, effects=effects, refusal=done.refusal)
            case PartitionObserve(id=number):
                return PartitionObserveReply(id=number, state=view_of(traced_state(self._running()[1])))

    def _running(self) -> tuple[PartitionConfiguration, ControllerState]:
        if self.configuration is None or self._state is None:
            raise ValueError("there was no partition_reset yet")
        return self.configuration, self._state

"""The correlation ids that an implementation counts by itself, and those that the runner draws.

A correlation id is a name: any number is right that tells a request from the others on its connection.
What an adapter says is turned into the drawn ids, and what it is told into its own, so that nothing else has to know.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_conformance.runner.plain import tag_of
from kraft_conformance.runner.requests_ahead import STARTS_ANEW, request_of
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_vectors.draw import TracedDraw


class Correlations:
    """The open requests of one implementation; those that it was given with a state keep their drawn ids."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, int], int] = {}
        """Receiver and drawn id of a request that may still be answered: its own id."""

    def addressed(self, event: str, message: TracedMessage | UnsetType) -> TracedMessage | UnsetType:
        """The message of an event for the implementation: an answer has the id of its request."""
        if event in STARTS_ANEW:
            self._own.clear()
        if message is UNSET or not tag_of(message).endswith("Response"):
            return message
        if message.source is UNSET or message.correlation_id is UNSET:
            return message
        return _renamed(message, self._own.pop((message.source, message.correlation_id), message.correlation_id))

    def drawn(self, draw: TracedDraw, effects: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
        """What the implementation did in a step with this draw; an id that another open request has stays as it is."""
        return tuple([self._drawn(draw.correlation_id, effect) for effect in effects])

    def _drawn(self, drawn: int, effect: TracedEffect) -> TracedEffect:
        request = request_of(effect)
        if request is None or request.correlation_id is UNSET or request.destination is UNSET:
            return effect
        if any((to, own) == (request.destination, request.correlation_id) for (to, _), own in self._own.items()):
            return effect
        self._own[request.destination, drawn] = request.correlation_id
        return TracedSend(_renamed(request, drawn))

    def observed(self, state: TracedState) -> TracedState:
        """The state of the implementation with the drawn ids of its outstanding requests."""
        if not state.awaiting:
            return state
        drawn = {(to, own): drawn for (to, drawn), own in self._own.items()}
        return replace(state, awaiting=tuple([(to, drawn.get((to, own), own)) for to, own in state.awaiting]))


def _renamed(message: TracedMessage, correlation_id: int) -> TracedMessage:
    return message if message.correlation_id == correlation_id else replace(message, correlation_id=correlation_id)

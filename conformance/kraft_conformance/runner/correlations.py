"""Translation between an implementation's own correlation ids and those that the runner draws.

A correlation id is a name: any number that distinguishes a request from the others on its connection is right.
Messages from the adapter get the drawn ids, and messages to it its own ids, so no other module has to know.
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
    """Open requests of an implementation; requests of an injected state keep their drawn ids."""

    def __init__(self) -> None:
        self._own: dict[tuple[int, int], int] = {}
        """Own ids of open requests by receiver and drawn id."""

    def addressed(self, event: str, message: TracedMessage | UnsetType) -> TracedMessage | UnsetType:
        """Return the message of an event with the implementation's own id if it is a response."""
        if event in STARTS_ANEW:
            self._own.clear()
        if message is UNSET or not tag_of(message).endswith("Response"):
            return message
        if message.source is UNSET or message.correlation_id is UNSET:
            return message
        return _renamed(message, self._own.pop((message.source, message.correlation_id), message.correlation_id))

    def drawn(self, draw: TracedDraw, effects: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
        """Return the effects of a step with drawn ids; an id that another open request uses stays unchanged."""
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
        """Return the implementation's state with the drawn ids of its open requests."""
        if not state.awaiting:
            return state
        drawn = {(to, own): drawn for (to, drawn), own in self._own.items()}
        return replace(state, awaiting=tuple([(to, drawn.get((to, own), own)) for to, own in state.awaiting]))


def _renamed(message: TracedMessage, correlation_id: int) -> TracedMessage:
    return message if message.correlation_id == correlation_id else replace(message, correlation_id=correlation_id)

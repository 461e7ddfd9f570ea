"""Additional requests (`may_send`) of an implementation, and their effect on later steps of the vector.

An additional request is in flight like any other: the vector's response may answer it, and while it is in flight the
implementation need not send the same request when the vector does.
"""

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.runner.plain import compare, plain, tag_of
from kraft_spec.difference import Difference
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_vectors.format import VectorEvent

STARTS_ANEW = frozenset({"Crash", "Restart", "ReplaceDisk"})
"""Events that close all connections, so that no old response can arrive."""


def request_of(effect: TracedEffect) -> TracedMessage | None:
    """Return the request that an effect sends; None for another effect or a response."""
    is_request = isinstance(effect, TracedSend) and tag_of(effect.message).endswith("Request")
    return effect.message if is_request else None  # type: ignore[union-attr]


class RequestsAhead:
    """Additional requests of an implementation so far."""

    def __init__(self) -> None:
        self._out: dict[int, TracedMessage] = {}
        """Additional requests in flight, by receiver."""
        self._named: dict[tuple[str, int, int], int] = {}
        """The implementation's correlation id, by kind, receiver and correlation id of the vector's request."""
        self._receivers: set[int] = set()

    def is_out(self, wanted: TracedMessage) -> bool:
        """True if the implementation has sent this request before and got no response."""
        sent = self._out.get(_receiver(wanted))
        if sent is None:
            return False
        without_id = plain(wanted)
        without_id.pop("correlation_id", None)
        return not any(isinstance(difference, Difference) for difference in compare("", without_id, plain(sent)))

    def follow(
        self,
        event: VectorEvent,
        awaited: Sequence[tuple[int, int]],
        expected: Sequence[TracedEffect],
        actual: Sequence[TracedEffect],
    ) -> None:
        """Record an event and its requests.

        Args:
            event: event of the vector.
            awaited: receiver and correlation id of the vector's requests in flight before it.
            expected: the vector's effects.
            actual: the implementation's effects.
        """
        self._forget(event)
        wanted = {_key(request): request for request in map(request_of, expected) if request is not None}
        sent = {_key(request): request for request in map(request_of, actual) if request is not None}
        for key, request in wanted.items():
            if key not in sent and self.is_out(request):
                self._name(request, request.correlation_id, self._out[key[1]])
            else:
                self._out.pop(key[1], None)
        for key, request in sent.items():
            if key not in wanted:
                self._name(request, dict(awaited).get(key[1], UNSET), request)
                self._out[key[1]] = request
                self._receivers.add(key[1])

    def _forget(self, event: VectorEvent) -> None:
        if event.event in STARTS_ANEW:
            self._out.clear()
        elif event.event == "RequestTimeout":
            assert event.input is not UNSET, "a timeout has an input"
            self._out.pop(event.input.destination, None)
        elif event.message is not UNSET and tag_of(event.message).endswith("Response"):
            self._out.pop(event.message.source, None)

    def _name(self, request: TracedMessage, theirs: object, own: TracedMessage) -> None:
        if isinstance(theirs, int) and own.correlation_id is not UNSET:
            self._named[_kind(request), _receiver(request), theirs] = own.correlation_id

    def addressed(self, event: VectorEvent) -> VectorEvent:
        """Return the event; a response gets the implementation's correlation id."""
        message = event.message
        if message is UNSET or message.source is UNSET or message.correlation_id is UNSET:
            return event
        if not tag_of(message).endswith("Response"):
            return event
        own = self._named.get((_kind(message), message.source, message.correlation_id))
        return event if own is None else replace(event, message=replace(message, correlation_id=own))

    def without_these(self, state: TracedState) -> TracedState:
        """Return the state without connections that had an additional request; they are not judged."""
        if not self._receivers or state.awaiting is UNSET:
            return state
        return replace(
            state, awaiting=tuple([request for request in state.awaiting if request[0] not in self._receivers])
        )


def _kind(message: TracedMessage) -> str:
    return tag_of(message).removesuffix("Request").removesuffix("Response")


def _receiver(message: TracedMessage) -> int:
    return -1 if message.destination is UNSET else message.destination


def _key(message: TracedMessage) -> tuple[str, int]:
    return tag_of(message), _receiver(message)

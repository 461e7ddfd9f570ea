"""Search for the event that sends a captured message."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from kraft_spec.difference import Difference
from kraft_traces.check.differences import message_differences
from kraft_traces.check.observation import agrees, canonical_message
from kraft_traces.effects import TracedSend
from kraft_traces.inference.captured import FETCHES, CapturedMessage
from kraft_traces.inference.costs import LATE, LIKELY_LATE
from kraft_traces.inference.events import Events
from kraft_traces.inference.nodes import Node, Unseen
from kraft_traces.lines import EventLine, TracedInput


@dataclass(slots=True)
class Miss:
    """Message of the model that is closest to an unexplained one."""

    differences: tuple[Difference, ...]
    node: Node
    """Node after the event that sends it."""
    sent: int
    """Number of that event."""


class Reaching:
    """Search for the event that sends one message."""

    def __init__(self, events: Events, target: CapturedMessage, *, thorough: bool) -> None:
        """With `thorough`, a received message is likely not to be handled yet."""
        self._events = events
        self._target = target
        self._late = LIKELY_LATE if thorough else LATE
        self._wanted = {**canonical_message(target.message), "correlation_id": UNSET}
        self.miss: Miss | None = None

    def unseen(self, node: Node) -> Unseen | None:
        """Return the message if an earlier event has sent it."""
        return next((unseen for unseen in node.unseen if agrees(self._wanted, unseen.message)), None)

    def reached(self, node: Node) -> Node | None:
        """Return the node after an earlier event or one more event sent the message; None if neither sends it."""
        late = self._late * len(node.responses)
        if (unseen := self.unseen(node)) is not None:
            return self._match(node, unseen)._replace(cost=node.cost + late)
        for line, handled in self._lines(node):
            for after, _ in self._events.taken(node, line, late, handled):
                new = [unseen for unseen in after.unseen if unseen.event == after.events]
                sent = next((unseen for unseen in new if self._is_target(unseen, after)), None)
                if sent is not None:
                    return self._match(after, sent)
        return None

    def _lines(self, node: Node) -> Iterator[tuple[EventLine, int | None]]:
        """Yield the events that may send it, each with the place of the message that it delivers."""
        target, request = self._target, self._target.request
        if request is None and target.type in FETCHES:
            yield self._events.line(node, "PollFetch", input=TracedInput(destination=target.destination)), None
        elif request is None:
            yield self._events.line(node, "Poll"), None
        elif request in node.owed:
            yield replace(self._events.line(node, "Poll"), effects=self._response(node)), None
        elif request in node.requests:
            line = self._events.delivery(node, request)
            if target.type == "FetchResponse":
                yield replace(line, effects=self._response(node)), request
            yield line, request

    def _response(self, node: Node) -> tuple[TracedSend, ...]:
        """Return the Fetch response as an effect, with the place of the request as correlation id."""
        id_ = f"{node.events + 1}.{self._target.destination}"
        return (TracedSend(replace(self._target.message, correlation_id=self._target.request, id=id_)),)

    def _is_target(self, unseen: Unseen, after: Node) -> bool:
        message = unseen.message
        if message["type"] != self._wanted["type"] or message["destination"] != self._target.destination:
            return False
        if agrees(self._wanted, message):
            return True
        differing = tuple(message_differences("message.", message, self._wanted, complete=False))
        # A miss after few hidden events is nearer than one after many.
        if self.miss is None or (len(differing), after.cost) < (len(self.miss.differences), self.miss.node.cost):
            self.miss = Miss(differing, after, unseen.event)
        return False

    def _match(self, node: Node, unseen: Unseen) -> Node:
        place, last = self._target.number, node.last
        assert last is not None, "an event has sent it"
        sent_with: int = unseen.message["correlation_id"]  # type: ignore[assignment]
        own_requests = (
            node.own_requests if self._target.request is not None else {**node.own_requests, place: sent_with}
        )
        sent_ms = (
            node.own_requests_ms
            if self._target.request is not None
            else {**node.own_requests_ms, place: unseen.after_ms}
        )
        matched = last._replace(matched=(*last.matched, (place, unseen.event)))
        unseen_after = tuple([sent for sent in node.unseen if sent is not unseen])
        owed = tuple([request for request in node.owed if request != self._target.request])
        return node._replace(
            unseen=unseen_after, own_requests=own_requests, own_requests_ms=sent_ms, owed=owed, last=matched
        )

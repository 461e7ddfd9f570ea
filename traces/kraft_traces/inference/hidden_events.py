"""Possible hidden events of a replica before a captured message that it sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from kraft_reference.records import RecordKind
from kraft_traces.check.observation import agrees, canonical_message
from kraft_traces.inference.captured import FETCHES, CapturedMessage
from kraft_traces.inference.costs import (
    APPEND,
    HANDLED_REQUEST,
    HANDLED_RESPONSE,
    LIKELY_RESTART,
    LOST,
    OUT_OF_REACH,
    REQUEST_TIMEOUT,
    RESTART,
    SILENCE,
    TIMER,
    UNANSWERED,
    UNREAD_APPEND,
    WAITING_FETCH,
)
from kraft_traces.inference.events import Events
from kraft_traces.inference.nodes import Node
from kraft_traces.lines import TracedInput
from kraft_traces.message_types import TracedFetchResponse

_TIMERS: Mapping[str, tuple[str, ...]] = {
    "Unattached": ("ElectionTimeout",),
    "Prospective": ("ElectionTimeout",),
    "Candidate": ("ElectionTimeout",),
    "Resigned": ("ElectionTimeout",),
    "Follower": ("FetchTimeout",),
    "Leader": ("BeginQuorumEpochTimeout", "CheckQuorumTimeout"),
}


class HiddenEvents:
    """Possible hidden events of one replica before one message."""

    def __init__(self, events: Events, target: CapturedMessage, place: int, *, thorough: bool) -> None:
        """`place` is as for `Events`; `thorough` adds records that no captured Fetch response has."""
        self._thorough = thorough
        self._events = events
        self._replica, self._facts = events.replica, events.facts
        self._target = target
        self._place = place

    def after(self, node: Node) -> Iterator[tuple[float, Callable[[], Iterable[Node]]]]:
        """Yield the cost of each possible hidden event, with a function that returns the nodes after it."""
        role = self._replica.field(node.state, "role")
        if role == "Stopped":
            restart = self._events.line(node, "Restart", input=TracedInput(endpoint=None))
            yield 0.0, lambda: [after for after, _ in self._events.taken(node, restart, 0.0)]
            return
        if node.responses:
            first = node.responses[0]
            yield HANDLED_RESPONSE, lambda: self._handle(node, first, HANDLED_RESPONSE)
            yield LOST, lambda: [node.without(first)._replace(cost=node.cost + LOST)]
        for request in self._next_requests(node):
            extra = 0.0 if request in self._facts.answers else UNANSWERED
            if self._facts.all[request].type == "FetchRequest":
                cost = extra + WAITING_FETCH
                yield cost, lambda request=request, cost=cost: self._events.wait(node, request, cost)  # type: ignore[misc]
            cost = extra + HANDLED_REQUEST
            yield cost, lambda request=request, cost=cost: self._handle(node, request, cost)  # type: ignore[misc]
        for name in _TIMERS.get(role, ()):
            if name != "BeginQuorumEpochTimeout" or self._target.type == "BeginQuorumEpochRequest":
                yield TIMER, lambda name=name: self._plain(node, name, TIMER)  # type: ignore[misc]
        if self._target.request is None:
            for to, _ in sorted(self._replica.field(node.state, "awaiting")):
                is_needed = to == self._target.destination or self._target.type in FETCHES
                if is_needed and self._may_give_up(node, to):
                    receiver = TracedInput(destination=to)
                    cost = REQUEST_TIMEOUT if self._has_response(node, to) else SILENCE
                    yield (
                        cost,
                        lambda receiver=receiver, cost=cost: self._plain(  # type: ignore[misc]
                            node, "RequestTimeout", cost, receiver
                        ),
                    )
        if role == "Follower" and self._is_elsewhere(node):
            yield OUT_OF_REACH, lambda: self._not_reached(node)
        if role == "Leader":
            values = self._appended(node)
            if values:
                yield APPEND, lambda: self._events.append(node, values, APPEND)
            elif self._thorough:
                value = self._next_value(node)
                yield UNREAD_APPEND, lambda: self._events.append(node, [value], UNREAD_APPEND)
        if not self._facts.order.can_restart(self._replica.id, self._place):
            return
        again = LIKELY_RESTART if self._thorough else RESTART
        for kept in self._kept(node):
            yield again, lambda kept=kept: self._restarted(node, kept, again)  # type: ignore[misc]

    def _may_give_up(self, node: Node, to: int) -> bool:
        last = self._last_request(node, to)
        return last is None or self._events.may_give_up(node, last)

    def _last_request(self, node: Node, to: int) -> int | None:
        return max((place for place in node.own_requests if self._facts.all[place].destination == to), default=None)

    def _has_response(self, node: Node, to: int) -> bool:
        """True if the response to the last request to that replica was captured before the message."""
        last = self._last_request(node, to)
        return last is None or self._facts.answers.get(last, self._place) < self._place

    def _is_elsewhere(self, node: Node) -> bool:
        """True if a follower that awaits no response fetches from another replica than its leader.

        Rule: fetch.who-fetches.
        """
        leader, awaiting = (self._replica.field(node.state, name) for name in ("leader_id", "awaiting"))
        return self._target.type == "FetchRequest" and leader != self._target.destination and not awaiting

    def _not_reached(self, node: Node) -> Iterator[Node]:
        """Yield the nodes after a Fetch to the leader that was never sent, because the connection was backing off."""
        leader = TracedInput(destination=self._replica.field(node.state, "leader_id"))
        for waiting, _ in self._events.taken(node, self._events.line(node, "PollFetch", input=leader), 0.0):
            yield from self._plain(waiting._replace(unseen=node.unseen), "RequestTimeout", OUT_OF_REACH, leader)

    def _next_requests(self, node: Node) -> Iterable[int]:
        """Return the first request of each replica with a captured response, and all requests without one.

        A request that was given up with its connection does not delay other requests.
        """
        first: dict[int, int] = {}
        unanswered = []
        for place in node.requests:
            if place not in self._facts.answers:
                unanswered.append(place)
            elif place != self._target.request:
                first.setdefault(self._facts.all[place].source, place)
        return (*first.values(), *unanswered)

    def _handle(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        for after, _ in self._events.taken(node, self._events.delivery(node, place), cost, place):
            if self._responds_as_captured(after, place):
                yield after

    def _responds_as_captured(self, after: Node, place: int) -> bool:
        """True if the last event's response agrees with the captured one."""
        answer = self._facts.answers.get(place)
        if answer is None:
            return True
        captured = self._facts.all[answer]
        sent = [unseen.message for unseen in after.unseen if unseen.event == after.events]
        responses = [it for it in sent if (it["type"], it["destination"]) == (captured.type, captured.destination)]
        expected = {**canonical_message(captured.message), "correlation_id": UNSET} if responses else {}
        return all(agrees(expected, response) for response in responses)

    def _plain(self, node: Node, name: str, cost: float, event_input: Any = UNSET) -> Iterator[Node]:
        for after, _ in self._events.taken(node, self._events.line(node, name, input=event_input), cost):
            yield after

    def _appended(self, node: Node) -> list[int]:
        """Return the values of captured records that the leader does not have yet."""
        message, request = self._target.message, self._target.request
        if not isinstance(message, TracedFetchResponse) or not message.records or request is None:
            return []
        epoch = self._replica.field(node.state, "epoch")
        offset = self._facts.all[request].message.fetch_offset
        new = message.records[max(0, self._replica.length(node.state) - offset) :]
        values = []
        for record in new:
            if record.kind is not RecordKind.DATA or record.epoch != epoch:
                break
            values.append(record.value)
        return values

    def _next_value(self, node: Node) -> int:
        """Return the value of the next record of a leader, from a later Fetch response; 0 if there is none."""
        at = (self._replica.field(node.state, "epoch"), self._replica.length(node.state))
        return self._facts.records.get(at, 0)

    def _kept(self, node: Node) -> Iterable[int]:
        """Return the possible log end offsets after a crash: the one before it, or the one in the message."""
        end = self._replica.length(node.state)
        message = self._target.message
        recorded = getattr(message, "fetch_offset", getattr(message, "end_offset", end))
        flushed = self._replica.field(node.state, "flushed")
        return {end, recorded} if isinstance(recorded, int) and flushed <= recorded < end else (end,)

    def _restarted(self, node: Node, end: int, cost: float) -> Iterator[Node]:
        """Yield the nodes after a crash that keeps the log up to `end`, and a restart."""
        kept = TracedInput(log_end_offset=end)
        for down, _ in self._events.taken(node, self._events.line(node, "Crash", input=kept), 0.0):
            line = self._events.line(down, "Restart", input=TracedInput(endpoint=None))
            for up, _ in self._events.taken(down, line, cost):
                yield up._replace(responses=(), owed=(), unseen=(), own_requests={}, own_requests_ms={})

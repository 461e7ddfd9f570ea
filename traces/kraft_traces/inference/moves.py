"""What a replica may do unseen before the message that it was seen to send."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from kraft_reference.records import RecordKind
from kraft_traces.check.observation import agrees, canonical_message
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
from kraft_traces.inference.sightings import FETCHES, Sighting
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


class Moves:
    """The moves of one replica before one message."""

    def __init__(self, events: Events, target: Sighting, place: int, *, thorough: bool) -> None:
        """`place` as of `Events`; `thorough` adds what is seldom the reason: records that nobody was seen to read."""
        self._thorough = thorough
        self._events = events
        self._replica, self._seen = events.replica, events.seen
        self._target = target
        self._place = place

    def hidden(self, node: Node) -> Iterator[tuple[float, Callable[[], Iterable[Node]]]]:
        """What may happen unseen: what it costs, and the nodes that it leads to."""
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
            extra = 0.0 if request in self._seen.answers else UNANSWERED
            if self._seen.all[request].type == "FetchRequest":
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
                    given = TracedInput(destination=to)
                    cost = REQUEST_TIMEOUT if self._is_answered(node, to) else SILENCE
                    yield (
                        cost,
                        lambda given=given, cost=cost: self._plain(  # type: ignore[misc]
                            node, "RequestTimeout", cost, given
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
        if not self._seen.order.can_restart(self._replica.id, self._place):
            return
        again = LIKELY_RESTART if self._thorough else RESTART
        for kept in self._kept(node):
            yield again, lambda kept=kept: self._restarted(node, kept, again)  # type: ignore[misc]

    def _may_give_up(self, node: Node, to: int) -> bool:
        last = self._last_asked(node, to)
        return last is None or self._events.may_give_up(node, last)

    def _last_asked(self, node: Node, to: int) -> int | None:
        return max((place for place in node.asked if self._seen.all[place].destination == to), default=None)

    def _is_answered(self, node: Node, to: int) -> bool:
        """Was an answer to the last request to that replica seen before the message?"""
        last = self._last_asked(node, to)
        return last is None or self._seen.answers.get(last, self._place) < self._place

    def _is_elsewhere(self, node: Node) -> bool:
        """Does a follower that awaits nothing fetch from another than its leader?  Rule: fetch.who-fetches."""
        leader, awaiting = (self._replica.field(node.state, name) for name in ("leader_id", "awaiting"))
        return self._target.type == "FetchRequest" and leader != self._target.destination and not awaiting

    def _not_reached(self, node: Node) -> Iterator[Node]:
        """After a Fetch to the leader that never left: a connection that backs off outlasts the role."""
        leader = TracedInput(destination=self._replica.field(node.state, "leader_id"))
        for asked, _ in self._events.taken(node, self._events.line(node, "PollFetch", input=leader), 0.0):
            yield from self._plain(asked._replace(unseen=node.unseen), "RequestTimeout", OUT_OF_REACH, leader)

    def _next_requests(self, node: Node) -> Iterable[int]:
        """Of each replica the first request that is answered some time, and all that never are.

        A request that was given up with its connection keeps no other one waiting.
        """
        first: dict[int, int] = {}
        never = []
        for place in node.requests:
            if place not in self._seen.answers:
                never.append(place)
            elif place != self._target.request:
                first.setdefault(self._seen.all[place].source, place)
        return (*first.values(), *never)

    def _handle(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        for after, _ in self._events.taken(node, self._events.delivery(node, place), cost, place):
            if self._answers_as_seen(after, place):
                yield after

    def _answers_as_seen(self, after: Node, place: int) -> bool:
        """Is what the last event answers the answer that is seen at some time?"""
        answer = self._seen.answers.get(place)
        if answer is None:
            return True
        sighting = self._seen.all[answer]
        sent = [one.message for one in after.unseen if one.event == after.events]
        answers = [one for one in sent if (one["type"], one["destination"]) == (sighting.type, sighting.destination)]
        shown = {**canonical_message(sighting.message), "correlation_id": UNSET} if answers else {}
        return all(agrees(shown, one) for one in answers)

    def _plain(self, node: Node, name: str, cost: float, given: Any = UNSET) -> Iterator[Node]:
        for after, _ in self._events.taken(node, self._events.line(node, name, input=given), cost):
            yield after

    def _appended(self, node: Node) -> list[int]:
        """The values of records that are seen, and that the leader does not have yet."""
        message, request = self._target.message, self._target.request
        if not isinstance(message, TracedFetchResponse) or not message.records or request is None:
            return []
        epoch = self._replica.field(node.state, "epoch")
        offset = self._seen.all[request].message.fetch_offset
        new = message.records[max(0, self._replica.length(node.state) - offset) :]
        values = []
        for record in new:
            if record.kind is not RecordKind.DATA or record.epoch != epoch:
                break
            values.append(record.value)
        return values

    def _next_value(self, node: Node) -> int:
        """The value of the record that a leader appends next, as somebody reads it later; 0 if nobody does."""
        at = (self._replica.field(node.state, "epoch"), self._replica.length(node.state))
        return self._seen.records.get(at, 0)

    def _kept(self, node: Node) -> Iterable[int]:
        """Where the log may end after a crash: where it ended, or where the message says that it ends."""
        end = self._replica.length(node.state)
        message = self._target.message
        shown = getattr(message, "fetch_offset", getattr(message, "end_offset", end))
        flushed = self._replica.field(node.state, "flushed")
        return {end, shown} if isinstance(shown, int) and flushed <= shown < end else (end,)

    def _restarted(self, node: Node, end: int, cost: float) -> Iterator[Node]:
        """It died with its log kept up to there, and began again."""
        kept = TracedInput(log_end_offset=end)
        for down, _ in self._events.taken(node, self._events.line(node, "Crash", input=kept), 0.0):
            line = self._events.line(down, "Restart", input=TracedInput(endpoint=None))
            for up, _ in self._events.taken(down, line, cost):
                yield up._replace(responses=(), owed=(), unseen=(), asked={}, asked_ms={})

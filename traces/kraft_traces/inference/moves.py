"""What a replica may do unseen, and what of it sends the message that was seen.

The order of trying follows from what costs little: that what has come was handled is likely, that a timer fired is
less so, and a restart is the last that is thought of.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.records import RecordKind
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.differences import Difference, message_differences
from kraft_traces.check.observation import agrees, canonical_message
from kraft_traces.effects import TracedSend
from kraft_traces.inference.nodes import PENDING_MAX, Event, Node, Unseen
from kraft_traces.inference.replica import ReplicaModel, Step
from kraft_traces.inference.sightings import Known, Sighting
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.message_types import TracedFetchResponse
from kraft_traces.vocabulary import HANDLE

HANDLED_RESPONSE = 0.0
HANDLED_REQUEST = 0.1
WAITING_FETCH = 0.15
UNANSWERED = 1.5
"""More for a request that nobody sees answered."""
APPEND = 0.2
UNREAD_APPEND = 1.0
"""Of a record that nobody was seen to read."""
LATE = 0.3
"""Of what has come and is not handled when something is sent, each."""
LIKELY_LATE = 0.05
"""The same where nothing cheaper has helped."""
REQUEST_TIMEOUT = 1.0
SILENCE = 0.05
"""The same where no answer has come: the next request says that it was given up."""
OUT_OF_REACH = 0.5
"""A Fetch to the leader that nobody saw, and its timeout: the next one goes to another."""
LOST = 1.5
TIMER = 2.0
RESTART = 5.0
LIKELY_RESTART = 2.0
"""The same where nothing cheaper has helped."""

_TIMERS: Mapping[str, tuple[str, ...]] = {
    "Unattached": ("ElectionTimeout",),
    "Prospective": ("ElectionTimeout",),
    "Candidate": ("ElectionTimeout",),
    "Resigned": ("ElectionTimeout",),
    "Follower": ("FetchTimeout",),
    "Leader": ("BeginQuorumEpochTimeout", "CheckQuorumTimeout"),
}
_FETCHES = frozenset(("FetchRequest", "FetchSnapshotRequest"))
"""These need a replica that awaits nothing; any other request an idle connection."""


@dataclass(slots=True)
class Miss:
    """The nearest that the model comes to a message that nothing explains."""

    differences: tuple[Difference, ...]
    node: Node
    """The replica after the event that sends the other message."""
    sent: int
    """Number of that event."""


class Moves:
    """The moves of one replica before one message that it was seen to send."""

    def __init__(
        self,
        replica: ReplicaModel,
        seen: Known,
        target: Sighting,
        place: int,
        *,
        thorough: bool,
    ) -> None:
        """`place` is that of the sighting before which the events happen, at most the target's.

        `thorough` adds what is seldom the reason: records that nobody was seen to read.
        """
        self._thorough = thorough
        self._replica = replica
        self._seen = seen
        self._target = target
        self._place = place
        self._wanted = {**canonical_message(target.message), "correlation_id": UNSET}
        self.miss: Miss | None = None

    def reaching(self, node: Node) -> Iterator[Node]:
        """The node after what was seen was sent, where one event more does that, or none."""
        late = (LIKELY_LATE if self._thorough else LATE) * len(node.responses)
        for unseen in node.unseen:
            if agrees(self._wanted, unseen.message):
                yield self._saw(node, unseen)._replace(cost=node.cost + late)
                return
        target = self._target
        if target.request is None:
            lines = self._polls(node)
        elif target.request in node.owed:
            lines = iter([self._late_answer(node)])
        elif target.request in node.requests:
            lines = self._answering(node, target.request)
        else:
            return
        for line, handled in lines:
            for after, _ in self._taken(node, line, late, handled):
                new = [unseen for unseen in after.unseen if unseen.event == after.events]
                found = next((unseen for unseen in new if self._is_target(unseen, after)), None)
                if found is not None:
                    yield self._saw(after, found)
                    return

    def hidden(self, node: Node) -> Iterator[tuple[float, Callable[[], Iterable[Node]]]]:
        """What may happen unseen: what it costs, and the nodes that it leads to."""
        role = self._replica.field(node.state, "role")
        if role == "Stopped":
            restart = self._line(node, "Restart", input=TracedInput(endpoint=None))
            yield 0.0, lambda: [after for after, _ in self._taken(node, restart, 0.0)]
            return
        if node.responses:
            first = node.responses[0]
            yield HANDLED_RESPONSE, lambda: self._handle(node, first, HANDLED_RESPONSE)
            yield LOST, lambda: [node.without(first)._replace(cost=node.cost + LOST)]
        for request in self._next_requests(node):
            extra = 0.0 if request in self._seen.answers else UNANSWERED
            if self._seen.all[request].type == "FetchRequest":
                cost = extra + WAITING_FETCH
                yield cost, lambda request=request, cost=cost: self._wait(node, request, cost)  # type: ignore[misc]
            cost = extra + HANDLED_REQUEST
            yield cost, lambda request=request, cost=cost: self._handle(node, request, cost)  # type: ignore[misc]
        for name in _TIMERS.get(role, ()):
            if name != "BeginQuorumEpochTimeout" or self._target.type == "BeginQuorumEpochRequest":
                yield TIMER, lambda name=name: self._plain(node, name, TIMER)  # type: ignore[misc]
        if self._target.request is None:
            for to, _ in sorted(self._replica.field(node.state, "awaiting")):
                if to == self._target.destination or self._target.type in _FETCHES:
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
                yield APPEND, lambda: self._append(node, values, APPEND)
            elif self._thorough:
                value = self._next_value(node)
                yield UNREAD_APPEND, lambda: self._append(node, [value], UNREAD_APPEND)
        again = LIKELY_RESTART if self._thorough else RESTART
        for kept in self._kept(node):
            yield again, lambda kept=kept: self._restarted(node, kept, again)  # type: ignore[misc]

    def _is_answered(self, node: Node, to: int) -> bool:
        """Was an answer to the last request to that replica seen before the message?"""
        last = max((place for place in node.asked if self._seen.all[place].destination == to), default=None)
        return last is None or self._seen.answers.get(last, self._place) < self._place

    def _is_elsewhere(self, node: Node) -> bool:
        """Does a follower that awaits nothing fetch from another than its leader?  Rule: fetch.who-fetches."""
        leader, awaiting = (self._replica.field(node.state, name) for name in ("leader_id", "awaiting"))
        return self._target.type == "FetchRequest" and leader != self._target.destination and not awaiting

    def _not_reached(self, node: Node) -> Iterator[Node]:
        """After a Fetch to the leader that never left: a connection that backs off outlasts the role."""
        leader = TracedInput(destination=self._replica.field(node.state, "leader_id"))
        for asked, _ in self._taken(node, self._line(node, "PollFetch", input=leader), 0.0):
            yield from self._plain(asked, "RequestTimeout", OUT_OF_REACH, leader)

    def _next_requests(self, node: Node) -> Iterable[int]:
        """Of each replica the first request that is answered some time, and the first that never is.

        A request that was given up with its connection keeps no other one waiting.
        """
        first: dict[tuple[int, bool], int] = {}
        for place in node.requests:
            if place != self._target.request:
                first.setdefault((self._seen.all[place].source, place in self._seen.answers), place)
        return first.values()

    def _is_target(self, unseen: Unseen, after: Node) -> bool:
        message = unseen.message
        if message["type"] != self._wanted["type"] or message["destination"] != self._target.destination:
            return False
        if agrees(self._wanted, message):
            return True
        found = tuple(message_differences("message.", message, self._wanted, complete=False))
        # A miss after few hidden events is nearer than one after many.
        if self.miss is None or (len(found), after.cost) < (len(self.miss.differences), self.miss.node.cost):
            self.miss = Miss(found, after, unseen.event)
        return False

    def _saw(self, node: Node, unseen: Unseen) -> Node:
        place, last = self._target.number, node.last
        assert last is not None, "something has sent it"
        asked = node.asked if self._target.request is not None else {**node.asked, place: unseen.event}
        seen = last._replace(seen=(*last.seen, (place, unseen.event)))
        rest = tuple([one for one in node.unseen if one is not unseen])
        owed = tuple([one for one in node.owed if one != self._target.request])
        return node._replace(unseen=rest, asked=asked, owed=owed, last=seen)

    def _polls(self, node: Node) -> Iterator[tuple[EventLine, int | None]]:
        if self._target.type in _FETCHES:
            yield self._line(node, "PollFetch", input=TracedInput(destination=self._target.destination)), None
        else:
            yield self._line(node, "Poll"), None

    def _answering(self, node: Node, request: int) -> Iterator[tuple[EventLine, int | None]]:
        line = self._delivery(node, request)
        if self._target.type == "FetchResponse":
            shown = replace(self._target.message, correlation_id=request, id=self._id(node))
            yield replace(line, effects=(TracedSend(shown),)), request
        yield line, request

    def _late_answer(self, node: Node) -> tuple[EventLine, int | None]:
        shown = replace(self._target.message, correlation_id=self._target.request, id=self._id(node))
        return self._line(node, "Poll", effects=(TracedSend(shown),)), None

    def _id(self, node: Node) -> str:
        return f"{node.events + 1}.{self._target.destination}"

    def _handle(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        for after, _ in self._taken(node, self._delivery(node, place), cost, place):
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

    def _wait(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        line = replace(self._delivery(node, place), effects=())
        for after, step in self._taken(node, line, cost, place):
            if not step.sends:
                yield after._replace(owed=(*after.owed, place))

    def _plain(self, node: Node, name: str, cost: float, given: Any = UNSET) -> Iterator[Node]:
        for after, _ in self._taken(node, self._line(node, name, input=given), cost):
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

    def _unread(self, node: Node) -> list[int]:
        """The values of the records that a leader must have appended, since it says later how long its log is."""
        epoch, end = self._replica.field(node.state, "epoch"), self._replica.length(node.state)
        last = self._seen.ends.get((self._replica.id, epoch), 0)
        return [self._seen.records.get((epoch, offset), 0) for offset in range(end, last)]

    def _append(self, node: Node, values: list[int], cost: float) -> Iterator[Node]:
        for value in values:
            line = self._line(node, "ClientAppend", input=TracedInput(value=value))
            found = next(iter(self._taken(node, line, 0.0)), None)
            if found is None:
                return
            node = found[0]
        yield node._replace(cost=node.cost + cost)

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
        for down, _ in self._taken(node, self._line(node, "Crash", input=kept), 0.0):
            line = self._line(down, "Restart", input=TracedInput(endpoint=None))
            for up, _ in self._taken(down, line, cost):
                yield up._replace(responses=(), owed=(), unseen=(), asked={})

    def _delivery(self, node: Node, place: int) -> EventLine:
        sighting = self._seen.all[place]
        message = replace(sighting.message, id=f"{place}.{self._replica.id}")
        return self._line(node, f"{HANDLE}{sighting.type}", message=message)

    def _line(self, node: Node, name: str, **more: Any) -> EventLine:
        return EventLine(sequence=node.events + 1, replica=self._replica.id, event=name, **more)

    def _taken(
        self, node: Node, line: EventLine, cost: float, handled: int | None = None
    ) -> Iterator[tuple[Node, Step]]:
        """The node after an event; `handled` is the place of the message that arrives in it.

        Who leads no more after it has appended before it whatever it says later that its log holds.
        """
        before, delivered = node, None
        if handled is not None:
            sighting = self._seen.all[handled]
            request = sighting.request
            correlation = handled if request is None else node.asked.get(request, 0)
            asked_with = None if request is None else self._seen.all[request]
            delivered = self._replica.on_its_way(sighting, correlation, asked_with)
            node = node.without(handled)
            if request is not None:
                node = node._replace(asked={place: event for place, event in node.asked.items() if place != request})
        for step in self._replica.step(node.state, line, delivered):
            if self._stops_leading(before.state, step.state) and (values := self._unread(before)):
                for appended in self._append(before, values, APPEND):
                    yield from self._taken(appended, replace(line, sequence=appended.events + 1), cost, handled)
                return
            if step.writes and line.effects is not UNSET:
                # What else it did is not known, so that its effects cannot be shown.
                continue
            number = node.events + 1
            sent = [Unseen(number, message) for message in step.sends]
            yield (
                node._replace(
                    state=step.state,
                    unseen=_with(node.unseen, sent),
                    last=Event(node.last, line, self._place, () if step.writes else _receivers(step)),
                    events=number,
                    cost=node.cost + cost,
                ),
                step,
            )

    def _stops_leading(self, before: JavaObject, after: JavaObject) -> bool:
        role = self._replica.field
        return bool(role(before, "role") == "Leader" and role(after, "role") != "Leader")


def _with(unseen: tuple[Unseen, ...], sent: list[Unseen]) -> tuple[Unseen, ...]:
    """A request takes the place of an older one on its connection, which will not be seen any more."""
    if not sent:
        return unseen
    again = {one.message["destination"] for one in sent if _is_request(one)}
    kept = [one for one in unseen if not (_is_request(one) and one.message["destination"] in again)]
    return (*kept[-PENDING_MAX:], *sent)


def _receivers(step: Step) -> tuple[int, ...]:
    return tuple([int(one["destination"]) for one in step.sends])  # type: ignore[arg-type]


def _is_request(unseen: Unseen) -> bool:
    return str(unseen.message["type"]).endswith("Request")

"""Events of one replica in the search: the nodes after each of them."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.messages import Error
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.costs import APPEND, WAITING_FETCH
from kraft_traces.inference.facts import RunFacts
from kraft_traces.inference.nodes import PENDING_MAX, Event, Node, Unseen
from kraft_traces.inference.replica import ReplicaModel, Step
from kraft_traces.inference.timing import Clock
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.vocabulary import HANDLE

NOT_ASKED = -1
"""Correlation id of a response that its receiver does not await."""


class Events:
    """Events of one replica before a captured message that it sent."""

    def __init__(self, replica: ReplicaModel, facts: RunFacts, target: CapturedMessage, place: int) -> None:
        """`place` is that of the captured message before which the events happen, at most the target's."""
        self.replica = replica
        self.facts = facts
        self._correlation_id = target.number
        self._place = place
        self._least = facts.least.get(replica.id)
        self._until_ms = facts.all[place].time_ms

    def line(self, node: Node, name: str, **more: Any) -> EventLine:
        """Return the line of the next event."""
        return EventLine(sequence=node.events + 1, replica=self.replica.id, event=name, **more)

    def delivery(self, node: Node, place: int) -> EventLine:
        """Return the line of the next event, which delivers the message at this place."""
        captured = self.facts.all[place]
        message = replace(captured.message, id=f"{place}.{self.replica.id}")
        return self.line(node, f"{HANDLE}{captured.type}", message=message)

    def append(self, node: Node, values: list[int], cost: float) -> Iterator[Node]:
        """Yield the node after a leader appended these records; nothing if it is not the leader."""
        for value in values:
            line = self.line(node, "ClientAppend", input=TracedInput(value=value))
            appended = next(iter(self.taken(node, line, 0.0)), None)
            if appended is None:
                return
            node = appended[0]
        yield node._replace(cost=node.cost + cost)

    def wait(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        """Yield the node after a Fetch that waits for its response; nothing if the replica has to respond at once."""
        line = replace(self.delivery(node, place), effects=())
        for after, step in self.taken(node, line, cost, place):
            if not step.sends:
                yield after._replace(owed=tuple(sorted((*after.owed, place))))

    def taken(
        self, node: Node, line: EventLine, cost: float, handled: int | None = None
    ) -> Iterator[tuple[Node, Step]]:
        """Yield the nodes after an event; `handled` is the place of the message that it delivers.

        Before a replica stops leading, it has appended the records that its later messages show: see `_led`.
        """
        before, delivered = node, None
        captured = None if handled is None else self.facts.all[handled]
        if self._least is not None:
            node = node._replace(clock=node.clock.at(line.event, captured))
            if node.clock.now_ms > self._until_ms:
                return
        if captured is not None:
            assert handled is not None, "it has a place"
            request = captured.request
            correlation_id = handled if request is None else node.own_requests.get(request, NOT_ASKED)
            own_request = None if request is None else self.facts.all[request]
            delivered = self.replica.in_network(captured, correlation_id, own_request)
            node = node.without(handled, *self._given_up(node, handled))
            if request is not None:
                node = node._replace(
                    own_requests={place: id_ for place, id_ in node.own_requests.items() if place != request}
                )
        for step in self.replica.step(node.state, line, self._correlation_id, delivered):
            if self._stops_leading(before.state, step.state) and (led := self._led(before)) is not before:
                yield from self.taken(led, replace(line, sequence=led.events + 1), cost, handled)
                return
            if line.effects is not UNSET and (step.writes or len(step.sends) > len(line.effects)):
                # Its other effects are not known, so the line cannot have its effects.
                continue
            number = node.events + 1
            sent = [Unseen(number, message, node.clock.now_ms) for message in step.sends]
            yield (
                node._replace(
                    state=step.state,
                    clock=self._clock(node, line.event, step, captured),
                    unseen=_with(node.unseen, sent),
                    last=Event(node.last, line, self._place, () if step.writes else _receivers(step)),
                    events=number,
                    cost=node.cost + cost,
                ),
                step,
            )

    def may_give_up(self, node: Node, place: int) -> bool:
        """True if the replica may have given up a request: its connection broke, or its timeout expired."""
        if self._least is None or self.facts.order.is_closed(self.facts.all[place], self._place):
            return True
        return node.own_requests_ms.get(place, 0) + self._least.request_ms <= self._until_ms

    def _clock(self, node: Node, event: str, step: Step, handled: CapturedMessage | None) -> Clock:
        if self._least is None:
            return node.clock
        before, after = (str(self.replica.field(state, "role")) for state in (node.state, step.state))
        return node.clock.after(event, before, after, None if step.refusal else handled, self._least)

    def _given_up(self, node: Node, handled: int) -> list[int]:
        """Return the earlier requests of the same replica that never get a response."""
        source = self.facts.all[handled].source
        before = [place for place in node.requests if place < handled and place not in self.facts.answers]
        return [place for place in before if self.facts.all[place].source == source]

    def _stops_leading(self, before: JavaObject, after: JavaObject) -> bool:
        role = self.replica.field
        return bool(role(before, "role") == "Leader" and role(after, "role") != "Leader")

    def _led(self, node: Node) -> Node:
        """Return the node after a leader appended the records that its later messages show, and received the Fetches
        that it responds to after it stopped leading.
        """
        if values := self._unread(node):
            node = next(self.append(node, values, APPEND), node)
        for place in node.requests:
            if self._waits_until_the_end(place):
                node = next(self.wait(node, place, WAITING_FETCH), node)
        return node

    def _waits_until_the_end(self, place: int) -> bool:
        """True if a Fetch of this epoch gets its response in a later one, with NOT_LEADER_OR_FOLLOWER."""
        request, answer = self.facts.all[place], self.facts.answers.get(place)
        if request.type != "FetchRequest" or answer is None:
            return False
        message = self.facts.all[answer].message
        return bool(message.epoch > request.message.epoch and message.error is Error.NOT_LEADER_OR_FOLLOWER)

    def _unread(self, node: Node) -> list[int]:
        """Return the values of records that a leader must have appended by the log end offset in its later messages."""
        epoch, end = self.replica.field(node.state, "epoch"), self.replica.length(node.state)
        last = self.facts.ends.get((self.replica.id, epoch), 0)
        return [self.facts.records.get((epoch, offset), 0) for offset in range(end, last)]


def _with(unseen: tuple[Unseen, ...], sent: list[Unseen]) -> tuple[Unseen, ...]:
    """Add sent messages; a request replaces an older one on its connection, which can no longer be captured."""
    if not sent:
        return unseen
    receivers = {message.message["destination"] for message in sent if _is_request(message)}
    kept = [older for older in unseen if not (_is_request(older) and older.message["destination"] in receivers)]
    return (*kept[-PENDING_MAX:], *sent)


def _receivers(step: Step) -> tuple[int, ...]:
    return tuple([int(message["destination"]) for message in step.sends])  # type: ignore[arg-type]


def _is_request(unseen: Unseen) -> bool:
    return str(unseen.message["type"]).endswith("Request")

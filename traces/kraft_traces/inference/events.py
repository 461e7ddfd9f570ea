"""What an event makes of a node."""

from collections.abc import Iterator
from math import inf
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.messages import Error
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.inference.costs import APPEND, WAITING_FETCH
from kraft_traces.inference.known import Known
from kraft_traces.inference.nodes import PENDING_MAX, Event, Node, Unseen
from kraft_traces.inference.replica import ReplicaModel, Step
from kraft_traces.inference.sightings import Sighting
from kraft_traces.inference.timing import Clock
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.vocabulary import HANDLE

NOT_ASKED = -1
"""The correlation id of an answer to a request that its replica does not wait for."""


class Events:
    """The events of one replica before one message that it was seen to send."""

    def __init__(self, replica: ReplicaModel, seen: Known, target: Sighting, place: int) -> None:
        """`place` is that of the sighting before which the events happen, at most the target's."""
        self.replica = replica
        self.seen = seen
        self._correlation_id = target.number
        self._place = place
        self._least = seen.least.get(replica.id)
        before = seen.all[place]
        self._until_ms = before.time_ms if isinstance(before, Sighting) else inf

    def line(self, node: Node, name: str, **more: Any) -> EventLine:
        """The next event."""
        return EventLine(sequence=node.events + 1, replica=self.replica.id, event=name, **more)

    def delivery(self, node: Node, place: int) -> EventLine:
        """The next event, if it is the arrival of the message at this place."""
        sighting = self.seen.all[place]
        message = replace(sighting.message, id=f"{place}.{self.replica.id}")
        return self.line(node, f"{HANDLE}{sighting.type}", message=message)

    def append(self, node: Node, values: list[int], cost: float) -> Iterator[Node]:
        """The node after a leader has appended these records; none if it does not lead."""
        for value in values:
            line = self.line(node, "ClientAppend", input=TracedInput(value=value))
            found = next(iter(self.taken(node, line, 0.0)), None)
            if found is None:
                return
            node = found[0]
        yield node._replace(cost=node.cost + cost)

    def wait(self, node: Node, place: int, cost: float) -> Iterator[Node]:
        """The node after a Fetch has come that is not answered yet; none if there is something to say."""
        line = replace(self.delivery(node, place), effects=())
        for after, step in self.taken(node, line, cost, place):
            if not step.sends:
                yield after._replace(owed=tuple(sorted((*after.owed, place))))

    def taken(
        self, node: Node, line: EventLine, cost: float, handled: int | None = None
    ) -> Iterator[tuple[Node, Step]]:
        """The nodes after an event; `handled` is the place of the message that arrives in it.

        Before it leads no more a replica has done what its messages show later: see `_led`.
        """
        before, delivered = node, None
        sighting = None if handled is None else self.seen.all[handled]
        if self._least is not None:
            node = node._replace(clock=node.clock.at(line.event, sighting))
            if node.clock.now_ms > self._until_ms:
                return
        if sighting is not None:
            assert handled is not None, "it has a place"
            request = sighting.request
            correlation_id = handled if request is None else node.asked.get(request, NOT_ASKED)
            asked_with = None if request is None else self.seen.all[request]
            delivered = self.replica.on_its_way(sighting, correlation_id, asked_with)
            node = node.without(handled, *self._given_up(node, handled))
            if request is not None:
                node = node._replace(asked={place: id_ for place, id_ in node.asked.items() if place != request})
        for step in self.replica.step(node.state, line, self._correlation_id, delivered):
            if self._stops_leading(before.state, step.state) and (led := self._led(before)) is not before:
                yield from self.taken(led, replace(line, sequence=led.events + 1), cost, handled)
                return
            if line.effects is not UNSET and (step.writes or len(step.sends) > len(line.effects)):
                # What else it did is not known, so that its effects cannot be shown.
                continue
            number = node.events + 1
            sent = [Unseen(number, message, node.clock.now_ms) for message in step.sends]
            yield (
                node._replace(
                    state=step.state,
                    clock=self._clock(node, line.event, step, sighting),
                    unseen=_with(node.unseen, sent),
                    last=Event(node.last, line, self._place, () if step.writes else _receivers(step)),
                    events=number,
                    cost=node.cost + cost,
                ),
                step,
            )

    def may_give_up(self, node: Node, place: int) -> bool:
        """True if a request of the replica can have been given up: its connection broke, or its time is over."""
        if self._least is None or self.seen.order.is_closed(self.seen.all[place], self._place):
            return True
        return node.asked_ms.get(place, 0) + self._least.request_ms <= self._until_ms

    def _clock(self, node: Node, event: str, step: Step, handled: Sighting | None) -> Clock:
        if self._least is None:
            return node.clock
        before, after = (str(self.replica.field(state, "role")) for state in (node.state, step.state))
        return node.clock.after(event, before, after, None if step.refusal else handled, self._least)

    def _given_up(self, node: Node, handled: int) -> list[int]:
        """Requests of the same replica that came before one that is handled, and never are answered."""
        source = self.seen.all[handled].source
        before = [place for place in node.requests if place < handled and place not in self.seen.answers]
        return [place for place in before if self.seen.all[place].source == source]

    def _stops_leading(self, before: JavaObject, after: JavaObject) -> bool:
        role = self.replica.field
        return bool(role(before, "role") == "Leader" and role(after, "role") != "Leader")

    def _led(self, node: Node) -> Node:
        """The node after a leader has appended what it says later that its log holds, and has got the Fetches that it
        answers later as one that has led.
        """
        if values := self._unread(node):
            node = next(self.append(node, values, APPEND), node)
        for place in node.requests:
            if self._waits_until_the_end(place):
                node = next(self.wait(node, place, WAITING_FETCH), node)
        return node

    def _waits_until_the_end(self, place: int) -> bool:
        """Is a Fetch of this epoch answered in a later one, and not as one of an earlier epoch?"""
        asked, answer = self.seen.all[place], self.seen.answers.get(place)
        if asked.type != "FetchRequest" or answer is None:
            return False
        message = self.seen.all[answer].message
        return bool(message.epoch > asked.message.epoch and message.error is Error.NOT_LEADER_OR_FOLLOWER)

    def _unread(self, node: Node) -> list[int]:
        """The values of the records that a leader must have appended, since it says later how long its log is."""
        epoch, end = self.replica.field(node.state, "epoch"), self.replica.length(node.state)
        last = self.seen.ends.get((self.replica.id, epoch), 0)
        return [self.seen.records.get((epoch, offset), 0) for offset in range(end, last)]


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

"""Search for the likeliest hidden events of one replica after which the model sends the captured message.

It follows several possible histories, because later messages may tell which one is right.  Messages on two connections
can be captured in another order than they were sent, which is tried as a last resort.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from kraft_spec.difference import Difference
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.estimate import Estimate
from kraft_traces.inference.events import Events
from kraft_traces.inference.facts import RunFacts
from kraft_traces.inference.hidden_events import HiddenEvents
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.reaching import Miss, Reaching
from kraft_traces.inference.reasons import reason, rules_of
from kraft_traces.inference.replica import ReplicaModel

_BACK = (0, 1, 2, 3, 4, 8, 16, 32, 64)
"""Numbers of earlier messages that are explained again if a message is not explained otherwise."""


class Bound(NamedTuple):
    """Limits of a search."""

    nodes: int = 400
    """Maximum number of nodes for a message."""
    cost: float = 12.0
    """Maximum cost for a message; `costs` has the cost of each step."""
    kept: int = 4
    """Maximum number of histories that are followed from one message to the next."""
    thorough: bool = False
    """True to consider records that no captured Fetch response has."""
    slack: float = 0.5
    """Maximum additional cost of a history over the cheapest one."""
    back: int = 64
    """Maximum number of messages that may overtake one, because a request waits for its connection."""

    def wider(self) -> "Bound":
        """Return the bound for a second attempt."""
        return self._replace(nodes=4 * self.nodes, kept=8 * self.kept, slack=5 * self.slack, thorough=True)


DEFAULT_BOUND = Bound()


@dataclass(slots=True)
class Explained:
    """Result for a message that hidden events explain."""

    nodes: list[Node]
    tried: int


@dataclass(slots=True)
class Unexplained:
    """Result for a message that no hidden events within the bound explain."""

    target: CapturedMessage
    miss: Miss | None
    tried: int
    differences: tuple[Difference, ...] = ()
    """Fields that differ from the nearest message of the model, or from the state if it sends none."""
    rules: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sent:
    """Explained message, with the nodes before it."""

    before: list[Node]
    target: CapturedMessage
    place: int
    """Place before which it was sent."""
    received: list[tuple[int, bool]] = field(default_factory=list)
    """Messages received between it and the next one: place, and True for a request."""


class Search:
    """Search for the hidden events of one opaque replica."""

    def __init__(
        self,
        replica: ReplicaModel,
        facts: RunFacts,
        bound: Bound,
    ) -> None:
        self.replica = replica
        self._facts = facts
        self._bound = bound
        self.nodes = [Node(replica.start)]
        """Possible nodes, the likeliest first."""
        self._sent: deque[_Sent] = deque(maxlen=_BACK[-1])
        self.reordered = 0
        """Number of messages captured after one that was sent later."""

    def received(self, message: CapturedMessage) -> None:
        """Add a message that the replica may have received."""
        is_request = message.request is None
        self.nodes = [node.received(message.number, is_request=is_request) for node in self.nodes]
        if self._sent:
            self._sent[-1].received.append((message.number, is_request))

    def sent(self, target: CapturedMessage, place: int | None = None) -> Explained | Unexplained:
        """Explain a message that the replica sent before a place, and continue from there."""
        before = self.nodes
        place = target.number if place is None else place
        result = self._explain(before, target, place, self._bound)
        if isinstance(result, Unexplained):
            result = self._explain_again(target, place, result)
            if isinstance(result, Unexplained):
                return self._with_reason(result)
            self._sent.clear()
        else:
            self._sent.append(_Sent(before, target, place))
        least = min(node.cost for node in result.nodes)
        self.nodes = [node._replace(cost=node.cost - least) for node in result.nodes]
        return result

    def resumes(self, starts: list[Node], target: CapturedMessage, place: int) -> bool:
        """Follow the replica from one of these nodes, and return True, if that explains the message."""
        result = self._explain(starts, target, place, self._bound)
        if isinstance(result, Unexplained):
            return False
        self.nodes = result.nodes
        self._sent.clear()
        return True

    def _with_reason(self, failed: Unexplained) -> Unexplained:
        target, miss = failed.target, failed.miss
        differences = miss.differences if miss else (reason(self.replica, self.nodes[0], target),)
        request = None if target.request is None else self._facts.all[target.request]
        return replace(failed, differences=differences, rules=rules_of(target, request, differences))

    def _explain_again(self, target: CapturedMessage, place: int, failed: Unexplained) -> Explained | Unexplained:
        """Explain a message with a wider bound, and if that fails, as sent before earlier messages."""
        wider, tried = self._bound.wider(), failed.tried
        for early in (False, True):
            for back in _BACK:
                if back > len(self._sent) or (early and not 0 < back <= self._bound.back):
                    continue
                again = list(self._sent)[len(self._sent) - back :]
                if early and any(self._facts.order.is_fixed(earlier.target, target) for earlier in again):
                    break
                nodes = again[0].before if again else self.nodes
                result = self._explain_all(nodes, again, (target, place), wider, early=early)
                tried += result.tried
                if isinstance(result, Explained):
                    self.reordered += early
                    return Explained(result.nodes, tried)
                # Only a failure at the message itself, in the captured order, has a meaningful nearest miss.
                if not early and result.target is target and failed.miss is None:
                    failed.miss = result.miss
        failed.tried = tried
        return failed

    def _explain_all(
        self, nodes: list[Node], again: Sequence[_Sent], last: tuple[CapturedMessage, int], bound: Bound, *, early: bool
    ) -> Explained | Unexplained:
        tried = 0
        steps: list[tuple[CapturedMessage, int, Sequence[tuple[int, bool]]]] = [
            (sent.target, sent.place, sent.received) for sent in again
        ]
        target, place = last
        steps.insert(0 if early else len(steps), (target, again[0].place if early else place, ()))
        for message, place, received in steps:
            result = self._explain(nodes, message, place, bound)
            tried += result.tried
            if isinstance(result, Unexplained):
                result.tried = tried
                return result
            nodes = result.nodes
            for number, is_request in received:
                nodes = [node.received(number, is_request=is_request) for node in nodes]
        return Explained(nodes, tried)

    def _explain(self, nodes: list[Node], target: CapturedMessage, place: int, bound: Bound) -> Explained | Unexplained:
        events = Events(self.replica, self._facts, target, place)
        reaching = Reaching(events, target, thorough=bound.thorough)
        hidden = HiddenEvents(events, target, place, thorough=bound.thorough)
        estimate = Estimate(self.replica, target, reaching, thorough=bound.thorough)
        queue = _Queue()
        for node in nodes:
            queue.push(node.cost, node.cost, lambda node=node: (node,))  # type: ignore[misc]
        explaining: list[Node] = []
        visited: set[Hashable] = set()
        tried, least = 0, min(node.cost for node in nodes)
        while queue and tried < bound.nodes and len(explaining) < bound.kept:
            cost, make = queue.pop()
            if cost > least + bound.cost or (
                explaining and cost > min(other.cost for other in explaining) + bound.slack
            ):
                break
            for node in make():
                needed = estimate.of(node)
                # The first node is always tried, because it may be the nearest miss.
                if node.cost + needed > cost and tried:
                    if needed < inf:
                        queue.push(node.cost + needed, node.cost, lambda node=node: (node,))  # type: ignore[misc]
                    continue
                mark = self._mark(node)
                if mark in visited:
                    continue
                visited.add(mark)
                tried += 1
                if (reached := reaching.reached(node)) is not None:
                    explaining.append(reached)
                for additional, make_next in hidden.after(node):
                    queue.push(node.cost + max(additional, needed), node.cost + additional, make_next)
        if not explaining:
            return Unexplained(target, reaching.miss, tried)
        explaining.sort(key=lambda node: node.cost)
        distinct = {self._mark(node): node for node in reversed(explaining)}
        return Explained([*reversed(distinct.values())], tried)

    def _mark(self, node: Node) -> Hashable:
        """Return a key that is equal for nodes with the same future."""
        unseen = tuple([sent.message for sent in node.unseen])
        return self.replica.fingerprint(node.state), node.requests, node.responses, node.owed, unseen, node.clock


class _Queue:
    """Queue of nodes to try, by minimum total cost; of equal ones, the one with the highest cost so far comes first."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, float, int, Callable[[], Iterable[Node]]]] = []
        self._order = itertools.count()

    def push(self, in_all: float, so_far: float, make: Callable[[], Iterable[Node]]) -> None:
        heapq.heappush(self._entries, (in_all, -so_far, next(self._order), make))

    def pop(self) -> tuple[float, Callable[[], Iterable[Node]]]:
        in_all, _, _, make = heapq.heappop(self._entries)
        return in_all, make

    def __len__(self) -> int:
        return len(self._entries)

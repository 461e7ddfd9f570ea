"""The search: the likeliest hidden events of one replica after which the model sends what was seen.

It goes on with several ways of having got somewhere, since what was hidden may show later; and what two connections
carry can be seen in another order than it was sent, which is tried when nothing else helps.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from kraft_spec.difference import Difference
from kraft_traces.inference.estimate import Estimate
from kraft_traces.inference.events import Events
from kraft_traces.inference.known import Known
from kraft_traces.inference.moves import Moves
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.reaching import Miss, Reaching
from kraft_traces.inference.reasons import reason, rules_of
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.sightings import Sighting

_BACK = (0, 1, 2, 3, 4, 8, 16, 32, 64)
"""So many messages of the replica are explained anew, when one is not explained otherwise."""


class Bound(NamedTuple):
    """How far a search goes."""

    nodes: int = 400
    """So many nodes for a message."""
    cost: float = 12.0
    """So much for a message; `costs` has what each step costs."""
    kept: int = 4
    """So many ways are followed from one message to the next."""
    thorough: bool = False
    """Records that nobody was seen to read are thought of as well."""
    slack: float = 0.5
    """Ways that cost up to so much more than the cheapest are followed as well."""
    back: int = 64
    """So many messages of the replica before one may have been sent after it: a request waits for its connection."""

    def wider(self) -> "Bound":
        """The bound when the first has not been enough."""
        return self._replace(nodes=4 * self.nodes, kept=8 * self.kept, slack=5 * self.slack, thorough=True)


DEFAULT_BOUND = Bound()


@dataclass(slots=True)
class Explained:
    """A message that hidden events explain."""

    nodes: list[Node]
    tried: int


@dataclass(slots=True)
class Unexplained:
    """A message that nothing within the bound explains."""

    target: Sighting
    miss: Miss | None
    tried: int
    differences: tuple[Difference, ...] = ()
    """Fields that differ from the nearest message of the model, or from the state if it sends none."""
    rules: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sent:
    """A message that was explained, with where the replica may have been before it."""

    before: list[Node]
    target: Sighting
    place: int
    """Before which sighting it was sent."""
    received: list[tuple[int, bool]] = field(default_factory=list)
    """What came after it, before the next: places, and whether it is a request."""


class Search:
    """Follows one replica that nobody sees into."""

    def __init__(
        self,
        replica: ReplicaModel,
        seen: Known,
        bound: Bound,
    ) -> None:
        self.replica = replica
        self._seen = seen
        self._bound = bound
        self.nodes = [Node(replica.start)]
        """Where it may be, the likeliest first."""
        self._sent: deque[_Sent] = deque(maxlen=_BACK[-1])
        self.reordered = 0
        """How many messages were seen after one that was sent later."""

    def received(self, sighting: Sighting) -> None:
        """A message has come that the replica may have got."""
        is_request = sighting.request is None
        self.nodes = [node.received(sighting.number, is_request=is_request) for node in self.nodes]
        if self._sent:
            self._sent[-1].received.append((sighting.number, is_request))

    def sent(self, target: Sighting, place: int | None = None) -> Explained | Unexplained:
        """Explain a message that the replica has sent before a place, and go on from there."""
        before = self.nodes
        place = target.number if place is None else place
        found = self._explained(before, target, place, self._bound)
        if isinstance(found, Unexplained):
            found = self._otherwise(target, place, found)
            if isinstance(found, Unexplained):
                return self._with_reason(found)
            self._sent.clear()
        else:
            self._sent.append(_Sent(before, target, place))
        least = min(node.cost for node in found.nodes)
        self.nodes = [node._replace(cost=node.cost - least) for node in found.nodes]
        return found

    def resumes(self, starts: list[Node], target: Sighting, place: int) -> bool:
        """Follow the replica from one of these nodes, if the message follows from it; return whether it does."""
        found = self._explained(starts, target, place, self._bound)
        if isinstance(found, Unexplained):
            return False
        self.nodes = found.nodes
        self._sent.clear()
        return True

    def _with_reason(self, failed: Unexplained) -> Unexplained:
        target, miss = failed.target, failed.miss
        differences = miss.differences if miss else (reason(self.replica, self.nodes[0], target),)
        request = None if target.request is None else self._seen.all[target.request]
        return replace(failed, differences=differences, rules=rules_of(target, request, differences))

    def _otherwise(self, target: Sighting, place: int, failed: Unexplained) -> Explained | Unexplained:
        """With more ways followed, and if that does not help, with the message sent before others."""
        wider, tried = self._bound.wider(), failed.tried
        for early in (False, True):
            for back in _BACK:
                if back > len(self._sent) or (early and not 0 < back <= self._bound.back):
                    continue
                again = list(self._sent)[len(self._sent) - back :]
                if early and any(self._seen.order.is_fixed(one.target, target) for one in again):
                    break
                nodes = again[0].before if again else self.nodes
                found = self._all_explained(nodes, again, (target, place), wider, early=early)
                tried += found.tried
                if isinstance(found, Explained):
                    self.reordered += early
                    return Explained(found.nodes, tried)
                # A replica that sent it earlier has not sent what others have got since.
                if not early and found.target is target and failed.miss is None:
                    failed.miss = found.miss
        failed.tried = tried
        return failed

    def _all_explained(
        self, nodes: list[Node], again: Sequence[_Sent], last: tuple[Sighting, int], bound: Bound, *, early: bool
    ) -> Explained | Unexplained:
        tried = 0
        steps: list[tuple[Sighting, int, Sequence[tuple[int, bool]]]] = [
            (one.target, one.place, one.received) for one in again
        ]
        target, place = last
        steps.insert(0 if early else len(steps), (target, again[0].place if early else place, ()))
        for one, place, received in steps:
            found = self._explained(nodes, one, place, bound)
            tried += found.tried
            if isinstance(found, Unexplained):
                found.tried = tried
                return found
            nodes = found.nodes
            for number, is_request in received:
                nodes = [node.received(number, is_request=is_request) for node in nodes]
        return Explained(nodes, tried)

    def _explained(self, nodes: list[Node], target: Sighting, place: int, bound: Bound) -> Explained | Unexplained:
        events = Events(self.replica, self._seen, target, place)
        reaching = Reaching(events, target, thorough=bound.thorough)
        moves = Moves(events, target, place, thorough=bound.thorough)
        estimate = Estimate(self.replica, target, reaching, thorough=bound.thorough)
        queue = _Queue()
        for node in nodes:
            queue.push(node.cost, node.cost, lambda node=node: (node,))  # type: ignore[misc]
        found: list[Node] = []
        known: set[Hashable] = set()
        tried, least = 0, min(node.cost for node in nodes)
        while queue and tried < bound.nodes and len(found) < bound.kept:
            cost, make = queue.pop()
            if cost > least + bound.cost or (found and cost > min(one.cost for one in found) + bound.slack):
                break
            for node in make():
                needed = estimate.of(node)
                # The first is looked at in any case: it may be the nearest miss.
                if node.cost + needed > cost and tried:
                    if needed < inf:
                        queue.push(node.cost + needed, node.cost, lambda node=node: (node,))  # type: ignore[misc]
                    continue
                mark = self._mark(node)
                if mark in known:
                    continue
                known.add(mark)
                tried += 1
                if (reached := reaching.reached(node)) is not None:
                    found.append(reached)
                for more, make_next in moves.hidden(node):
                    queue.push(node.cost + max(more, needed), node.cost + more, make_next)
        if not found:
            return Unexplained(target, reaching.miss, tried)
        found.sort(key=lambda node: node.cost)
        distinct = {self._mark(node): node for node in reversed(found)}
        return Explained([*reversed(distinct.values())], tried)

    def _mark(self, node: Node) -> Hashable:
        """Equal for nodes that go on alike."""
        unseen = tuple([one.message for one in node.unseen])
        return self.replica.fingerprint(node.state), node.requests, node.responses, node.owed, unseen, node.clock


class _Queue:
    """What is to be tried: the least that it may cost in all comes first, and of equals what has cost most of it."""

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

"""What will happen and when, in virtual time, and the one generator of chance of a run."""

import random
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any, TypeVar

from kraft_reference.configuration import Timeouts
from kraft_reference.events import Draw
from kraft_simulation.occurrence import Occurrence

Action = Callable[..., Occurrence | None]
"""Does one thing when its time has come, or finds that there is nothing left to do."""

_Picked = TypeVar("_Picked")


class Agenda:
    """Planned actions, by due time and then by the order in which they were planned."""

    __slots__ = ("_heap", "_planned", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._planned = 0
        self._heap: list[tuple[int, int, Action, tuple[Any, ...]]] = []

    def after(self, wait_ms: int, action: Action, *arguments: object) -> None:
        """Plan an action `wait_ms` from now."""
        self._planned += 1
        heappush(self._heap, (self.now_ms + wait_ms, self._planned, action, arguments))

    def advance(self) -> tuple[Action, tuple[Any, ...]]:
        """Take the next plan and move the clock to it: its action and the arguments.

        Raises:
            IndexError: nothing is planned.
        """
        self.now_ms, _, action, arguments = heappop(self._heap)
        return action, arguments


class Chance:
    """One seeded generator.

    Everything is derived from `Random.random`, whose sequence for a seed never changes between Python versions.
    """

    __slots__ = ("random",)

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, choices: Sequence[_Picked]) -> _Picked:
        """One of the choices, which must not be empty and must come in an order that no hash decides."""
        return choices[int(self.random() * len(choices))]

    def draw(self, correlation_id: int, timeouts: Timeouts) -> Draw:
        """An election timeout from [T, 2T) and a backoff from (0, max].

        Rules: state.timers.random, state.candidate.lost.
        """
        random_value = self.random
        shortest_ms = timeouts.election_timeout_ms
        return Draw(
            correlation_id,
            shortest_ms + int(random_value() * shortest_ms),
            1 + int(random_value() * timeouts.election_backoff_max_ms),
        )

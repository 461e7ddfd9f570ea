"""Queue of pending events in virtual time, and the random generator of a run."""

import random
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from kraft_reference.configuration import Timeouts
from kraft_reference.events import Draw
from kraft_simulation.occurrence import Occurrence

Action = Callable[..., Occurrence | None]
"""Makes at most one move; returns None if it has become unnecessary."""
Slot = tuple[int, str]
"""A replica and the name of an event that it has pending at most once: a timer, or its next request of a kind."""

_Picked = TypeVar("_Picked")


class Chance:
    """The seeded generator.

    Everything is derived from `Random.random`, whose sequence for a seed never changes between Python versions.
    """

    __slots__ = ("random",)

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, choices: Sequence[_Picked]) -> _Picked:
        """Return a random element of a sequence, which must not be empty and whose order must not depend on hashes."""
        return choices[int(self.random() * len(choices))]

    def draw(self, correlation_id: int, timeouts: Timeouts) -> Draw:
        """Return an election timeout from [T, 2T) and a backoff from (0, max].

        Rules: state.timers.random, state.candidate.lost.
        """
        random_value = self.random
        shortest_ms = timeouts.election_timeout_ms
        return Draw(
            correlation_id,
            shortest_ms + int(random_value() * shortest_ms),
            1 + int(random_value() * timeouts.election_backoff_max_ms),
        )


class PendingEvent(NamedTuple):
    """An action that is due at a virtual time; its unique number orders actions of the same time."""

    due_ms: int
    number: int
    slot: Slot | None
    action: Action
    arguments: tuple[object, ...]


class EventQueue:
    """Pending events, ordered by due time and then by insertion.

    An event in a slot replaces the pending one, which stays in the heap and is void by its due time, because removing
    it would take longer.
    """

    __slots__ = ("_added", "_chance", "_due_ms", "_heap", "now_ms")

    def __init__(self, chance: Chance) -> None:
        self.now_ms = 0
        self._chance = chance
        self._added = 0
        self._heap: list[PendingEvent] = []
        self._due_ms: dict[Slot, int] = {}

    def after(self, wait_ms: int, action: Action, *arguments: object, slot: Slot | None = None) -> None:
        """Add an event that is due in `wait_ms`; it replaces the pending event of its slot."""
        due_ms = self.now_ms + wait_ms
        if slot is not None:
            self._due_ms[slot] = due_ms
        self._added += 1
        heappush(self._heap, PendingEvent(due_ms, self._added, slot, action, arguments))

    def at_latest(self, wait_ms: int, action: Action, slot: Slot) -> None:
        """Add an event for the replica of its slot, unless an earlier one is pending."""
        if slot not in self._due_ms or self.now_ms + wait_ms < self._due_ms[slot]:
            self.after(wait_ms, action, slot[0], slot=slot)

    def around(self, mean_ms: int, action: Action) -> None:
        """Add an event after 0.5 to 1.5 times a mean wait."""
        self.after(self._chance.between(mean_ms // 2, mean_ms + mean_ms // 2), action)

    def repeat(self, mean_ms: int, action: Action, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Add the event repeatedly while `goes_on`, with this mean wait before each; 0 means never."""

        def again() -> Occurrence | None:
            if not goes_on():
                return None
            self.around(mean_ms, again)
            return action()

        if mean_ms:
            self.around(mean_ms, again)

    def is_pending(self, slot: Slot) -> bool:
        """True if the slot has an event."""
        return slot in self._due_ms

    def cancel(self, *slots: Slot) -> None:
        """Remove the events of some slots."""
        for slot in slots:
            self._due_ms.pop(slot, None)

    def pop(self) -> PendingEvent | None:
        """Take the next event and advance the clock to its time; None for a void one.

        Raises:
            IndexError: the queue is empty.
        """
        event = heappop(self._heap)
        self.now_ms = event.due_ms
        if event.slot is None:
            return event
        if self._due_ms.get(event.slot) != event.due_ms:
            return None
        del self._due_ms[event.slot]
        return event

"""Shrinking of a failing schedule: delta debugging over its moves.

A schedule without some of its moves is still a schedule, because impossible moves are skipped.  So any part of it can
be tried, and a part that violates the same property is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kraft_reference.configuration import Configuration
from kraft_reference.replica import Replica
from kraft_simulation.invariants import Invariants
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.schedule import DEFECTS, Move, Schedule, defect_in, replay
from kraft_simulation.violation import Violation
from kraft_simulation.world import MakeReplica, World

REPLAYS_MAX = 3000
"""Maximum number of replays."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Replay of a schedule, up to the first violation."""

    schedule: Schedule
    """Possible moves, one for each occurrence."""
    occurrences: tuple[Occurrence, ...]
    violation: Violation | None


def replay_checked(configuration: Configuration, schedule: Schedule, make_replica: MakeReplica = Replica) -> Replayed:
    """Replay a schedule from the start of the cluster under all invariants; the same input gives the same output."""
    world = World(configuration, make_replica)
    invariants = Invariants(configuration, world.states)
    moves: list[Move] = []
    occurrences: list[Occurrence] = []
    violations: tuple[Violation, ...] = ()
    try:
        for move, occurrence in replay(world, schedule):
            moves.append(move)
            occurrences.append(occurrence)
            violations = invariants.observe(occurrence)
            if violations:
                break
        else:
            violations = invariants.check_all(world.sequence)
    except DEFECTS as defect:
        violations = (defect_in(world, defect),)
        # The move that raised is not among the returned ones, but without it there would be no failure.
        moves = list(schedule)
    return Replayed(tuple(moves), tuple(occurrences), next(iter(violations), None))


Attempt = Callable[[Schedule], Schedule | None]
"""Returns the possible moves of a failing schedule, or None if it does not fail."""


def breaks(configuration: Configuration, property_name: str, make_replica: MakeReplica = Replica) -> Attempt:
    """Return an attempt that checks whether a schedule violates an invariant."""

    def attempt(schedule: Schedule) -> Schedule | None:
        replayed = replay_checked(configuration, schedule, make_replica)
        violation = replayed.violation
        return replayed.schedule if violation is not None and violation.property_name == property_name else None

    return attempt


def shrink(schedule: Schedule, attempt: Attempt, replays_max: int = REPLAYS_MAX) -> Schedule:
    """Return a part of a failing schedule that still fails.

    Within the number of replays it is minimal: no single move can be removed.  A schedule that does not fail is
    returned unchanged.
    """
    shortest = attempt(schedule)
    if shortest is None:
        return schedule
    replays = 1
    size = max(len(shortest) // 2, 1)
    while shortest:
        before = len(shortest)
        # From the end, because late moves depend on early ones.
        end = len(shortest)
        while end > 0:
            if replays >= replays_max:
                return shortest
            start = max(end - size, 0)
            replays += 1
            kept = attempt(shortest[:start] + shortest[end:])
            if kept is not None:
                shortest = kept
                start = min(start, len(shortest))
            end = start
        if size > 1:
            size = max(size // 2, 1)
        elif len(shortest) == before:
            break
    return shortest

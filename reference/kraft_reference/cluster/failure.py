"""A run that failed: how to repeat it, and the shortest way found to the same failure."""

from dataclasses import dataclass

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.progress import PROGRESS_PROPERTIES
from kraft_reference.cluster.schedule import Schedule
from kraft_reference.cluster.shrink import Attempt, breaks, replay_checked, shrink
from kraft_reference.cluster.violation import Violation
from kraft_reference.events import Receive, event_name

_LIVENESS_REPLAYS_MAX = 300
"""A replay that waits in vain for progress takes long."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed run and its shrunk schedule.

    The shrunk run is the schedule, and for progress that did not come the wait after it.
    """

    plan: RunPlan
    violation: Violation
    """Of the whole run."""
    moves: int
    """Of the whole run, up to the violation or to the end of the safety phase."""
    schedule: Schedule
    """What is left of them."""
    occurrences: tuple[Occurrence, ...]
    """What the shrunk schedule does; a trace of the failure can be written from it."""
    shrunk_violation: Violation
    """How the shrunk schedule breaks the same property."""

    def report(self) -> str:
        """The failure in words: the violation, the line that repeats the run, the shrunk schedule move by move."""
        lines = [
            str(self.violation),
            f"repeat: {self.plan.command_line()}",
            f"shrunk from {self.moves} moves to {len(self.schedule)}:",
            *(f"  {describe(occurrence)}" for occurrence in self.occurrences[: len(self.schedule)]),
            str(self.shrunk_violation),
        ]
        return "\n".join(lines)


def investigate(plan: RunPlan) -> Failure | None:
    """Repeat a run with its schedule kept, and shrink it; None when it does not fail."""
    simulation = plan.simulation(keeps_schedule=True)
    for _ in simulation.run():
        pass
    violation = simulation.violation
    if violation is None:
        return None
    schedule = simulation.schedule
    configuration = plan.configuration()
    if violation.property_name in PROGRESS_PROPERTIES:
        schedule = tuple(move for move in schedule if move.sequence <= plan.steps)
        shortest = shrink(schedule, _misses(plan, violation.property_name), _LIVENESS_REPLAYS_MAX)
        waiting = plan.simulation()
        occurrences = tuple(waiting.run(prefix=shortest))
        shrunk_violation = waiting.violation
    else:
        shortest = shrink(schedule, breaks(configuration, violation.property_name))
        replayed = replay_checked(configuration, shortest)
        occurrences, shrunk_violation = replayed.occurrences, replayed.violation
    return Failure(plan, violation, len(schedule), shortest, occurrences, shrunk_violation or violation)


def _misses(plan: RunPlan, property_name: str) -> Attempt:
    """An attempt that asks whether a cluster makes no progress after a schedule, all faults mended."""

    def attempt(schedule: Schedule) -> Schedule | None:
        simulation = plan.simulation()
        for _ in simulation.run(prefix=schedule):
            pass
        violation = simulation.violation
        return schedule if violation is not None and violation.property_name == property_name else None

    return attempt


def describe(occurrence: Occurrence) -> str:
    """One line about an occurrence."""
    event = occurrence.event
    if occurrence.replica_id is None or occurrence.state is None:
        return f"{occurrence.sequence} {occurrence.time_ms} ms: {event}"
    state = occurrence.state
    if isinstance(event, Receive):
        what = f"{event_name(event)} {occurrence.message_id} from {event.message.source}"
    else:
        what = str(event)
    crash = occurrence.crash
    ending = "" if crash is None else f", crashes after {crash.completed} effects"
    refusal = "" if occurrence.refusal is None else f", {occurrence.refusal}"
    return (
        f"{occurrence.sequence} {occurrence.time_ms} ms: replica {occurrence.replica_id}: {what}{ending}{refusal}"
        f" -> {state.role}({state.epoch}) leader {state.leader_id} log end {state.log.end_offset}"
        f" high watermark {state.high_watermark}"
    )

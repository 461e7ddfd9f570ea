"""A run that failed: how to repeat it, and the shortest way found to the same failure."""

from dataclasses import dataclass

from kraft_reference.events import Receive, event_name
from kraft_reference.replica import Replica
from kraft_simulation.lasting import lasting_faults_in
from kraft_simulation.liveness.watch import LIVENESS_PROPERTIES
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.schedule import Schedule
from kraft_simulation.shrink import Attempt, breaks, replay_checked, shrink
from kraft_simulation.violation import Violation
from kraft_simulation.world import MakeReplica

_LIVENESS_REPLAYS_MAX = 300
"""A replay that waits in vain takes long."""
_WAITS = 24
"""How many different waits a replayed schedule gets to break its liveness property again."""
_LINES_MAX = 200
"""More moves than this nobody reads; a trace of them can be written instead."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed run and its shrunk schedule.

    The shrunk run is the schedule, and for a liveness property the wait after it, in vain.
    A failure that the schedule alone does not repeat keeps the whole run.
    """

    plan: RunPlan
    violation: Violation
    """Of the whole run."""
    moves: int
    """Of the whole run, up to the violation or to the last fault."""
    schedule: Schedule
    """What is left of them."""
    occurrences: tuple[Occurrence, ...]
    """What the shrunk schedule does; a trace of the failure can be written from it."""
    shrunk_violation: Violation
    """How the shrunk schedule breaks the same property."""

    def report(self) -> str:
        """The failure in words: the violation, the line that repeats the run, the shrunk schedule move by move."""
        lines = [str(self.violation), f"repeat: {self.plan.command_line()}"]
        if len(self.schedule) == self.moves:
            lines.append(f"not shrunk: the {self.moves} moves alone do not repeat it")
            return "\n".join(lines)
        lines.append(f"shrunk from {self.moves} moves to {len(self.schedule)}:")
        shown = self.occurrences[: min(len(self.schedule), _LINES_MAX)]
        lines.extend(f"  {describe(occurrence)}" for occurrence in shown)
        if len(shown) < len(self.schedule):
            lines.append(f"  and {len(self.schedule) - len(shown)} more")
        lasting = lasting_faults_in(self.schedule)
        if lasting:
            lines.append(f"  never mended: {lasting}")
        lines.append(str(self.shrunk_violation))
        return "\n".join(lines)


def investigate(plan: RunPlan, make_replica: MakeReplica = Replica) -> Failure | None:
    """Repeat a run with its schedule kept, and shrink it; None when it does not fail."""
    simulation = plan.simulation(keeps_schedule=True, make_replica=make_replica)
    whole_run = tuple(simulation.run())
    violation = simulation.violation
    if violation is None:
        return None
    schedule = simulation.schedule
    if violation.property_name not in LIVENESS_PROPERTIES:
        configuration = plan.configuration()
        shortest = shrink(schedule, breaks(configuration, violation.property_name, make_replica))
        replayed = replay_checked(configuration, shortest, make_replica)
        if replayed.violation is not None:
            return Failure(plan, violation, len(schedule), shortest, replayed.occurrences, replayed.violation)
        return Failure(plan, violation, len(schedule), schedule, whole_run, violation)
    faulty = tuple(move for move in schedule if move.sequence <= plan.steps or move.lasts)
    for seed in range(plan.seed, plan.seed + _WAITS):
        attempt = _misses(plan, seed, violation.property_name, make_replica)
        if attempt(faulty) is not None:
            shortest = shrink(faulty, attempt, _LIVENESS_REPLAYS_MAX)
            waiting = plan.simulation(seed=seed, make_replica=make_replica)
            occurrences = tuple(waiting.run(prefix=shortest))
            return Failure(plan, violation, len(faulty), shortest, occurrences, waiting.violation or violation)
    return Failure(plan, violation, len(faulty), faulty, whole_run, violation)


def _misses(plan: RunPlan, seed: int, property_name: str, make_replica: MakeReplica) -> Attempt:
    """An attempt that asks whether a cluster breaks a liveness property after a schedule, when its faults stop.

    The seed decides the wait, because the timers of a replayed cluster are started anew.
    """

    def attempt(schedule: Schedule) -> Schedule | None:
        simulation = plan.simulation(seed=seed, make_replica=make_replica)
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

"""Report of a failed run: the command that repeats it, and the shortest schedule to the same failure."""

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
"""Maximum number of replays for a liveness failure, because each waits to its bound."""
_WAITS = 24
"""Number of different waits in which a replayed schedule may break its liveness property again."""
_LINES_MAX = 200
"""Maximum number of displayed moves; a trace can have all of them."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed run and its shrunk schedule.

    For a liveness property, the shrunk run is the schedule and the wait after it.  If the schedule alone does not
    repeat the failure, the whole run is kept.
    """

    plan: RunPlan
    violation: Violation
    """Violation of the whole run."""
    moves: int
    """Number of moves of the whole run, up to the violation or the last fault."""
    schedule: Schedule
    """Shrunk schedule."""
    occurrences: tuple[Occurrence, ...]
    """Occurrences of the shrunk schedule."""
    shrunk_violation: Violation
    """Violation of the same property by the shrunk schedule."""

    def report(self) -> str:
        """Return the violation, the command that repeats the run, and the shrunk schedule, as text."""
        lines = [str(self.violation), f"repeat: {self.plan.command_line()}"]
        if len(self.schedule) == self.moves:
            lines.append(f"not shrunk: the {self.moves} moves alone do not repeat it")
            return "\n".join(lines)
        lines.append(f"shrunk from {self.moves} moves to {len(self.schedule)}:")
        displayed = self.occurrences[: min(len(self.schedule), _LINES_MAX)]
        lines.extend(f"  {describe(occurrence)}" for occurrence in displayed)
        if len(displayed) < len(self.schedule):
            lines.append(f"  and {len(self.schedule) - len(displayed)} more")
        lasting = lasting_faults_in(self.schedule)
        if lasting:
            lines.append(f"  never mended: {lasting}")
        lines.append(str(self.shrunk_violation))
        return "\n".join(lines)


def investigate(plan: RunPlan, make_replica: MakeReplica = Replica) -> Failure | None:
    """Repeat a run, record its schedule, and shrink it; None if it does not fail."""
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
    """Return an attempt that checks whether a cluster breaks a liveness property after a schedule.

    The seed decides the wait, because the timers of a replayed cluster start anew.
    """

    def attempt(schedule: Schedule) -> Schedule | None:
        simulation = plan.simulation(seed=seed, make_replica=make_replica)
        for _ in simulation.run(prefix=schedule):
            pass
        violation = simulation.violation
        return schedule if violation is not None and violation.property_name == property_name else None

    return attempt


def describe(occurrence: Occurrence) -> str:
    """Return a line about an occurrence."""
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

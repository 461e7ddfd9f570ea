"""Run of a cluster, from a seed or a schedule: its events, trace and violation."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from kraft_conformance.random_runs.driven import AdapterReplica
from kraft_conformance.random_runs.notes import CountsOtherwiseError, Notes
from kraft_conformance.random_runs.plan import KnownDifference
from kraft_conformance.random_runs.table import Table
from kraft_reference.configuration import Configuration
from kraft_simulation.invariants import Invariants
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.schedule import DEFECTS, Move, Schedule, replay
from kraft_simulation.simulation import Simulation
from kraft_simulation.violation import Violation
from kraft_simulation.workload import Preset
from kraft_simulation.world import World
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Input of a run, apart from the adapters."""

    preset: Preset
    configuration: Configuration
    seed: int
    steps: int
    """Number of events before faults stop."""
    differential: bool
    known: tuple[KnownDifference, ...] = ()
    """Known differences of the adapters."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded run."""

    occurrences: tuple[Occurrence, ...]
    lines: tuple[EventLine, ...]
    """Trace lines of the occurrences, without hidden parts."""
    schedule: Schedule
    violation: Violation | None
    """Violated invariant of the simulator."""
    notes: Notes
    is_whole: bool
    """True if the run reached its end."""

    @property
    def until_known(self) -> int:
        """Number of events before the first known difference."""
        return self.notes.passed[0].sequence - 1 if self.notes.passed else len(self.lines)


def run(table: Table, spec: RunSpec) -> Recorded:
    """Make the run of a seed.

    Raises:
        AdapterFault: an adapter violates the protocol.
    """
    try:
        return _run(table, spec, dies_in_steps=True)
    except CountsOtherwiseError:
        # Start again without crashes during steps, because this adapter counts writes differently.
        return _run(table, spec, dies_in_steps=False)


def _run(table: Table, spec: RunSpec, *, dies_in_steps: bool) -> Recorded:
    notes = Notes(spec.known)
    simulation = Simulation(
        spec.configuration,
        spec.seed,
        spec.preset.workload,
        spec.preset.faults,
        steps=spec.steps,
        keeps_schedule=True,
        make_replica=table.maker(notes, stops=spec.differential, dies_in_steps=dies_in_steps),
    )
    occurrences: list[Occurrence] = []
    lines: list[EventLine] = []
    for occurrence in _as_far_as_known(simulation.run(), notes):
        occurrences.append(occurrence)
        lines.append(line_shown(simulation.world, occurrence))
        if notes.is_over:
            break
    whole = not notes.is_over and simulation.violation is None
    violation = _of_what_is_shown(simulation.violation, notes)
    return Recorded(tuple(occurrences), tuple(lines), simulation.schedule, violation, notes, whole)


def _of_what_is_shown(violation: Violation | None, notes: Notes) -> Violation | None:
    """Return the violation, or end the run if the reference's part of a state may be its cause."""
    if violation is None or not notes.is_mixed:
        return violation
    notes.is_over = True
    return None


def _as_far_as_known(occurrences: Iterator[Occurrence], notes: Notes) -> Iterator[Occurrence]:
    """Yield the occurrences until the simulation cannot continue after a difference."""
    if notes.is_over:
        return
    try:
        yield from occurrences
    except (*DEFECTS, LookupError, ValueError):
        if notes.first is None and not notes.passed:
            raise
        notes.is_over = True


def rerun(
    table: Table,
    configuration: Configuration,
    schedule: Schedule,
    only: int | None = None,
    *,
    passes_timers: bool,
    known: tuple[KnownDifference, ...] = (),
) -> Recorded:
    """Make the possible moves of a schedule up to the first unknown difference or violation.

    Only the replica `only` uses its adapter, if it is set; `passes_timers` ignores differences of timers alone.

    Raises:
        AdapterFault: an adapter violates the protocol.
        CountsOtherwiseError: an adapter counts writes differently.
    """
    notes = Notes(known, passes_timers=passes_timers)
    world = World(configuration, table.maker(notes, stops=True, dies_in_steps=True, only=only))
    invariants = Invariants(configuration, {number: replica.state for number, replica in world.replicas.items()})
    moves: list[Move] = []
    occurrences: list[Occurrence] = []
    lines: list[EventLine] = []
    violation: Violation | None = None
    if not notes.is_over:
        for move, occurrence in replay(world, schedule):
            moves.append(move)
            occurrences.append(occurrence)
            lines.append(line_shown(world, occurrence))
            violation = _of_what_is_shown(next(iter(invariants.observe(occurrence)), None), notes)
            if violation is not None or notes.is_over:
                break
    return Recorded(tuple(occurrences), tuple(lines), tuple(moves), violation, notes, is_whole=False)


def line_shown(world: World, occurrence: Occurrence) -> EventLine:
    """Return the trace line of the last occurrence, without what its adapter hides."""
    line = event_line(occurrence)
    if occurrence.replica_id is None:
        return line
    replica = world.replicas[occurrence.replica_id]
    if not isinstance(replica, AdapterReplica):
        return line
    observation = replica.shown
    return replace(line, effects=observation.effects, refusal=observation.refusal, state=observation.state)

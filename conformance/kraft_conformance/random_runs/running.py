"""One run of a cluster, from its seed or from a schedule: what happened, its trace, and where it went wrong."""

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
    """What decides what will happen, the adapters apart."""

    preset: Preset
    configuration: Configuration
    seed: int
    steps: int
    """Events before faults stop."""
    differential: bool
    known: tuple[KnownDifference, ...] = ()
    """What the adapters are known to do otherwise."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as it was."""

    occurrences: tuple[Occurrence, ...]
    lines: tuple[EventLine, ...]
    """The same as a trace has them, without what was not observed."""
    schedule: Schedule
    violation: Violation | None
    """Of an invariant of the simulator."""
    notes: Notes
    is_whole: bool
    """It ended where it was meant to."""

    @property
    def until_known(self) -> int:
        """How many events there are before the first in which an adapter did what it is known to do otherwise."""
        return self.notes.passed[0].sequence - 1 if self.notes.passed else len(self.lines)


def run(table: Table, spec: RunSpec) -> Recorded:
    """Make the run of a seed.

    Raises:
        AdapterFault: an adapter does not answer as the protocol says.
    """
    try:
        return _run(table, spec, dies_in_steps=True)
    except CountsOtherwiseError:
        # From its beginning without deaths in the middle of steps, whose writes are counted otherwise.
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
    """A violation, unless the reference's part of a state may be its reason: the run is over then."""
    if violation is None or not notes.is_mixed:
        return violation
    notes.is_over = True
    return None


def _as_far_as_known(occurrences: Iterator[Occurrence], notes: Notes) -> Iterator[Occurrence]:
    """The occurrences, up to where the cluster itself cannot follow an implementation that has gone its own way."""
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
    """Make the moves of a schedule that apply, up to the first difference that is not known, or a violation.

    `only` is the one replica that its adapter plays; with `passes_timers` a difference in timers alone is none.

    Raises:
        AdapterFault: an adapter does not answer as the protocol says.
        CountsOtherwiseError: an adapter counts its writes otherwise.
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
    """The line of what has just happened, without what the adapter of that replica does not show."""
    line = event_line(occurrence)
    if occurrence.replica_id is None:
        return line
    replica = world.replicas[occurrence.replica_id]
    if not isinstance(replica, AdapterReplica):
        return line
    observation = replica.shown
    return replace(line, effects=observation.effects, refusal=observation.refusal, state=observation.state)

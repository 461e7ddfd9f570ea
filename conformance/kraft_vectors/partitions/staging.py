"""Runs for vectors: scripts over a `PartitionStage`, which notes where the steps begin."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.decisions import PROFILES, ReassignmentProfile
from kraft_partitions.effects import Effect
from kraft_partitions.events import Event
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.scenarios.stage import PartitionStage
from kraft_partitions.state import ControllerState, initial_state
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_occurrences
from kraft_traces.partitions.process import PartitionProcess
from kraft_vectors.acceptance import accepted_profiles


@dataclass(frozen=True, slots=True)
class PartitionRun:
    """A run that a vector is cut from."""

    source: str
    configuration: PartitionConfiguration
    occurrences: tuple[PartitionOccurrence, ...]
    start: int
    """The sequence of the first occurrence of the steps; what is before it is history."""
    profiles: tuple[str, ...] = ()
    """Those under which the model accepts the run, and the reference makes the same of its events."""

    @property
    def history(self) -> tuple[PartitionOccurrence, ...]:
        """What comes before the steps."""
        return self.occurrences[: self.start - 1]

    @property
    def steps(self) -> tuple[PartitionOccurrence, ...]:
        """What the vector is about."""
        return self.occurrences[self.start - 1 :]

    @property
    def before(self) -> ControllerState:
        """The state in which the steps begin."""
        return self.history[-1].state if self.history else initial_state(self.configuration)


PartitionAccepts = Callable[[PartitionRun], tuple[str, ...]]
"""Under which profiles the model accepts a run."""


class RecordingStage(PartitionStage):
    """A stage that asks for no row after each event."""

    def happen(self, event: Event, *, refused: bool | None = None) -> tuple[Effect, ...]:
        """An event; what must come of it the vector says."""
        effects = super().happen(event, refused=refused)
        self._unchecked = False
        return effects


def partition_run(
    source: str,
    configuration: PartitionConfiguration,
    script: Callable[[RecordingStage], None],
    accepts: PartitionAccepts,
    controllers: Controllers = REFERENCE,
) -> PartitionRun:
    """The run of a script with such controllers.

    Raises:
        ScenarioFailure: the reference does something else than the script says.
        NotAcceptedError: the model rejects it.
    """
    stage = RecordingStage(source, configuration, controllers)
    script(stage)
    run = PartitionRun(source, configuration, tuple(stage.occurrences), stage.start or 1)
    return replace(run, profiles=accepts(run))


def again(
    state: ControllerState,
    occurrences: Iterable[PartitionOccurrence],
    configuration: PartitionConfiguration,
    controllers: Controllers = REFERENCE,
) -> tuple[PartitionOccurrence, ...]:
    """What such controllers make of the events of a run, from a state on."""
    done: list[PartitionOccurrence] = []
    for one in occurrences:
        done.append(happen(one.sequence, state, one.event, configuration, controllers))
        state = done[-1].state
    return tuple(done)


def accepting(process: PartitionProcess) -> PartitionAccepts:
    """Ask the model in another process: this one may hold that of the quorum, and TLC keeps one alone."""

    def accepts(run: PartitionRun) -> tuple[str, ...]:
        def under(profile: ReassignmentProfile) -> PartitionConfiguration:
            return replace(run.configuration, profile=profile)

        def same(profile: ReassignmentProfile) -> bool:
            return again(initial_state(under(profile)), run.occurrences, under(profile)) == run.occurrences

        def judged(profile: ReassignmentProfile) -> PartitionVerdict:
            return process.ask(check_partition_occurrences, run.occurrences, under(profile), run.source)

        return accepted_profiles(run.source, run.configuration.profile, filter(same, PROFILES.values()), judged)

    return accepts

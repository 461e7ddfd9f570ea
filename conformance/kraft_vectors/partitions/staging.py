"""Runs for vectors: scripts for a `PartitionStage` that records the first step."""

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
    """A run, from which a vector is extracted."""

    source: str
    configuration: PartitionConfiguration
    occurrences: tuple[PartitionOccurrence, ...]
    start: int
    """Sequence number of the first step; earlier occurrences are the history."""
    profiles: tuple[str, ...] = ()
    """Profiles under which the model accepts the run and the reference has the same outcome."""

    @property
    def history(self) -> tuple[PartitionOccurrence, ...]:
        """Occurrences before the steps."""
        return self.occurrences[: self.start - 1]

    @property
    def steps(self) -> tuple[PartitionOccurrence, ...]:
        """Occurrences of the steps."""
        return self.occurrences[self.start - 1 :]

    @property
    def before(self) -> ControllerState:
        """State before the steps."""
        return self.history[-1].state if self.history else initial_state(self.configuration)


PartitionAccepts = Callable[[PartitionRun], tuple[str, ...]]
"""Maps a run to the profiles under which the model accepts it."""


class RecordingStage(PartitionStage):
    """A stage that does not require a check after each event."""

    def happen(self, event: Event, *, refused: bool | None = None) -> tuple[Effect, ...]:
        """Make an event happen; the vector has the expected outcome."""
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
    """Run a script with such controllers.

    Raises:
        ScenarioFailure: the reference differs from the script.
        NotAcceptedError: the model rejects it.
    """
    stage = RecordingStage(source, configuration, controllers)
    script(stage)
    run = PartitionRun(source, configuration, tuple(stage.occurrences), stage.start or 1)
    return replace(run, profiles=accepts(run))


def repeat_events(
    state: ControllerState,
    occurrences: Iterable[PartitionOccurrence],
    configuration: PartitionConfiguration,
    controllers: Controllers = REFERENCE,
) -> tuple[PartitionOccurrence, ...]:
    """Repeat the events of a run with such controllers from a state."""
    done: list[PartitionOccurrence] = []
    for occurrence in occurrences:
        done.append(happen(occurrence.sequence, state, occurrence.event, configuration, controllers))
        state = done[-1].state
    return tuple(done)


def accepting(process: PartitionProcess) -> PartitionAccepts:
    """Return a check in another process, because TLC holds one model per process, here the quorum's."""

    def accepts(run: PartitionRun) -> tuple[str, ...]:
        def under(profile: ReassignmentProfile) -> PartitionConfiguration:
            return replace(run.configuration, profile=profile)

        def same(profile: ReassignmentProfile) -> bool:
            return repeat_events(initial_state(under(profile)), run.occurrences, under(profile)) == run.occurrences

        def judged(profile: ReassignmentProfile) -> PartitionVerdict:
            return process.ask(check_partition_occurrences, run.occurrences, under(profile), run.source)

        return accepted_profiles(run.source, run.configuration.profile, filter(same, PROFILES.values()), judged)

    return accepts

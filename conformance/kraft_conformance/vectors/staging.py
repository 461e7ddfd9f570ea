"""Runs for vectors: scripts over a `Director` that notes where the steps begin and what chance gave."""

from collections.abc import Callable
from dataclasses import replace

from kraft_conformance.vectors.recording import Run
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw
from kraft_reference.profile import PROFILES
from kraft_reference.scenarios.director import Director
from kraft_traces.check import Verdict, VerdictKind, check_occurrences

Accepts = Callable[[Run], tuple[str, ...]]
"""Under which profiles the model accepts a run."""


class RecordingDirector(Director):
    """A director that remembers its draws and the first step of its text."""

    def __init__(self, name: str, configuration: Configuration) -> None:
        super().__init__(name, configuration)
        self.draws: dict[int, Draw] = {}
        self.start: int | None = None
        """The sequence of the first occurrence after the starting situation."""

    def step(self, text: str) -> None:
        """Name the step of the text that comes next; the first one ends the starting situation."""
        super().step(text)
        if self.start is None:
            self.start = self.world.sequence + 1

    def draw(self, replica_id: int) -> Draw:
        """The draw for the next move."""
        drawn = super().draw(replica_id)
        self.draws[drawn.correlation_id] = drawn
        return drawn


class NotAcceptedError(AssertionError):
    """The model rejects the run of a vector under the run's own profile."""

    def __init__(self, source: str, verdict: Verdict) -> None:
        said = verdict.reason if verdict.rejection is None else verdict.rejection.headline()
        super().__init__(f"{source}: {verdict.kind}: {said}")


def recorded(source: str, configuration: Configuration, script: Callable[[Director], None], accepts: Accepts) -> Run:
    """The run of a script.

    Raises:
        ScenarioFailure: the reference does something else than the script says.
        NotAcceptedError: the model rejects it.
    """
    director = RecordingDirector(source, configuration)
    script(director)
    start = 1 if director.start is None else director.start
    run = Run(source, configuration, tuple(director.occurrences), director.draws, start, ())
    return replace(run, profiles=accepts(run))


def accepted_by_model(run: Run) -> tuple[str, ...]:
    """The profiles under which TLC accepts the run; its own first.

    Raises:
        NotAcceptedError: not even under its own.
    """
    own = run.configuration.profile
    verdict = check_occurrences(run.occurrences, run.configuration, run.source)
    if verdict.kind is not VerdictKind.ACCEPTED:
        raise NotAcceptedError(run.source, verdict)
    names = [own.name]
    for profile in PROFILES.values():
        if profile.name != own.name:
            configuration = replace(run.configuration, profile=profile)
            if check_occurrences(run.occurrences, configuration, run.source).kind is VerdictKind.ACCEPTED:
                names.append(profile.name)
    return tuple(names)

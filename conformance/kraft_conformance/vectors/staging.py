"""Runs for vectors: scripts over a `Director` that notes where the steps begin and what chance gave.

Most runs are what a cluster comes to.
Two verbs go beyond that: a replica is put into a state that no events lead to, and an event strikes where none is due.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kraft_conformance.vectors.recording import Construction, Run
from kraft_reference.cluster.checkpoint import NO_VOTES, CastVotes, Checkpoints
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event
from kraft_reference.outcome import Refusal
from kraft_reference.profile import PROFILES
from kraft_reference.scenarios.director import Director
from kraft_traces.check import Rejection, TraceChecker, Verdict, VerdictKind, check_occurrences
from kraft_traces.check.model import trace_model
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import event_line

Accepts = Callable[[Run], tuple[str, ...]]
"""Under which profiles the model accepts a run."""


class RecordingDirector(Director):
    """A director that remembers its draws and the first step of its text."""

    def __init__(self, name: str, configuration: Configuration) -> None:
        super().__init__(name, configuration)
        self.draws: dict[int, Draw] = {}
        self.start: int | None = None
        """The sequence of the first occurrence after the starting situation."""
        self.construction: Construction | None = None

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

    def construct(self, replica_id: int, why: str, **fields: Any) -> None:
        """Put a replica into a state that no events lead to: its own, with these fields of `ReplicaState` changed.

        The steps begin here.  `why` says, to readers of the vector, why nothing leads there.
        """
        followed = Checkpoints(self.world.configuration)
        for occurrence in self.occurrences:
            followed.follow(occurrence)
        state = self.world.state(replica_id)._replace(**fields)
        self.world.replicas[replica_id].state = state
        there = followed.now()
        # What it has voted is what its state says, whatever it did before.
        cast = NO_VOTES if state.voted_key is None else CastVotes(state.epoch, frozenset((state.voted_key,)))
        remembered = there.recollection._replace(votes={**there.recollection.votes, replica_id: cast})
        replicas = {**there.replicas, replica_id: state}
        self.construction = Construction(there._replace(replicas=replicas, recollection=remembered), why)
        self.start = self.world.sequence + 1

    def refuses(self, replica_id: int, event: Event, refusal: Refusal) -> None:
        """An event of the replica itself that is not due, or not in its role: it takes no notice, for this reason."""
        self.world.time_ms += 1
        occurrence = self.world.happen(replica_id, event, self.draw(replica_id))
        self.check(f"refusal of N{replica_id}", occurrence.refusal, refusal)
        self.occurrences.append(occurrence)


class NotAcceptedError(AssertionError):
    """The model rejects the run of a vector under the run's own profile."""

    def __init__(self, source: str, verdict: Verdict) -> None:
        said = verdict.reason if verdict.rejection is None else verdict.rejection.headline()
        super().__init__(f"{source}: {verdict.kind}: {said}")


def recorded(
    source: str, configuration: Configuration, script: Callable[[RecordingDirector], None], accepts: Accepts
) -> Run:
    """The run of a script.

    Raises:
        ScenarioFailure: the reference does something else than the script says.
        NotAcceptedError: the model rejects it.
    """
    director = RecordingDirector(source, configuration)
    script(director)
    start = 1 if director.start is None else director.start
    run = Run(source, configuration, tuple(director.occurrences), director.draws, start, (), director.construction)
    return replace(run, profiles=accepts(run))


def accepted_by_model(run: Run) -> tuple[str, ...]:
    """The profiles under which TLC accepts the run; its own first.

    Raises:
        NotAcceptedError: not even under its own.
    """
    own = run.configuration.profile
    verdict = _checked(run, run.configuration)
    if verdict.kind is not VerdictKind.ACCEPTED:
        raise NotAcceptedError(run.source, verdict)
    names = [own.name]
    for profile in PROFILES.values():
        if profile.name != own.name:
            configuration = replace(run.configuration, profile=profile)
            if _checked(run, configuration).kind is VerdictKind.ACCEPTED:
                names.append(profile.name)
    return tuple(names)


def _checked(run: Run, configuration: Configuration) -> Verdict:
    if run.construction is None:
        return check_occurrences(run.occurrences, configuration, run.source)
    return _checked_from(run, run.construction, configuration)


def _checked_from(run: Run, construction: Construction, configuration: Configuration) -> Verdict:
    """Every step from a constructed state on, with the properties of each.

    What the whole cluster is to hold at any time is not asked: it speaks of states that there are.
    """
    line = checkpoint_line(construction.checkpoint)
    checker = TraceChecker(trace_model(), configuration, run.source, own=True, start=line)
    (there,) = checker.states
    if not trace_model().specification.is_valid("TypeOk", there):
        raise AssertionError(f"{run.source}: the constructed state is not well-typed")
    rejection: Rejection | None = None
    steps = [one for one in run.occurrences if one.sequence >= run.start]
    for number, occurrence in enumerate(steps, 1):
        rejection = checker.feed(number, event_line(occurrence))
        if rejection is not None or checker.is_over:
            return checker.finish(complete=True, rejection=rejection)
    return Verdict(VerdictKind.ACCEPTED, run.source, len(steps), complete=True, candidates_max=1, every=0)

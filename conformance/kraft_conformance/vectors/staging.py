"""Runs for vectors: scripts over a `Director` that notes where the steps begin and what chance gave.

Most runs are what a cluster comes to.
Three verbs go beyond that: a replica is put into a state that no events lead to, an event strikes where none is due,
and a request arrives that nobody in the cluster sends.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from kraft_conformance.vectors.recording import Construction, Run
from kraft_reference.cluster.checkpoint import NO_VOTES, CastVotes, Checkpoints
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.world import MakeReplica
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.messages import Message, Reply
from kraft_reference.outcome import Refusal
from kraft_reference.partitions.decisions import ReassignmentProfile
from kraft_reference.profile import PROFILES, Profile
from kraft_reference.replica import Replica, handle
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.exchange import answer_to, verdict_of
from kraft_traces.check import Rejection, TraceChecker, Verdict, VerdictKind, check_occurrences
from kraft_traces.check.model import trace_model
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import event_line
from kraft_traces.partitions.checker import PartitionVerdict

UNSENT = "unsent"
"""In place of the id of a message: nobody in the cluster has sent it, and the model knows nothing of it."""

AnyVerdict: TypeAlias = Verdict | PartitionVerdict
_Profile = TypeVar("_Profile", Profile, ReassignmentProfile)

Accepts = Callable[[Run], tuple[str, ...]]
"""Under which profiles the model accepts a run."""


class RecordingDirector(Director):
    """A director that remembers its draws."""

    def __init__(self, name: str, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        super().__init__(name, configuration, make_replica)
        self.draws: dict[int, Draw] = {}
        self.construction: Construction | None = None

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

    def without(self, request: str, field: str) -> None:
        """Take an optional field out of a request on its way: its sender is of a version that does not have it.

        `cluster_id` or `voter_key`, of a request that names this cluster and this replica.
        """
        flight = self.world.in_flight[request]
        flight.message = _altered(flight.message, **{field: None})

    def unsent(self, like: str, verdict: str, **fields: Any) -> None:
        """A request like one on its way, which stays there, with other values in these fields.

        Nobody in the cluster sends it.  The answer goes nowhere.
        No other effect is allowed, and the state stays: to the model, which has no such requests, nothing happens.
        So it counts for none of the run, and has the number that the next occurrence gets.
        """
        request = _altered(self.world.in_flight[like].message, **fields)
        replica_id = request.destination
        before, draw = self.state(replica_id), self.draw(replica_id)
        self.world.time_ms += 1
        outcome = handle(before, self.world.configuration, Receive(request), draw)
        occurrence = Occurrence(
            self.world.sequence + 1,
            self.world.time_ms,
            Receive(request),
            replica_id,
            UNSENT,
            tuple([Send(sent) for sent in outcome.sends if not isinstance(sent, Reply)]),
            outcome.refusal,
            state=outcome.state,
        )
        response = answer_to(request, occurrence)
        self.check(f"the answer of N{replica_id}", None if response is None else verdict_of(response), verdict)
        self.check(f"messages of N{replica_id}", len(outcome.sends), 1)
        self.check(f"timers of N{replica_id}", outcome.timers, ())
        self.check(f"the state of N{replica_id}", outcome.state, before)
        self.occurrences.append(occurrence)


def in_terms_of_the_model(occurrences: Iterable[Occurrence], configuration: Configuration) -> Iterator[Occurrence]:
    """What the model is asked about, whose requests all name their cluster and the voter that they are for.

    What nobody in the cluster has sent is left out, and a request that names no cluster or voter names this one.
    """
    for one in occurrences:
        if one.message_id == UNSENT:
            continue
        if not isinstance(one.event, Receive):
            yield one
            continue
        message = one.event.message
        voters = {voter.id: voter for voter in configuration.voters}
        named = {"cluster_id": configuration.cluster_id, "voter_key": voters.get(message.destination)}
        absent = {field: value for field, value in named.items() if value and getattr(message, field, value) is None}
        yield replace(one, event=Receive(_altered(message, **absent))) if absent else one


def _altered(message: Message, **fields: Any) -> Message:
    """A message of the same type with other values in these fields, which not every type has."""
    return replace(message, **fields)


class NotAcceptedError(AssertionError):
    """The model rejects the run of a vector under the run's own profile."""

    def __init__(self, source: str, verdict: AnyVerdict) -> None:
        said = getattr(verdict, "reason", None) if verdict.rejection is None else verdict.rejection.headline()
        super().__init__(f"{source}: {verdict.kind}: {said}")


def recorded(
    source: str,
    configuration: Configuration,
    script: Callable[[RecordingDirector], None],
    accepts: Accepts,
    make_replica: MakeReplica = Replica,
) -> Run:
    """The run of a script with such replicas.

    Raises:
        ScenarioFailure: the reference does something else than the script says.
        NotAcceptedError: the model rejects it.
    """
    director = RecordingDirector(source, configuration, make_replica)
    script(director)
    start = 1 if director.start is None else director.start
    run = Run(source, configuration, tuple(director.occurrences), director.draws, start, (), director.construction)
    return replace(run, profiles=accepts(run))


def accepted_by_model(run: Run) -> tuple[str, ...]:
    """The profiles under which TLC accepts the run; its own first.

    Raises:
        NotAcceptedError: not even under its own.
    """

    def judged(profile: Profile) -> Verdict:
        return _checked(run, replace(run.configuration, profile=profile))

    return accepted_profiles(run.source, run.configuration.profile, PROFILES.values(), judged)


def accepted_profiles(
    source: str, own: _Profile, others: Iterable[_Profile], judged: Callable[[_Profile], AnyVerdict]
) -> tuple[str, ...]:
    """The names of the profiles under which the model accepts a run, that of the run first.

    Raises:
        NotAcceptedError: not even under its own.
    """
    verdict = judged(own)
    if verdict.kind is not VerdictKind.ACCEPTED:
        raise NotAcceptedError(source, verdict)
    named: list[_Profile] = [one for one in others if one.name != own.name]
    return (own.name, *[one.name for one in named if judged(one).kind is VerdictKind.ACCEPTED])


def _checked(run: Run, configuration: Configuration) -> Verdict:
    occurrences = tuple(in_terms_of_the_model(run.occurrences, configuration))
    if run.construction is None:
        return check_occurrences(occurrences, configuration, run.source)
    return _checked_from(replace(run, occurrences=occurrences), run.construction, configuration)


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

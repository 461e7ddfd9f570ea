"""From a run of a cluster to vectors: the run cut down to one replica, and the proof that the two say the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Draw, Event
from kraft_reference.profile import PROFILES
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import Checkpoint
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World
from kraft_traces.alternatives.requests import may_send
from kraft_traces.alternatives.values import MaySend
from kraft_traces.checkpoints import replica_state_of, traced_replica_state
from kraft_traces.encode import event_line
from kraft_traces.states import traced_state
from kraft_vectors.cluster import cluster_of
from kraft_vectors.courses import followed_courses, happen
from kraft_vectors.encoding import file_bytes, vector_from
from kraft_vectors.expecting import event_of_line, expected_of, step_of, without_id
from kraft_vectors.features import Level
from kraft_vectors.format import Course, Expected, OpenChoice, Requires, Vector, VectorEvent, VectorStep
from kraft_vectors.manifest import SCHEMA
from kraft_vectors.requirements import at_replica, features_of, kips_of, level_of
from kraft_vectors.state_changes import changed


class VectorProofError(AssertionError):
    """A vector does not say what the run shows: a defect of the generator, of the injection or of the reference."""


@dataclass(frozen=True, slots=True)
class Construction:
    """A state that no events lead to, put in place of what the run had come to.

    Its rest, the other replicas and the network included, is as the events before have left it.
    """

    checkpoint: Checkpoint
    """Everything there is, with the constructed state in it."""
    why: str
    """Why no events lead there."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a whole cluster that vectors are cut from."""

    source: str
    configuration: Configuration
    occurrences: tuple[Occurrence, ...]
    draws: Mapping[int, Draw]
    """By the sequence of the occurrence."""
    start: int
    """The sequence of the first occurrence of the steps; what is before it is history."""
    profiles: tuple[str, ...]
    """Those under which the model accepts the run."""
    construction: Construction | None = None
    """Where the steps begin, if not where the events before them lead."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is cut from a run."""

    id: str
    title: str
    rules: tuple[str, ...]
    replica_id: int
    level: Level = "wire"
    """At least; more if the steps, or what the rules are about, show only above it."""
    last: int | None = None
    """How many steps at most; None for all of the run."""


def vector_of(run: Run, subject: Subject) -> Vector | None:
    """The vector; None if nothing happens at the replica after the start.

    Raises:
        VectorProofError: history, state as data and steps do not fit together.
    """
    own = at_replica(run.occurrences, subject.replica_id)
    earlier = [one for one in own if one.sequence < run.start]
    later = [one for one in own if one.sequence >= run.start][: subject.last]
    if not later:
        return None
    if run.construction is not None:
        earlier = []
    first = _first_state(run, run.configuration, subject.replica_id)
    states = [first, *[_state(one) for one in (*earlier, *later)]]
    before = states[len(earlier)]
    history = tuple([_vector_event(run, one) for one in earlier])
    steps = tuple(_steps(run, later, before))
    shown = own if run.construction is None else later
    sent = [type(effect.message).__name__ for one in shown for effect in one.effects if isinstance(effect, Send)]
    events = (*history, *steps)
    features = features_of(states, events, sent, run.configuration)
    vector = Vector(
        schema=SCHEMA,
        id=subject.id,
        title=subject.title,
        source=run.source,
        rules=subject.rules,
        level=level_of(steps, subject.rules, subject.level),
        requires=Requires(
            kips_of(features, events, steps),
            run.configuration.kraft_version,
            tuple([name for name in run.profiles if _is_same_under(name, run, subject.replica_id, earlier, later)]),
            features,
        ),
        replica=subject.replica_id,
        cluster=cluster_of(run.configuration),
        constructed=UNSET if run.construction is None else run.construction.why,
        history=history if run.construction is None else None,
        before=traced_replica_state(before),
        steps=steps,
        courses=_other_courses(run, subject.replica_id, earlier, later) or UNSET,
    )
    _prove(vector, run, earlier, later, before)
    return vector


def _state(occurrence: Occurrence) -> ReplicaState:
    assert occurrence.state is not None, "what happens at a replica leaves a state"
    return occurrence.state


def _first_state(run: Run, configuration: Configuration, replica_id: int) -> ReplicaState:
    """The state in which a replica is when a run, or its constructed part, begins."""
    if run.construction is not None:
        return run.construction.checkpoint.replicas[replica_id]
    return World(configuration).state(replica_id)


def _draw(run: Run, occurrence: Occurrence) -> Draw:
    return run.draws.get(occurrence.sequence, Draw(occurrence.sequence, 0, 0))


def _vector_event(run: Run, occurrence: Occurrence) -> VectorEvent:
    return event_of_line(event_line(occurrence), _draw(run, occurrence))


def _steps(run: Run, occurrences: Sequence[Occurrence], before: ReplicaState) -> Iterator[VectorStep]:
    for occurrence, expected in zip(occurrences, _expected(run, occurrences, before), strict=True):
        yield step_of(_vector_event(run, occurrence), expected)


def _expected(run: Run, occurrences: Sequence[Occurrence], before: ReplicaState) -> Iterator[Expected]:
    shown, there = traced_state(before), before
    for occurrence in occurrences:
        line = event_line(occurrence)
        outputs = tuple([without_id(effect) for effect in line.effects or ()])
        after = traced_state(_state(occurrence))
        besides = _may_send(run, occurrence, there)
        yield expected_of(line.event, line.message, outputs, shown, after, occurrence.refusal, besides)
        shown, there = after, _state(occurrence)


def _other_courses(
    run: Run, replica_id: int, earlier: Sequence[Occurrence], later: Sequence[Occurrence]
) -> tuple[Course, ...]:
    """The courses under other answers to the open decisions, as far as they show something else."""
    start = _first_state(run, run.configuration, replica_id)
    followed = followed_courses(start, run.configuration, earlier, later, partial(_draw, run))
    assert not followed[0].taken, "the course of the configuration comes first"
    begun = traced_state(followed[0].before)
    found: list[Course] = []
    for one in followed:
        before = changed(begun, traced_state(one.before))
        steps = tuple(_expected(run, one.steps, one.before))
        choices = tuple([OpenChoice(*answer) for answer in sorted(one.taken)])
        if (before, steps) not in [(course.before, course.steps) for course in found]:
            found.append(Course(choices=choices, before=before, steps=steps))
    return tuple(found[1:])


def _may_send(run: Run, occurrence: Occurrence, before: ReplicaState) -> tuple[MaySend, ...]:
    """None in a step that the replica dies in: what it has sent by then hangs on how many it sends."""
    assert isinstance(occurrence.event, Event), "what happens at a replica is an event of it"
    if occurrence.crash is not None:
        return ()
    sent = [effect.message for effect in occurrence.effects if isinstance(effect, Send)]
    return may_send(occurrence.event, before, run.configuration, _draw(run, occurrence), sent)


# -------------------------------------------------------------------------------------------------------------
# The proof.
# -------------------------------------------------------------------------------------------------------------


def _prove(
    vector: Vector, run: Run, earlier: Sequence[Occurrence], later: Sequence[Occurrence], before: ReplicaState
) -> None:
    """The state as data is that of the run, the history leads to it, and from it the steps are those of the run."""
    read = vector_from(file_bytes(vector))
    if read != vector:
        raise VectorProofError(f"{vector.id}: the file says something else than the vector")
    injected = replica_state_of("$.before", read.before)
    if injected != before:
        raise VectorProofError(f"{vector.id}: as data the state is {injected}, in the run {before}")
    replica = Replica(_first_state(run, run.configuration, vector.replica), run.configuration)
    for occurrence in earlier:
        happen(replica, occurrence, _draw(run, occurrence))
    if replica.state != before:
        raise VectorProofError(f"{vector.id}: the history leads to {replica.state}, in the run it is {before}")
    replica = Replica(injected, run.configuration)
    for position, occurrence in enumerate(later):
        step = happen(replica, occurrence, _draw(run, occurrence))
        shown = (step.state, step.effects, step.refusal)
        if shown != (occurrence.state, occurrence.effects, occurrence.refusal):
            raise VectorProofError(f"{vector.id}: step {position} gives {shown} from the state as data")


def _is_same_under(
    profile: str, run: Run, replica_id: int, earlier: Sequence[Occurrence], later: Sequence[Occurrence]
) -> bool:
    """Does the reference do the same under another profile, timers included, which the model does not have?"""
    if profile == run.configuration.profile.name:
        return True
    configuration = replace(run.configuration, profile=PROFILES[profile])
    replica = Replica(_first_state(run, configuration, replica_id), configuration)
    for occurrence in (*earlier, *later):
        step = happen(replica, occurrence, _draw(run, occurrence))
        if (step.state, step.effects, step.refusal) != (occurrence.state, occurrence.effects, occurrence.refusal):
            return False
    return True

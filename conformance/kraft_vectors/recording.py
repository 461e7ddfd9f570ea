"""Extraction of a replica's vector from a run of a cluster, and the proof that both agree."""

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
from kraft_vectors.courses import followed_courses, repeat_occurrence
from kraft_vectors.encoding import file_bytes, vector_from
from kraft_vectors.expecting import event_of_line, expected_of, step_of, without_id
from kraft_vectors.features import Level
from kraft_vectors.format import Course, Expected, OpenChoice, Requires, Vector, VectorEvent, VectorStep
from kraft_vectors.manifest import SCHEMA
from kraft_vectors.requirements import at_replica, features_of, kips_of, level_of
from kraft_vectors.state_changes import changes_between


class VectorProofError(AssertionError):
    """A vector differs from its run: a defect of the generator, of the state injection or of the reference."""


@dataclass(frozen=True, slots=True)
class Construction:
    """A constructed state of a replica, which no events lead to.

    The other replicas and the network are in the state after the events before it.
    """

    checkpoint: Checkpoint
    """State of the whole cluster, with the constructed state."""
    why: str
    """Reason why no events lead there."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a whole cluster, from which vectors are extracted."""

    source: str
    configuration: Configuration
    occurrences: tuple[Occurrence, ...]
    draws: Mapping[int, Draw]
    """Draws by sequence number of the occurrence."""
    start: int
    """Sequence number of the first step; earlier occurrences are the history."""
    profiles: tuple[str, ...]
    """Profiles under which the model accepts the run."""
    construction: Construction | None = None
    """Constructed state before the steps, if there is one."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Description of a vector to extract from a run."""

    id: str
    title: str
    rules: tuple[str, ...]
    replica_id: int
    level: Level = "wire"
    """Minimum level; higher if the steps or the rules show only above it."""
    last: int | None = None
    """Maximum number of steps; None for all of the run."""


def vector_of(run: Run, subject: Subject) -> Vector | None:
    """Return the vector; None if the replica has no event after the start.

    Raises:
        VectorProofError: history, injected state and steps do not agree.
    """
    own = at_replica(run.occurrences, subject.replica_id)
    earlier = [occurrence for occurrence in own if occurrence.sequence < run.start]
    later = [occurrence for occurrence in own if occurrence.sequence >= run.start][: subject.last]
    if not later:
        return None
    if run.construction is not None:
        earlier = []
    first = _first_state(run, run.configuration, subject.replica_id)
    states = [first, *[_state(occurrence) for occurrence in (*earlier, *later)]]
    before = states[len(earlier)]
    history = tuple([_vector_event(run, occurrence) for occurrence in earlier])
    steps = tuple(_steps(run, later, before))
    extracted = own if run.construction is None else later
    sent = [
        type(effect.message).__name__
        for occurrence in extracted
        for effect in occurrence.effects
        if isinstance(effect, Send)
    ]
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
    assert occurrence.state is not None, "occurrences at a replica have a state"
    return occurrence.state


def _first_state(run: Run, configuration: Configuration, replica_id: int) -> ReplicaState:
    """Return the state of a replica at the beginning of a run, or of its constructed part."""
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
    state, there = traced_state(before), before
    for occurrence in occurrences:
        line = event_line(occurrence)
        outputs = tuple([without_id(effect) for effect in line.effects or ()])
        after = traced_state(_state(occurrence))
        besides = _may_send(run, occurrence, there)
        yield expected_of(line.event, line.message, outputs, state, after, occurrence.refusal, besides)
        state, there = after, _state(occurrence)


def _other_courses(
    run: Run, replica_id: int, earlier: Sequence[Occurrence], later: Sequence[Occurrence]
) -> tuple[Course, ...]:
    """Return the distinct courses under other settings of the open decisions."""
    start = _first_state(run, run.configuration, replica_id)
    followed = followed_courses(start, run.configuration, earlier, later, partial(_draw, run))
    assert not followed[0].taken, "the course of the configuration comes first"
    begun = traced_state(followed[0].before)
    courses: list[Course] = []
    for candidate in followed:
        before = changes_between(begun, traced_state(candidate.before))
        steps = tuple(_expected(run, candidate.steps, candidate.before))
        choices = tuple([OpenChoice(*answer) for answer in sorted(candidate.taken)])
        if (before, steps) not in [(course.before, course.steps) for course in courses]:
            courses.append(Course(choices=choices, before=before, steps=steps))
    return tuple(courses[1:])


def _may_send(run: Run, occurrence: Occurrence, before: ReplicaState) -> tuple[MaySend, ...]:
    """Return the allowed additional requests; none in a step with a crash, whose crash point counts sends."""
    assert isinstance(occurrence.event, Event), "occurrences at a replica have an event"
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
    """Check that the injected state and the steps from it equal the run's, and that the history leads to it."""
    read = vector_from(file_bytes(vector))
    if read != vector:
        raise VectorProofError(f"{vector.id}: the file differs from the vector")
    injected = replica_state_of("$.before", read.before)
    if injected != before:
        raise VectorProofError(f"{vector.id}: the injected state is {injected}, in the run {before}")
    replica = Replica(_first_state(run, run.configuration, vector.replica), run.configuration)
    for occurrence in earlier:
        repeat_occurrence(replica, occurrence, _draw(run, occurrence))
    if replica.state != before:
        raise VectorProofError(f"{vector.id}: the history leads to {replica.state}, in the run to {before}")
    replica = Replica(injected, run.configuration)
    for position, occurrence in enumerate(later):
        step = repeat_occurrence(replica, occurrence, _draw(run, occurrence))
        outcome = (step.state, step.effects, step.refusal)
        if outcome != (occurrence.state, occurrence.effects, occurrence.refusal):
            raise VectorProofError(f"{vector.id}: step {position} gives {outcome} from the injected state")


def _is_same_under(
    profile: str, run: Run, replica_id: int, earlier: Sequence[Occurrence], later: Sequence[Occurrence]
) -> bool:
    """True if the reference has the same outcome under another profile, including timers, which the model lacks."""
    if profile == run.configuration.profile.name:
        return True
    configuration = replace(run.configuration, profile=PROFILES[profile])
    replica = Replica(_first_state(run, configuration, replica_id), configuration)
    for occurrence in (*earlier, *later):
        step = repeat_occurrence(replica, occurrence, _draw(run, occurrence))
        if (step.state, step.effects, step.refusal) != (occurrence.state, occurrence.effects, occurrence.refusal):
            return False
    return True

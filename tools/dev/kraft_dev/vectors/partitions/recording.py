"""From a run to a vector, and the proof that the two say the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraft_conformance.protocol.features import FEATURES, LEVELS, Feature, Level
from kraft_conformance.protocol.partition_values import shown_effect, state_from, view_of
from kraft_conformance.protocol.partitions import ControllerView, partition_cluster_of
from kraft_conformance.vectors.encoding import partition_vector_from, vector_bytes
from kraft_conformance.vectors.partitions.format import (
    PARTITION_SCHEMA,
    PartitionRequires,
    PartitionVector,
    PartitionVectorEvent,
    PartitionVectorStep,
)
from kraft_conformance.vectors.partitions.view_changes import applied, changed
from kraft_conformance.vectors.recording import VectorProofError
from kraft_dev.vectors.partitions.deciding import level_of
from kraft_dev.vectors.partitions.ordering import happens_before, latitude_of
from kraft_dev.vectors.partitions.staging import PartitionRun
from kraft_reference.partitions.events import Event, WriteReassignPartitions
from kraft_reference.partitions.occurrence import PartitionOccurrence, happen
from kraft_reference.partitions.state import ControllerState, initial_state
from kraft_traces.partitions.encode import line_of, traced_state
from kraft_traces.partitions.restore import event_of


@dataclass(frozen=True, slots=True)
class PartitionSubject:
    """What is made of a run."""

    id: str
    title: str
    rules: tuple[str, ...]
    allows: tuple[str, ...] = ()
    """Rules besides that say what may happen here; without them it would happen as well."""
    level: Level = "wire"
    """At least; more if the steps, or the rules, show only above it."""


def partition_vector_of(run: PartitionRun, subject: PartitionSubject) -> PartitionVector:
    """The vector.

    Raises:
        VectorProofError: history, state as data and steps do not fit together.
        ValueError: nothing happens after the start, or the steps do not turn on one of the rules.
    """
    if not run.steps:
        raise ValueError(f"{subject.id}: nothing happens after the first step")
    vector = PartitionVector(
        schema=PARTITION_SCHEMA,
        id=subject.id,
        title=subject.title,
        source=run.source,
        rules=(*subject.rules, *subject.allows),
        level=max((subject.level, level_of(run, subject.rules)), key=LEVELS.index),
        requires=PartitionRequires(("KIP-455",), run.profiles, _features(run)),
        cluster=partition_cluster_of(run.configuration),
        history=tuple([PartitionVectorEvent(event=line_of(one).event) for one in run.history]),
        before=view_of(traced_state(run.before)),
        steps=tuple(_expected(run.steps, run.before)),
    )
    _prove(vector, run)
    return vector


def _features(run: PartitionRun) -> tuple[Feature, ...]:
    needed: set[Feature] = set()
    if any(isinstance(one.event, WriteReassignPartitions) for one in run.occurrences):
        needed.add("old-znode")
    if run.configuration.unclean_topics:
        needed.add("unclean-election")
    return tuple([feature for feature in FEATURES if feature in needed])


def _expected(occurrences: Sequence[PartitionOccurrence], state: ControllerState) -> Iterator[PartitionVectorStep]:
    before = view_of(traced_state(state))
    for one in occurrences:
        line = line_of(one)
        outputs, after = tuple(map(shown_effect, line.effects)), view_of(line.state)
        yield PartitionVectorStep(
            event=line.event,
            outputs=outputs,
            before=happens_before(outputs, before),
            refusal=line.refusal,
            state=changed(before, after),
            latitude=latitude_of(line.event, outputs, before, after),
        )
        before = after


# -------------------------------------------------------------------------------------------------------------
# The proof.
# -------------------------------------------------------------------------------------------------------------


def _prove(vector: PartitionVector, run: PartitionRun) -> None:
    """The state as data is that of the run, the history leads to it, and from it the steps are those of the run.

    A history leaves nothing open, since what is done there is not judged.
    """
    read = partition_vector_from(vector_bytes(vector))
    if read != vector:
        raise VectorProofError(f"{vector.id}: the file says something else than the vector")
    injected = state_from(read.before)
    if injected != run.before:
        raise VectorProofError(f"{vector.id}: as data the state is {injected}, in the run {run.before}")
    open_points = [step.event for step in _expected(run.history, initial_state(run.configuration)) if step.latitude]
    if open_points:
        raise VectorProofError(f"{vector.id}: its history leaves something open, at {open_points[0]}")
    led = _led(initial_state(run.configuration), [event_of(one.event) for one in read.history], run)
    if led != run.before:
        raise VectorProofError(f"{vector.id}: the history leads to {led}, in the run it is {run.before}")
    shown: ControllerView = read.before
    for position, (step, one) in enumerate(zip(read.steps, run.steps, strict=True)):
        done = happen(one.sequence, injected, event_of(step.event), run.configuration)
        injected, shown = done.state, applied(shown, step.state)
        if done != one or shown != view_of(traced_state(one.state)):
            raise VectorProofError(f"{vector.id}: step {position} gives {done} from the state as data")


def _led(state: ControllerState, events: list[Event], run: PartitionRun) -> ControllerState:
    for event in events:
        state = happen(1, state, event, run.configuration).state
    return state

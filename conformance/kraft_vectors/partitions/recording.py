"""Extraction of a vector from a run, and the proof that both agree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraft_partitions.errors import Error
from kraft_partitions.events import Event, WriteReassignPartitions
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.state import ControllerState, initial_state
from kraft_traces.partitions import lines
from kraft_traces.partitions.encode import event_of, line_of, traced_state
from kraft_traces.partitions.lines import Ids, TracedEvent
from kraft_vectors.encoding import file_bytes, partition_vector_from
from kraft_vectors.features import FEATURES, LEVELS, Feature, Level
from kraft_vectors.partitions.deciding import level_of
from kraft_vectors.partitions.format import (
    PARTITION_SCHEMA,
    PartitionLatitude,
    PartitionRequires,
    PartitionVector,
    PartitionVectorEvent,
    PartitionVectorStep,
)
from kraft_vectors.partitions.shown import (
    ControllerView,
    ShownAlterReassignmentsAnswer,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownListReassignmentsAnswer,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
    partition_cluster_of,
)
from kraft_vectors.partitions.staging import PartitionRun
from kraft_vectors.partitions.values import shown_effect, state_from, view_of
from kraft_vectors.partitions.view_changes import apply_view_changes, by_name, view_changes_between
from kraft_vectors.recording import VectorProofError

_STORED = (ShownStorePartitions, ShownStoreReassignPartitions)


def happens_before(outputs: Sequence[ShownEffect], earlier: ControllerView) -> tuple[tuple[int, int], ...]:
    """Return the pairs of positions of which the first must come before the second.

    Args:
        outputs: of the step.
        earlier: the state before it.

    Partitions are stored before anybody is told of them, and a new leader is told before the old one stops.
    When the old znode is written does not matter to anybody.
    Rules: partition-reassign.start, partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    """
    led = {name: partition.leader for name, partition in by_name(earlier).items()}
    pairs = []
    for first, output in enumerate(outputs):
        for second, other in enumerate(outputs):
            stored = isinstance(output, ShownStorePartitions) and not isinstance(other, _STORED)
            leads_on = (
                isinstance(output, ShownLeaderAndIsr)
                and isinstance(other, ShownStopReplica)
                and output.partition == other.partition
                and output.leader == output.broker
                and led[output.partition] == other.broker
            )
            if stored or leads_on:
                pairs.append((first, second))
    return tuple(pairs)


def latitude_of(
    event: TracedEvent, outputs: Sequence[ShownEffect], before: ControllerView, after: ControllerView
) -> tuple[PartitionLatitude, ...]:
    """Return the allowed alternatives of a step.

    Restored replicas may be in any order, any replica in sync may become the leader, and either of two errors may be
    returned.
    Rules: partition-reassign.cancel, partition-reassign.leader-in-removing, partition-reassign.error-order.
    """
    cancelled = set()
    if isinstance(event, lines.AlterPartitionReassignments):
        cancelled = {name for name, target in event.targets if target is None}
    alternatives = list(_errors(event, outputs, before))
    alive = frozenset(after.alive or ())
    for name, partition in by_name(after).items():
        was = by_name(before)[name]
        replicas, in_sync = tuple(partition.replicas or ()), frozenset(partition.in_sync or ())
        stopped = (was.adding or was.removing) and not (partition.adding or partition.removing)
        if name in cancelled and stopped and len(replicas) > 1:
            reason = "partition-reassign.cancel leaves the order open"
            alternatives.append(PartitionLatitude(name, "replicas", reason, any_order=True))
        unclean = partition.leader not in (was.in_sync or ())
        candidates = [
            each for each in replicas if each in alive and (unclean or each in in_sync) and each != partition.leader
        ]
        if partition.leader not in (None, was.leader) and candidates:
            reason = "partition-reassign.leader-in-removing names no order"
            alternatives.append(PartitionLatitude(name, "leader", reason, any_of=tuple(candidates)))
    return tuple(alternatives)


_ANSWERS = (ShownAlterReassignmentsAnswer, ShownListReassignmentsAnswer)


def _errors(event: TracedEvent, outputs: Sequence[ShownEffect], before: ControllerView) -> Iterator[PartitionLatitude]:
    """Yield the alternatives of a request to which two errors apply."""
    reason = "partition-reassign.error-order says SHOULD"
    answer = next((output for output in outputs if isinstance(output, _ANSWERS)), None)
    if answer is None or not isinstance(event, lines.AlterPartitionReassignments | lines.ListPartitionReassignments):
        return
    if answer.error is Error.CLUSTER_AUTHORIZATION_FAILED and event.node != before.controller:
        yield PartitionLatitude(None, "error", reason, any_of=(Error.NOT_CONTROLLER,))
    if isinstance(event, lines.AlterPartitionReassignments) and isinstance(answer, ShownAlterReassignmentsAnswer):
        for (name, target), (_, error) in zip(event.targets, answer.results, strict=False):
            unknown = error is Error.UNKNOWN_TOPIC_OR_PARTITION
            if unknown and target is not None and not _is_assignment(target):
                yield PartitionLatitude(name, "error", reason, any_of=(Error.INVALID_REPLICA_ASSIGNMENT,))


def _is_assignment(target: Ids) -> bool:
    """True if the list itself is a valid assignment."""
    return bool(target) and len(set(target)) == len(target) and min(target) >= 0


@dataclass(frozen=True, slots=True)
class PartitionSubject:
    """Description of a vector to extract from a run."""

    id: str
    title: str
    rules: tuple[str, ...]
    allows: tuple[str, ...] = ()
    """Rules that allow the outcome, but do not require it."""
    level: Level = "wire"
    """Minimum level; higher if the steps or the rules show only above it."""


def partition_vector_of(run: PartitionRun, subject: PartitionSubject) -> PartitionVector:
    """Return the vector.

    Raises:
        VectorProofError: history, injected state and steps do not agree.
        ValueError: there is no event after the start, or the steps do not depend on one of the rules.
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
        history=tuple([PartitionVectorEvent(event=line_of(occurrence).event) for occurrence in run.history]),
        before=view_of(traced_state(run.before)),
        steps=tuple(_expected(run.steps, run.before)),
    )
    _prove(vector, run)
    return vector


def _features(run: PartitionRun) -> tuple[Feature, ...]:
    needed: set[Feature] = set()
    if any(isinstance(occurrence.event, WriteReassignPartitions) for occurrence in run.occurrences):
        needed.add("old-znode")
    if run.configuration.unclean_topics:
        needed.add("unclean-election")
    return tuple([feature for feature in FEATURES if feature in needed])


def _expected(occurrences: Sequence[PartitionOccurrence], state: ControllerState) -> Iterator[PartitionVectorStep]:
    before = view_of(traced_state(state))
    for occurrence in occurrences:
        line = line_of(occurrence)
        outputs, after = tuple(map(shown_effect, line.effects)), view_of(line.state)
        yield PartitionVectorStep(
            event=line.event,
            outputs=outputs,
            before=happens_before(outputs, before),
            refusal=line.refusal,
            state=view_changes_between(before, after),
            latitude=latitude_of(line.event, outputs, before, after),
        )
        before = after


# -------------------------------------------------------------------------------------------------------------
# The proof.
# -------------------------------------------------------------------------------------------------------------


def _prove(vector: PartitionVector, run: PartitionRun) -> None:
    """Check that the injected state equals the run's, the history leads to it, and the steps from it equal the run's.

    A history leaves nothing open, since what is done there is not judged.
    """
    read = partition_vector_from(file_bytes(vector))
    if read != vector:
        raise VectorProofError(f"{vector.id}: the file says something else than the vector")
    injected = state_from(read.before)
    if injected != run.before:
        raise VectorProofError(f"{vector.id}: as data the state is {injected}, in the run {run.before}")
    open_points = [step.event for step in _expected(run.history, initial_state(run.configuration)) if step.latitude]
    if open_points:
        raise VectorProofError(f"{vector.id}: its history leaves something open, at {open_points[0]}")
    led = _led(initial_state(run.configuration), [event_of(event.event) for event in read.history], run)
    if led != run.before:
        raise VectorProofError(f"{vector.id}: the history leads to {led}, in the run it is {run.before}")
    expected: ControllerView = read.before
    for position, (step, occurrence) in enumerate(zip(read.steps, run.steps, strict=True)):
        done = happen(occurrence.sequence, injected, event_of(step.event), run.configuration)
        injected, expected = done.state, apply_view_changes(expected, step.state)
        if done != occurrence or expected != view_of(traced_state(occurrence.state)):
            raise VectorProofError(f"{vector.id}: step {position} gives {done} from the state as data")


def _led(state: ControllerState, events: list[Event], run: PartitionRun) -> ControllerState:
    for event in events:
        state = happen(1, state, event, run.configuration).state
    return state

"""Rules that the steps of a vector depend on, and the level at which it shows, found with mutants of the reference."""

from collections.abc import Iterable, Sequence

from kraft_mutants import omittable_partition_rules
from kraft_mutants.replicas import mutated_controllers
from kraft_partitions.effects import (
    AlterReassignmentsAnswer,
    Effect,
    StorePartitions,
    StoreReassignPartitions,
)
from kraft_partitions.errors import Error
from kraft_partitions.events import (
    AlterPartitionReassignments,
    ControllerFailover,
    WriteReassignPartitions,
)
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_partitions.partition import Assignment, TopicPartition
from kraft_partitions.state import ControllerState
from kraft_vectors.features import LEVELS, Level
from kraft_vectors.partitions.staging import PartitionRun, repeat_events

_PREFIX = "partition-reassign."


def observable_from(run: PartitionRun, rule: str) -> Level | None:
    """Return the lowest level at which the steps show that a rule is omitted; None if they do not show it.

    Only for rules that the reference can leave out.
    """
    done = repeat_events(run.before, run.steps, run.configuration, mutated_controllers((rule,)))
    for level in LEVELS:
        if [_shown(occurrence, level) for occurrence in done] != [
            _shown(occurrence, level) for occurrence in run.steps
        ]:
            return level
    return None


def _shown(occurrence: PartitionOccurrence, level: Level) -> object:
    sent = tuple([effect for effect in occurrence.effects if is_sent(effect)])
    if level == "wire":
        return sent
    if level == "effects":
        return occurrence.effects
    return occurrence.effects, occurrence.refusal, occurrence.state.partitions, occurrence.state.stored


def is_sent(effect: Effect) -> bool:
    """True if the effect is a message to a broker or a client."""
    return not isinstance(effect, StorePartitions | StoreReassignPartitions)


def level_of(run: PartitionRun, rules: Iterable[str]) -> Level:
    """Return the lowest level at which the steps have an effect and show the omission of each rule.

    Raises:
        ValueError: the steps do not turn on one of the rules.
    """
    effects = [effect for step in run.steps for effect in step.effects]
    needed: Level = "effects" if effects else "state"
    if any(map(is_sent, effects)):
        needed = "wire"
    switchable = omittable_partition_rules()
    levels = [needed]
    for rule in rules:
        if rule in switchable:
            level = observable_from(run, rule)
            if level is None:
                raise ValueError(f"{run.source}: nothing in it shows whether {rule} is kept")
            levels.append(level)
    return max(levels, key=LEVELS.index)


def deciding_rules(run: PartitionRun, rules: Iterable[str]) -> tuple[str, ...]:
    """Return the rules of a scenario that this run shows to brokers and clients."""
    switchable = omittable_partition_rules()
    return tuple(
        [rule for rule in rules if (observable_from(run, rule) == "wire" if rule in switchable else _occurs(run, rule))]
    )


def _occurs(run: PartitionRun, rule: str) -> bool:
    """True if a run is about a rule that the reference cannot omit."""
    match rule.removeprefix(_PREFIX):
        case "cancel-nothing":
            return Error.NO_REASSIGNMENT_IN_PROGRESS in _errors(run.steps)
        case "per-partition":
            return any(len(_targets(step)) > 1 for step in run.steps)
        case "no-op-target":
            return any(
                _reorders(occurrence, before) for occurrence, before in zip(run.steps, _states(run), strict=True)
            )
        case "legacy-znode":
            return any(isinstance(step.event, WriteReassignPartitions) for step in run.steps)
        case "legacy-znode-precedence":
            pairs = zip(run.steps, _states(run), strict=True)
            return any(
                isinstance(occurrence.event, ControllerFailover) and before.legacy for occurrence, before in pairs
            )
        case _:
            raise ValueError(f"{run.source}: whether {rule} is kept cannot be read off a run")


def _states(run: PartitionRun) -> list[ControllerState]:
    """Return the state before each step."""
    return [run.before, *[step.state for step in run.steps]][: len(run.steps)]


def _targets(occurrence: PartitionOccurrence) -> tuple[tuple[TopicPartition, Assignment | None], ...]:
    return occurrence.event.targets if isinstance(occurrence.event, AlterPartitionReassignments) else ()


def _errors(occurrences: Sequence[PartitionOccurrence]) -> list[Error]:
    answers = [
        effect
        for occurrence in occurrences
        for effect in occurrence.effects
        if isinstance(effect, AlterReassignmentsAnswer)
    ]
    return [error for answer in answers for _, error in answer.results]


def _reorders(occurrence: PartitionOccurrence, before: ControllerState) -> bool:
    return any(
        target is not None and name in before.partitions and sorted(target) == sorted(before.partitions[name].replicas)
        for name, target in _targets(occurrence)
    )

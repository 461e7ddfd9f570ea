"""Which rules the steps of a vector turn on, and at which level that shows: tried on the reference without them."""

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
from kraft_vectors.partitions.staging import PartitionRun, again

_PREFIX = "partition-reassign."


def shown_from(run: PartitionRun, rule: str) -> Level | None:
    """The lowest level at which the steps show that a rule is left out; None if they do not show it at all.

    Only for rules that the reference can leave out.
    """
    done = again(run.before, run.steps, run.configuration, mutated_controllers((rule,)))
    for level in LEVELS:
        if [_shown(one, level) for one in done] != [_shown(one, level) for one in run.steps]:
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
    """Does it leave the controller, for a broker or a client?"""
    return not isinstance(effect, StorePartitions | StoreReassignPartitions)


def level_of(run: PartitionRun, rules: Iterable[str]) -> Level:
    """The lowest level at which the steps show anything, and at which it shows that any one of the rules is left out.

    Raises:
        ValueError: the steps do not turn on one of the rules.
    """
    effects = [effect for one in run.steps for effect in one.effects]
    needed: Level = "effects" if effects else "state"
    if any(map(is_sent, effects)):
        needed = "wire"
    switchable = omittable_partition_rules()
    levels = [needed]
    for rule in rules:
        if rule in switchable:
            level = shown_from(run, rule)
            if level is None:
                raise ValueError(f"{run.source}: nothing in it shows whether {rule} is kept")
            levels.append(level)
    return max(levels, key=LEVELS.index)


def decided(run: PartitionRun, rules: Iterable[str]) -> tuple[str, ...]:
    """Those of the rules of a scenario that brokers and clients see kept in this run."""
    switchable = omittable_partition_rules()
    return tuple([one for one in rules if (shown_from(run, one) == "wire" if one in switchable else _occurs(run, one))])


def _occurs(run: PartitionRun, rule: str) -> bool:
    """Does a run have to do with a rule that the reference cannot leave out?"""
    match rule.removeprefix(_PREFIX):
        case "cancel-nothing":
            return Error.NO_REASSIGNMENT_IN_PROGRESS in _errors(run.steps)
        case "per-partition":
            return any(len(_targets(one)) > 1 for one in run.steps)
        case "no-op-target":
            return any(_reorders(one, before) for one, before in zip(run.steps, _states(run), strict=True))
        case "legacy-znode":
            return any(isinstance(one.event, WriteReassignPartitions) for one in run.steps)
        case "legacy-znode-precedence":
            pairs = zip(run.steps, _states(run), strict=True)
            return any(isinstance(one.event, ControllerFailover) and before.legacy for one, before in pairs)
        case _:
            raise ValueError(f"{run.source}: whether {rule} is kept cannot be read off a run")


def _states(run: PartitionRun) -> list[ControllerState]:
    """The states before each step."""
    return [run.before, *[one.state for one in run.steps]][: len(run.steps)]


def _targets(occurrence: PartitionOccurrence) -> tuple[tuple[TopicPartition, Assignment | None], ...]:
    return occurrence.event.targets if isinstance(occurrence.event, AlterPartitionReassignments) else ()


def _errors(occurrences: Sequence[PartitionOccurrence]) -> list[Error]:
    answers = [effect for one in occurrences for effect in one.effects if isinstance(effect, AlterReassignmentsAnswer)]
    return [error for answer in answers for _, error in answer.results]


def _reorders(occurrence: PartitionOccurrence, before: ControllerState) -> bool:
    return any(
        target is not None and name in before.partitions and sorted(target) == sorted(before.partitions[name].replicas)
        for name, target in _targets(occurrence)
    )

"""Safety properties of reassignments, checked step by step; PartitionReassignment.tla has the same names.

The target comes from requests and their responses, not from the way in which a reassignment is carried out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import AlterReassignmentsAnswer
from kraft_partitions.errors import Error
from kraft_partitions.events import (
    AlterPartitionReassignments,
    ControllerFailover,
    Event,
    WriteReassignPartitions,
)
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_partitions.partition import Assignment, Partition, TopicPartition
from kraft_partitions.state import ControllerState, exists, initial_state


class Requested(NamedTuple):
    """Replicas before and after the requested reassignment; equal without one."""

    original: frozenset[int]
    """The replicas before the reassignment in progress, however often it was replaced."""
    target: frozenset[int]


class Step(NamedTuple):
    """Step of a partition."""

    before: Partition
    after: Partition
    running: Requested
    """Before the step."""
    wanted: Requested
    """After it."""
    accepted: bool
    """Whether a request was, by way of the API or of the old znode."""
    request: Assignment | None
    """The target that was accepted; None for a cancellation, and where nothing was accepted."""
    alive: frozenset[int]
    configuration: PartitionConfiguration


# ---------------------------------------------------------------------------------------------------------
# The properties.
# ---------------------------------------------------------------------------------------------------------


def replicas_are_brokers(step: Step) -> bool:
    """R is not empty and names registered brokers, each once."""
    replicas = step.after.replicas
    named_once = len(set(replicas)) == len(replicas)
    return bool(replicas) and named_once and step.configuration.brokers.issuperset(replicas)


def lists_are_consistent(step: Step) -> bool:
    """I, AR and RR are in R; in progress R is old and new replicas, AR the new ones alone and RR the old ones alone."""
    lists = (step.after.replicas, step.after.adding, step.after.removing)
    replicas, adding, removing = map(frozenset, lists)
    wanted = step.wanted
    if not (step.after.in_sync <= replicas and adding <= replicas and removing <= replicas):
        return False
    if not step.after.is_reassigned:
        return True
    split = (adding, removing) == (wanted.target - wanted.original, wanted.original - wanted.target)
    return split and replicas == wanted.original | wanted.target


def leader_is_replica(step: Step) -> bool:
    """The leader is alive, in R and in I; there is none only if nobody is."""
    may_lead = step.after.in_sync & step.alive & set(step.after.replicas)
    return step.after.leader in may_lead if may_lead else step.after.leader is None


def in_sync_never_below(step: Step) -> bool:
    """Somebody is in sync; after a completion all of R, if the profile waits for that."""
    if not step.after.in_sync:
        return False
    shrinks = not step.running.original.issubset(step.after.replicas)
    if not shrinks or step.configuration.profile.completes_with != "target":
        return True
    return step.after.in_sync.issuperset(step.after.replicas)


def replicas_grow_before_they_shrink(step: Step) -> bool:
    """All added replicas are in sync before one of the original replicas is removed."""
    after = set(step.after.replicas)
    return step.running.original <= after or after - step.running.original <= step.after.in_sync


def cancel_restores(step: Step) -> bool:
    """A cancellation leaves the replicas from before, and in sync those of them that were."""
    if not step.accepted or step.request is not None:
        return True
    after, original = step.after, step.running.original
    kept = step.before.in_sync & original
    return set(after.replicas) == original and not after.is_reassigned and (after.in_sync == kept or not kept)


def override_loses_no_replica(step: Step) -> bool:
    """A request in the middle stops nobody but whom the running reassignment added, and keeps who is in sync."""
    if step.request is None or step.running.original == step.running.target or not step.after.is_reassigned:
        return True
    removed = set(step.before.replicas) - set(step.after.replicas)
    stay_in_sync = step.before.in_sync & set(step.after.replicas)
    return removed <= step.running.target - step.running.original and stay_in_sync <= step.after.in_sync


def completes_as_asked(step: Step) -> bool:
    """Without a reassignment in progress R is the last target."""
    return step.after.is_reassigned or step.wanted.target == set(step.after.replicas)


PROPERTIES: Mapping[str, Callable[[Step], bool]] = {
    "ReplicasAreBrokers": replicas_are_brokers,
    "ListsAreConsistent": lists_are_consistent,
    "LeaderIsReplica": leader_is_replica,
    "InSyncNeverBelow": in_sync_never_below,
    "ReplicasGrowBeforeTheyShrink": replicas_grow_before_they_shrink,
    "CancelRestores": cancel_restores,
    "OverrideLosesNoReplica": override_loses_no_replica,
    "CompletesAsAsked": completes_as_asked,
}
"""Safety, of one partition in one step.  Beside them: StoredIsWhole, and EventuallyCompletes, which needs a run."""

STORED_IS_WHOLE = "StoredIsWhole"
"""What the controller has in memory is what is stored."""


# ---------------------------------------------------------------------------------------------------------
# Watching.
# ---------------------------------------------------------------------------------------------------------


class PartitionWatch:
    """Judges the occurrences of one run in order.

    Attributes:
        violated: the properties violated so far, and the sequence of the first occurrence that did.
    """

    def __init__(self, configuration: PartitionConfiguration) -> None:
        self._configuration = configuration
        self._state = initial_state(configuration)
        self._requested = {
            name: Requested(frozenset(partition.replicas), frozenset(partition.replicas))
            for name, partition in self._state.partitions.items()
        }
        self.violated: dict[str, int] = {}

    def observe(self, occurrence: PartitionOccurrence) -> None:
        """Judge the next occurrence."""
        state = occurrence.state
        if state.partitions != state.stored:
            self.violated.setdefault(STORED_IS_WHOLE, occurrence.sequence)
        requests = dict(_accepted(occurrence, self._state))
        for name, after in state.partitions.items():
            if not exists(state, state.partitions, name):
                continue
            requested = self._requested[name]
            accepted, request = name in requests, requests.get(name)
            target = requested.target
            if accepted:
                target = requested.original if request is None else frozenset(request)
            wanted = Requested(requested.original, target)
            before = self._state.partitions[name]
            step = Step(before, after, requested, wanted, accepted, request, state.alive, self._configuration)
            for title, holds in PROPERTIES.items():
                if not holds(step):
                    self.violated.setdefault(title, occurrence.sequence)
            self._requested[name] = wanted if after.is_reassigned else Requested(wanted.target, wanted.target)
        self._state = state


def _accepted(
    occurrence: PartitionOccurrence, before: ControllerState
) -> Iterator[tuple[TopicPartition, Assignment | None]]:
    """The requests that an occurrence accepted, None for a cancellation."""
    event: Event = occurrence.event
    match event:
        case AlterPartitionReassignments():
            for effect in occurrence.effects:
                if isinstance(effect, AlterReassignmentsAnswer) and effect.error is Error.NONE:
                    for (name, target), (_, error) in zip(event.targets, effect.results, strict=True):
                        if error is Error.NONE:
                            yield name, target
        case WriteReassignPartitions() | ControllerFailover():
            taken = before.legacy if isinstance(event, ControllerFailover) else dict(event.targets)
            for name, target in taken.items():
                now = occurrence.state.partitions.get(name)
                # There is no answer: what was refused there has not been acted on.
                if now is not None and set(now.target) == set(target) and occurrence.refusal is None:
                    yield name, target
        case _:
            return

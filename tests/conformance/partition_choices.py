"""Changes of the replies of the reference's partition controllers, allowed or wrong.

`altered_adapter` combines the names of `OF_PARTITIONS` with its own.
"""

from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.choices import Change, Moment, each, of_effects

from kraft_conformance.protocol.messages import Reply
from kraft_conformance.protocol.partitions import PartitionObserveReply
from kraft_partitions.errors import Error
from kraft_vectors.partitions.shown import (
    ShownAlterReassignmentsAnswer,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownListReassignmentsAnswer,
    ShownStopReplica,
    ShownStorePartitions,
)

Effects = tuple[ShownEffect, ...]


def _without_field(moment: Moment, text: ShownLeaderAndIsr) -> Effects:
    return (replace(text, **{moment.value: UNSET}),)


def _of_version(moment: Moment, text: ShownLeaderAndIsr) -> Effects:
    return (replace(text, version=int(moment.value)),)


def _other_order(_: Moment, effect: ShownEffect) -> Effects:
    """Return the rows of replies in another order."""
    match effect:
        case ShownAlterReassignmentsAnswer(error, results):
            return (ShownAlterReassignmentsAnswer(error, results[::-1]),)
        case ShownListReassignmentsAnswer(error, reassignments):
            rows = [
                replace(reassignment, adding=reassignment.adding[::-1], removing=reassignment.removing[::-1])
                for reassignment in reassignments
            ]
            return (ShownListReassignmentsAnswer(error, tuple(rows[::-1])),)
        case ShownLeaderAndIsr():
            return (replace(effect, in_sync=(effect.in_sync or ())[::-1], adding=(effect.adding or ())[::-1]),)
        case _:
            return (effect,)


def _forgets_rows(_: Moment, effect: ShownEffect) -> Effects:
    match effect:
        case ShownAlterReassignmentsAnswer(error, results):
            return (ShownAlterReassignmentsAnswer(error, results[1:]),)
        case ShownListReassignmentsAnswer(error, reassignments):
            return (ShownListReassignmentsAnswer(error, reassignments[1:]),)
        case _:
            return (effect,)


def _other_error(moment: Moment, answer: ShownAlterReassignmentsAnswer) -> Effects:
    """Return the later of two errors."""
    error = Error.NOT_CONTROLLER if answer.error is Error.CLUSTER_AUTHORIZATION_FAILED else answer.error
    return (ShownAlterReassignmentsAnswer(error, tuple((name, Error(moment.value)) for name, _ in answer.results)),)


def _is_store(effect: ShownEffect) -> bool:
    return isinstance(effect, ShownStorePartitions)


def _one_partition_less(_: Moment, reply: Reply) -> Reply:
    if not isinstance(reply, PartitionObserveReply) or reply.state.partitions is UNSET:
        return reply
    return replace(reply, state=replace(reply.state, partitions=reply.state.partitions[1:]))


OF_PARTITIONS: dict[str, Change] = {
    "leader-and-isr-without": each(ShownLeaderAndIsr, _without_field),
    "leader-and-isr-version": each(ShownLeaderAndIsr, _of_version),
    "other-order-of-rows": each(ShownEffect, _other_order),
    "forgets-rows": each(ShownEffect, _forgets_rows),
    "other-error": each(ShownAlterReassignmentsAnswer, _other_error),
    "tells-first": of_effects(lambda _, done: sorted(done, key=_is_store)),
    "tells-again": of_effects(lambda _, done: (*done, *[item for item in done if isinstance(item, ShownLeaderAndIsr)])),
    "never-stops": each(ShownStopReplica, lambda _, __: ()),
    "stores-one-by-one": each(
        ShownStorePartitions,
        lambda _, shownstorepartition: [
            replace(shownstorepartition, partitions=(row,)) for row in shownstorepartition.partitions
        ],
    ),
    "stores-twice": of_effects(lambda _, done: (*filter(_is_store, done), *done)),
    "one-partition-less": _one_partition_less,
}

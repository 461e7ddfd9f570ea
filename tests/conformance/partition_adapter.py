"""Adapters of partitions for the tests: the reference that shows less, says it otherwise, or does something else.

`python partition_adapter.py MODE [VALUE]`; see `MODES`.
"""

import sys
from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import HelloReply, Reply
from kraft_conformance.protocol.parsing import encoded, parse_request
from kraft_conformance.protocol.partitions import (
    PartitionObserveReply,
    PartitionStepReply,
    ShownAlterReassignmentsAnswer,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownListReassignmentsAnswer,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)
from kraft_reference.partitions.errors import Error
from kraft_spec.experiments.replicas import controllers_without

VALUE = sys.argv[2] if len(sys.argv) > 2 else ""

Change = Callable[[Reply], Reply]


def hello(**fields: object) -> Change:
    """Another hello."""
    return lambda reply: replace(reply, **fields) if isinstance(reply, HelloReply) else reply


def effects(change: Callable[[tuple[ShownEffect, ...]], tuple[ShownEffect, ...]]) -> Change:
    """Other effects of a step."""
    return lambda reply: (
        replace(reply, effects=change(reply.effects)) if isinstance(reply, PartitionStepReply) else reply
    )


def each(change: Callable[[ShownEffect], ShownEffect]) -> Change:
    """Each effect otherwise."""
    return effects(lambda done: tuple(map(change, done)))


def _wire_only(reply: Reply) -> Reply:
    if isinstance(reply, HelloReply):
        return replace(reply, observability="wire", state_injection=False)
    if not isinstance(reply, PartitionStepReply):
        return reply
    stored = (ShownStorePartitions, ShownStoreReassignPartitions)
    return replace(reply, effects=tuple(one for one in reply.effects if not isinstance(one, stored)), refusal=UNSET)


def _without_field(effect: ShownEffect) -> ShownEffect:
    return replace(effect, **{VALUE: UNSET}) if isinstance(effect, ShownLeaderAndIsr) else effect


def _later_version(effect: ShownEffect) -> ShownEffect:
    return replace(effect, version=int(VALUE)) if isinstance(effect, ShownLeaderAndIsr) else effect


def _mapped(effect: ShownEffect) -> ShownEffect:
    """The rows of answers in another order."""
    match effect:
        case ShownAlterReassignmentsAnswer(error, results):
            return ShownAlterReassignmentsAnswer(error, results[::-1])
        case ShownListReassignmentsAnswer(error, reassignments):
            rows = [replace(one, adding=one.adding[::-1], removing=one.removing[::-1]) for one in reassignments]
            return ShownListReassignmentsAnswer(error, tuple(rows[::-1]))
        case ShownLeaderAndIsr():
            return replace(effect, in_sync=(effect.in_sync or ())[::-1], adding=(effect.adding or ())[::-1])
        case _:
            return effect


def _forgets_rows(effect: ShownEffect) -> ShownEffect:
    match effect:
        case ShownAlterReassignmentsAnswer(error, results):
            return ShownAlterReassignmentsAnswer(error, results[1:])
        case ShownListReassignmentsAnswer(error, reassignments):
            return ShownListReassignmentsAnswer(error, reassignments[1:])
        case _:
            return effect


def _other_error(effect: ShownEffect) -> ShownEffect:
    """Of two errors the one that is looked at later."""
    if isinstance(effect, ShownAlterReassignmentsAnswer):
        error = Error.NOT_CONTROLLER if effect.error is Error.CLUSTER_AUTHORIZATION_FAILED else effect.error
        return ShownAlterReassignmentsAnswer(error, tuple((name, Error(VALUE)) for name, _ in effect.results))
    return effect


def _never_stops(done: tuple[ShownEffect, ...]) -> tuple[ShownEffect, ...]:
    return tuple(one for one in done if not isinstance(one, ShownStopReplica))


def _one_by_one(done: tuple[ShownEffect, ...]) -> tuple[ShownEffect, ...]:
    """Each partition is stored for itself."""
    apart: list[ShownEffect] = []
    for one in done:
        apart += [ShownStorePartitions((row,)) for row in one.partitions] if _is_store(one) else [one]
    return tuple(apart)


def _is_store(effect: ShownEffect) -> bool:
    return isinstance(effect, ShownStorePartitions)


def _stores_twice(done: tuple[ShownEffect, ...]) -> tuple[ShownEffect, ...]:
    return (*filter(_is_store, done), *done)


def _one_partition_less(reply: Reply) -> Reply:
    if not isinstance(reply, PartitionObserveReply) or reply.state.partitions is UNSET:
        return reply
    return replace(reply, state=replace(reply.state, partitions=reply.state.partitions[1:]))


MODES: dict[str, Change] = {
    "plain": lambda reply: reply,
    "silent-about-subjects": hello(subjects=("replica",)),
    "partitions-only": hello(subjects=("partitions",)),
    "without-kip-455": hello(kip_levels={"KIP-595": "full"}),
    "unsupported": hello(unsupported=("old-znode", "unclean-election")),
    "wire": _wire_only,
    "without-field": each(_without_field),
    "version": each(_later_version),
    "other-order-of-rows": each(_mapped),
    "forgets-rows": each(_forgets_rows),
    "other-error": each(_other_error),
    "tells-first": effects(lambda done: tuple(sorted(done, key=_is_store))),
    "tells-again": effects(lambda done: (*done, *[one for one in done if isinstance(one, ShownLeaderAndIsr)])),
    "never-stops": effects(_never_stops),
    "stores-one-by-one": effects(_one_by_one),
    "stores-twice": effects(_stores_twice),
    "one-partition-less": _one_partition_less,
}
"""What is made of each reply."""


def main() -> None:
    """Answer like the reference, except for what the mode says."""
    mode = sys.argv[1]
    adapter = ReferenceAdapter(controllers=controllers_without((VALUE,) if mode == "without-rule" else ()))
    change = MODES.get(mode, MODES["plain"])
    for number, raw in enumerate(sys.stdin.buffer, 1):
        request = parse_request(raw, number)
        reply = adapter.answer(request)
        sys.stdout.buffer.write(encoded(change(reply)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

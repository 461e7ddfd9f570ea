"""A controller that takes over has what was stored, and nothing else."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import TWO_TOPICS, PartitionTarget
from kraft_reference.partitions.scenarios.stage import A0, B0

_MOVING = {A0: "[1,4,3,2] | [4] | [1]"}


def _reads(s: RecordingStage) -> None:
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.told([1, 4, 3, 2])
    s.listed(expected=_MOVING)


def _completes(s: RecordingStage) -> None:
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("it completes what node 1 has begun")
    s.in_sync(1, 2, 3, 4)
    s.complete()
    s.row("[4,3,2]", "[2,3,4]", "[]", "[]")


def _cancels(s: RecordingStage) -> None:
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("it cancels what node 1 has begun")
    s.cancel()
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")


def _at_rest(s: RecordingStage) -> None:
    s.step("nothing is in progress, and everybody is told all the same")
    s.fail_over(2)
    s.told([1, 2, 3])
    s.told([2, 1], name=B0)
    s.listed(expected={})


def _in_sync(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("4 is in sync, and node 2 takes over")
    s.in_sync(1, 2, 3, 4)
    s.fail_over(2)
    s.complete()
    s.leads(4, 1)


def _back(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("node 2 cancels, and node 1 takes over again")
    s.cancel()
    s.fail_over(1)
    s.listed(expected={})


def _stores(s: RecordingStage) -> None:
    s.step("Alter([4,3,2]): R, AR and RR are stored together, and then anybody hears of it")
    s.alter(4, 3, 2)


def _stores_the_end(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.in_sync(1, 2, 3, 4)
    s.step("R, I, the lists and the leader are stored together, and then anybody hears of it")
    s.complete()


def _stores_a_batch(s: RecordingStage) -> None:
    s.step("two of them")
    s.alter_all({A0: (4, 3, 2), B0: (5,)}, {A0: "NONE", B0: "NONE"})


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget("partition.failover.reads", "The lists are stored", ("persisted", "mixed-versions"), _reads),
    PartitionTarget("partition.failover.completes", "It goes on", ("persisted",), _completes),
    PartitionTarget("partition.failover.cancels", "It can be cancelled", ("persisted", "cancel"), _cancels),
    PartitionTarget("partition.store.start", "First it is stored", ("start", "persisted"), _stores, level="effects"),
    PartitionTarget(
        "partition.store.completion",
        "One change is stored",
        ("complete-in-one-step", "leader-in-removing"),
        _stores_the_end,
        level="effects",
    ),
    PartitionTarget(
        "partition.store.batch",
        "Each with its three lists",
        ("persisted", "per-partition"),
        _stores_a_batch,
        TWO_TOPICS,
        level="effects",
    ),
    PartitionTarget(
        "partition.failover.at-rest", "Nobody knows what was told", ("leader-and-isr-fields",), _at_rest, TWO_TOPICS
    ),
    PartitionTarget(
        "partition.failover.in-sync", "I is stored too", ("leader-in-removing", "complete-in-one-step"), _in_sync
    ),
    PartitionTarget("partition.failover.back", "Who is controller again reads what is stored now", ("cancel",), _back),
)

"""Controller failover: the new controller has only the stored state."""

from kraft_partitions.scenarios.stage import A0, B0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import TWO_TOPICS, PartitionTargets

TARGETS = PartitionTargets()

_MOVING = {A0: "[1,4,3,2] | [4] | [1]"}


@TARGETS.vector("partition.failover.reads", "persisted", "mixed-versions")
def _reads(s: RecordingStage) -> None:
    """A new controller reads the stored lists."""
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.notifies([1, 4, 3, 2])
    s.listed(expected=_MOVING)


@TARGETS.vector("partition.failover.completes", "persisted")
def _completes(s: RecordingStage) -> None:
    """A new controller completes the reassignment."""
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("it completes what node 1 has begun")
    s.in_sync(1, 2, 3, 4)
    s.complete()
    s.row("[4,3,2]", "[2,3,4]", "[]", "[]")


@TARGETS.vector("partition.failover.cancels", "persisted", "cancel")
def _cancels(s: RecordingStage) -> None:
    """A new controller can cancel the reassignment."""
    s.step("Alter([4,3,2]), and node 2 takes over")
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("it cancels what node 1 has begun")
    s.cancel()
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")


@TARGETS.vector("partition.failover.at-rest", "leader-and-isr-fields", configuration=TWO_TOPICS)
def _at_rest(s: RecordingStage) -> None:
    """A new controller notifies all brokers, because it does not know which were notified."""
    s.step("nothing is in progress, and everybody is told all the same")
    s.fail_over(2)
    s.notifies([1, 2, 3])
    s.notifies([2, 1], name=B0)
    s.listed(expected={})


@TARGETS.vector("partition.failover.in-sync", "leader-in-removing", "complete-in-one-step")
def _in_sync(s: RecordingStage) -> None:
    """A new controller reads the stored ISR."""
    s.alter(4, 3, 2)
    s.step("4 is in sync, and node 2 takes over")
    s.in_sync(1, 2, 3, 4)
    s.fail_over(2)
    s.complete()
    s.leads(4, 1)


@TARGETS.vector("partition.failover.back", "cancel")
def _back(s: RecordingStage) -> None:
    """A controller that leads again reads the current stored state."""
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("node 2 cancels, and node 1 takes over again")
    s.cancel()
    s.fail_over(1)
    s.listed(expected={})


@TARGETS.vector("partition.store.start", "start", "persisted", level="effects")
def _stores(s: RecordingStage) -> None:
    """A start is stored before any broker is notified."""
    s.step("Alter([4,3,2]): R, AR and RR are stored together, and then anybody hears of it")
    s.alter(4, 3, 2)


@TARGETS.vector("partition.store.completion", "complete-in-one-step", "leader-in-removing", level="effects")
def _stores_the_end(s: RecordingStage) -> None:
    """A completion is stored in one write before any broker is notified."""
    s.alter(4, 3, 2)
    s.in_sync(1, 2, 3, 4)
    s.step("R, I, the lists and the leader are stored together, and then anybody hears of it")
    s.complete()


@TARGETS.vector("partition.store.batch", "persisted", "per-partition", configuration=TWO_TOPICS, level="effects")
def _stores_a_batch(s: RecordingStage) -> None:
    """A batch stores the three lists of each partition."""
    s.step("two of them")
    s.alter_all({A0: (4, 3, 2), B0: (5,)}, {A0: "NONE", B0: "NONE"})

"""Completion of a reassignment: its conditions and its effects."""

from kraft_partitions.events import CompleteReassignment
from kraft_partitions.scenarios.stage import A0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import KAFKA, UNCLEAN, PartitionTargets

TARGETS = PartitionTargets()


def not_yet(s: RecordingStage) -> None:
    """Check that the controller does not complete the reassignment."""
    s.happen(CompleteReassignment(A0), refused=True)


@TARGETS.vector("partition.complete.waits", "add-before-remove")
def _waits(s: RecordingStage) -> None:
    """No replica is removed before the added ones are in sync."""
    s.alter(4, 3, 2)
    s.step("4 is not in sync")
    not_yet(s)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.complete.waits-for-each", "add-before-remove")
def _waits_for_each(s: RecordingStage) -> None:
    """A reassignment completes only when all added replicas are in sync."""
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)
    s.step("5 is not in sync")
    not_yet(s)
    s.listed(expected={A0: "[1,2,3,4,5] | [4,5] | [1,2]"})
    s.step("now it is")
    s.in_sync(1, 2, 3, 4, 5)
    s.complete()
    s.row("[3,4,5]", "[3,4,5]", "[]", "[]")


@TARGETS.vector("partition.complete.falls-behind", "add-before-remove")
def _falls_behind(s: RecordingStage) -> None:
    """An added replica that falls out of sync blocks the completion."""
    s.alter(4, 3, 2)
    s.in_sync(1, 2, 3, 4)
    s.step("4 falls out of the ISR before the controller has looked")
    s.in_sync(1, 2, 3)
    not_yet(s)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.complete.dies", "add-before-remove")
def _dies(s: RecordingStage) -> None:
    """An added replica that restarts is not in sync."""
    s.alter(4, 3, 2)
    s.step("4 fails before it has caught up")
    s.fail_broker(4)
    not_yet(s)
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")
    s.step("it is back")
    s.start_broker(4)
    not_yet(s)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.complete.leader-moves", "leader-in-removing", "complete-in-one-step")
def _moves_the_leader(s: RecordingStage) -> None:
    """The new leader is notified before the old one stops."""
    s.alter(4, 3, 2)
    s.in_sync(1, 2, 3, 4)
    s.step("1 leads and is removed")
    s.complete()
    s.leads(4, 1)
    s.notifies([4, 3, 2], stopped=[1])


@TARGETS.vector("partition.complete.leader-stays", "complete-in-one-step")
def _keeps_the_leader(s: RecordingStage) -> None:
    """A leader that is in the target keeps leading in its epoch."""
    s.alter(1, 2, 4)
    s.in_sync(1, 2, 3, 4)
    s.step("3 is removed, 1 leads on")
    s.complete()
    s.leads(1, 0)
    s.notifies([1, 2, 4], stopped=[3])
    s.listed(expected={})


@TARGETS.vector("partition.complete.removes", "complete-in-one-step")
def _removes(s: RecordingStage) -> None:
    """A reassignment that only removes replicas can complete at once."""
    s.alter(3, 1)
    s.step("there is nothing to wait for")
    s.complete()
    s.row("[3,1]", "[1,3]", "[]", "[]")
    s.notifies([3, 1], stopped=[2])


@TARGETS.vector("partition.complete.one-of-the-target", "isr-never-empty", "leader-in-removing")
def _one_of_the_target(s: RecordingStage) -> None:
    """A reassignment completes only if a target replica is in sync."""
    s.in_sync(1)
    s.alter(2, 3)
    s.step("nobody of the target is in sync")
    not_yet(s)
    s.step("3 catches up")
    s.in_sync(1, 3)
    s.complete()
    s.row("[2,3]", "[3]", "[]", "[]")
    s.leads(3, 1)


@TARGETS.vector("partition.complete.unclean-waits", "isr-never-empty", configuration=UNCLEAN)
def _unclean_waits_too(s: RecordingStage) -> None:
    """Unclean election does not complete a reassignment early."""
    s.in_sync(1)
    s.alter(2, 3)
    s.step("nobody of the target is in sync, and a completion elects nobody uncleanly")
    not_yet(s)
    s.listed(expected={A0: "[1,2,3] | [] | [1]"})


@TARGETS.vector("partition.complete.removed-is-away", "complete-in-one-step")
def _removed_is_away(s: RecordingStage) -> None:
    """StopReplica is sent only to removed replicas that are alive."""
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4, 5)
    s.fail_broker(2)
    s.step("2 is away when it is removed, and 1 is not")
    s.complete()
    s.notifies([3, 4, 5], stopped=[1])


@TARGETS.vector("partition.complete.nothing-due", "list")
def _nothing_due(s: RecordingStage) -> None:
    """Without a reassignment, the completion check does nothing."""
    s.step("no reassignment is in progress")
    not_yet(s)
    s.listed(expected={})


@TARGETS.vector("partition.complete.taken-over", "complete-in-one-step")
def _taken_over_after(s: RecordingStage) -> None:
    """After a failover, a completed reassignment is gone."""
    s.alter(4, 3, 2)
    s.in_sync(1, 2, 3, 4)
    s.step("it completes, and another controller takes over")
    s.complete()
    s.fail_over(2)
    s.notifies([4, 3, 2])
    s.listed(expected={})


@TARGETS.vector("partition.complete.kafka", "complete-in-one-step", configuration=KAFKA)
def _kafka_at_once(s: RecordingStage) -> None:
    """Kafka completes in the step that brings the last added replica in sync."""
    s.alter(1, 2, 4)
    s.step("the request that makes 4 in sync completes it")
    s.in_sync(1, 2, 3, 4)
    s.row("[1,2,4]", "[1,2,4]", "[]", "[]")
    s.notifies([1, 2, 4], stopped=[3])


@TARGETS.vector("partition.complete.kafka-target", "complete-in-one-step", configuration=KAFKA)
def _kafka_waits_for_the_target(s: RecordingStage) -> None:
    """With fewer replicas, Kafka waits until all of the target is in sync."""
    s.in_sync(1, 3)
    s.step("2 of the target is not in sync")
    s.alter(1, 2)
    s.listed(expected={A0: "[1,2,3] | [] | [3]"})
    s.step("now it is")
    s.in_sync(1, 2, 3)
    s.row("[1,2]", "[1,2]", "[]", "[]")


@TARGETS.vector("partition.complete.kafka-adding", "complete-in-one-step", configuration=KAFKA)
def _kafka_waits_for_those_that_are_added(s: RecordingStage) -> None:
    """Without fewer replicas, Kafka waits only for the added ones."""
    s.in_sync(1, 3)
    s.alter(1, 2, 4)
    s.step("4 is in sync, 2 of the target is not")
    s.in_sync(1, 3, 4)
    s.row("[1,2,4]", "[1,4]", "[]", "[]")

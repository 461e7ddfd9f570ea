"""Cancellation: the restored replicas, the stopped ones, and refused cancellations."""

from kraft_partitions.scenarios.stage import A0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import SINGLE, UNCLEAN, PartitionTargets

TARGETS = PartitionTargets()


@TARGETS.vector("partition.cancel", "cancel")
def _restores(s: RecordingStage) -> None:
    """A cancellation restores the replicas."""
    s.alter(3, 4, 5)
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.notifies([1, 2, 3], stopped=[4, 5])
    s.listed(expected={})


@TARGETS.vector("partition.cancel.caught-up", "cancel")
def _caught_up(s: RecordingStage) -> None:
    """A cancellation removes an added replica that is in sync."""
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)
    s.step("4 has caught up, and goes all the same")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")


@TARGETS.vector("partition.cancel.removal", allows=("cancel",))
def _removal(s: RecordingStage) -> None:
    """Cancelling a removal stops no replica."""
    s.alter(3, 1)
    s.step("nothing was added")
    s.cancel()
    s.notifies([2, 3, 1])


@TARGETS.vector("partition.cancel.leader", "cancel")
def _moves_the_leader(s: RecordingStage) -> None:
    """A cancellation moves leadership away from an added replica."""
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)
    s.step("1, 2 and 3 fail, and 2 and 3 come back")
    for broker in (1, 2, 3):
        s.fail_broker(broker)
    for broker in (2, 3):
        s.start_broker(broker)
    s.in_sync(2, 3, 4)
    s.leads(4, 3)
    s.step("4, which was added, leads")
    s.cancel()
    s.leads(2, 4)
    s.notifies([1, 2, 3][1:], stopped=[4, 5])


@TARGETS.vector("partition.cancel.nothing", "cancel-nothing")
def _nothing(s: RecordingStage) -> None:
    """A cancellation without a reassignment is refused."""
    s.step("Alter(null) where nothing is in progress")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")


@TARGETS.vector("partition.cancel.completed", "cancel-nothing")
def _completed(s: RecordingStage) -> None:
    """A cancellation after the completion is refused."""
    s.alter(1, 2, 4)
    s.in_sync(1, 2, 3, 4)
    s.complete()
    s.step("it has completed in the meantime")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")


@TARGETS.vector("partition.cancel.twice", "cancel", "cancel-nothing")
def _twice(s: RecordingStage) -> None:
    """A second cancellation is refused."""
    s.alter(3, 4, 5)
    s.step("Alter(null)")
    s.cancel()
    s.step("Alter(null) again")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")


def _only_the_added(s: RecordingStage) -> None:
    s.alter(4, 5)
    s.in_sync(1, 4)
    s.fail_broker(1)
    s.start_broker(1)
    s.row("[1,4,5]", "[4]", "[4,5]", "[1]")


@TARGETS.vector("partition.cancel.last-in-sync", "isr-never-empty", "cancel", configuration=SINGLE)
def _refused(s: RecordingStage) -> None:
    """A cancellation that would leave no replica in sync is refused."""
    _only_the_added(s)
    s.step("4, which was added, is alone in sync")
    s.cancel(answer="INVALID_REPLICA_ASSIGNMENT")
    s.listed(expected={A0: "[1,4,5] | [4,5] | [1]"})
    s.step("1 has caught up")
    s.in_sync(1, 4)
    s.cancel()
    s.row("[1]", "[1]", "[]", "[]")


@TARGETS.vector("partition.cancel.unclean", "cancel", configuration=UNCLEAN, allows=("isr-never-empty",))
def _unclean(s: RecordingStage) -> None:
    """With unclean election, a cancellation may elect a replica that is not in sync."""
    s.alter(4, 5)
    s.in_sync(1, 2, 3, 4)
    s.step("1, 2 and 3 fail, and 1 comes back")
    for broker in (1, 2, 3):
        s.fail_broker(broker)
    s.start_broker(1)
    s.row("[1,2,3,4,5]", "[4]", "[4,5]", "[1,2,3]")
    s.step("1 may lead uncleanly")
    s.cancel()
    s.row("[1,2,3]", "[1]", "[]", "[]")
    s.leads(1, 4)


@TARGETS.vector("partition.start.unclean-just-added", "start", configuration=UNCLEAN, allows=("isr-never-empty",))
def _just_added(s: RecordingStage) -> None:
    """A reassignment request never elects a replica that it just added."""
    s.step("1, 2 and 3 fail")
    for broker in (1, 2, 3):
        s.fail_broker(broker)
    s.row("[1,2,3]", "[3]", "[]", "[]")
    s.step("3, which alone is in sync, is dead: who has just been added must not lead")
    s.alter(4, 5)
    s.leads(None, 3)
    s.row("[1,2,3,4,5]", "[3]", "[4,5]", "[1,2,3]")

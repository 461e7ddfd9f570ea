"""Cancellation: what is restored, who stops, and when there is nothing to cancel or nobody would be left."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import SINGLE, UNCLEAN, PartitionTarget
from kraft_reference.partitions.scenarios.stage import A0


def _restores(s: RecordingStage) -> None:
    s.alter(3, 4, 5)
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.told([1, 2, 3], stopped=[4, 5])
    s.listed(expected={})


def _caught_up(s: RecordingStage) -> None:
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)
    s.step("4 has caught up, and goes all the same")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")


def _removal(s: RecordingStage) -> None:
    s.alter(3, 1)
    s.step("nothing was added")
    s.cancel()
    s.told([2, 3, 1])


def _moves_the_leader(s: RecordingStage) -> None:
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
    s.told([1, 2, 3][1:], stopped=[4, 5])


def _nothing(s: RecordingStage) -> None:
    s.step("Alter(null) where nothing is in progress")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")


def _completed(s: RecordingStage) -> None:
    s.alter(1, 2, 4)
    s.in_sync(1, 2, 3, 4)
    s.complete()
    s.step("it has completed in the meantime")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")


def _twice(s: RecordingStage) -> None:
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


def _refused(s: RecordingStage) -> None:
    _only_the_added(s)
    s.step("4, which was added, is alone in sync")
    s.cancel(answer="INVALID_REPLICA_ASSIGNMENT")
    s.listed(expected={A0: "[1,4,5] | [4,5] | [1]"})
    s.step("1 has caught up")
    s.in_sync(1, 4)
    s.cancel()
    s.row("[1]", "[1]", "[]", "[]")


def _unclean(s: RecordingStage) -> None:
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


def _just_added(s: RecordingStage) -> None:
    s.step("1, 2 and 3 fail")
    for broker in (1, 2, 3):
        s.fail_broker(broker)
    s.row("[1,2,3]", "[3]", "[]", "[]")
    s.step("3, which alone is in sync, is dead: who has just been added must not lead")
    s.alter(4, 5)
    s.leads(None, 3)
    s.row("[1,2,3,4,5]", "[3]", "[4,5]", "[1,2,3]")


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget("partition.cancel", "Everything is as before", ("cancel",), _restores),
    PartitionTarget("partition.cancel.caught-up", "AR is gone from I too", ("cancel",), _caught_up),
    PartitionTarget("partition.cancel.removal", "Nobody stops", (), _removal, allows=("cancel",)),
    PartitionTarget("partition.cancel.leader", "The leader was being added", ("cancel",), _moves_the_leader),
    PartitionTarget("partition.cancel.nothing", "Nothing is in progress", ("cancel-nothing",), _nothing),
    PartitionTarget("partition.cancel.completed", "It has completed", ("cancel-nothing",), _completed),
    PartitionTarget("partition.cancel.twice", "It is cancelled already", ("cancel", "cancel-nothing"), _twice),
    PartitionTarget(
        "partition.cancel.last-in-sync",
        "Nobody in sync would be left",
        ("isr-never-empty", "cancel"),
        _refused,
        SINGLE,
    ),
    PartitionTarget(
        "partition.cancel.unclean",
        "Unclean election takes one of the others",
        ("cancel",),
        _unclean,
        UNCLEAN,
        ("isr-never-empty",),
    ),
    PartitionTarget(
        "partition.start.unclean-just-added",
        "A request makes nobody leader who holds nothing",
        ("start",),
        _just_added,
        UNCLEAN,
        ("isr-never-empty",),
    ),
)

"""A second reassignment replaces the first: from the replicas before both, in one step."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import KAFKA_SIX, SINGLE, SIX, PartitionTarget
from kraft_reference.partitions.scenarios.stage import A0


def _moving(s: RecordingStage) -> None:
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)


def _replaces(s: RecordingStage) -> None:
    _moving(s)
    s.step("Alter([1,4,6]): 5 is stopped, 4 stays in sync")
    s.alter(1, 4, 6)
    s.row("[2,3,1,4,6]", "[1,2,3,4]", "[4,6]", "[2,3]")
    s.told([2, 3, 1, 4, 6], stopped=[5])


def _then_completes(s: RecordingStage) -> None:
    _moving(s)
    s.alter(1, 4, 6)
    s.in_sync(1, 2, 3, 4, 6)
    s.step("the second one completes")
    s.complete()
    s.row("[1,4,6]", "[1,4,6]", "[]", "[]")
    s.told([1, 4, 6], stopped=[2, 3])


def _waits_for_the_new(s: RecordingStage) -> None:
    s.alter(1, 2, 4)
    s.in_sync(1, 2, 3, 4)
    s.step("Alter([1,2,6]): the first would have been complete")
    s.alter(1, 2, 6)
    s.row("[3,1,2,6]", "[1,2,3]", "[6]", "[3]")
    s.listed(expected={A0: "[3,1,2,6] | [6] | [3]"})


def _back(s: RecordingStage) -> None:
    _moving(s)
    s.step("Alter([1,2,3]), the replicas from before")
    s.alter(1, 2, 3)
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.told([1, 2, 3], stopped=[4, 5])
    s.listed(expected={})


def _again(s: RecordingStage) -> None:
    _moving(s)
    s.step("Alter([3,4,5]) again")
    s.alter(3, 4, 5)
    s.row("[1,2,3,4,5]", "[1,2,3,4]", "[4,5]", "[1,2]")


def _cancelled(s: RecordingStage) -> None:
    _moving(s)
    s.alter(1, 4, 6)
    s.step("Alter(null): the replicas from before the first")
    s.cancel()
    s.row("[2,3,1]", "[1,2,3]", "[]", "[]")


def _third(s: RecordingStage) -> None:
    _moving(s)
    s.alter(1, 4, 6)
    s.step("Alter([5,6]) after Alter([3,4,5]) and Alter([1,4,6])")
    s.alter(5, 6)
    s.row("[2,3,1,5,6]", "[1,2,3]", "[5,6]", "[2,3,1]")
    s.told([2, 3, 1, 5, 6], stopped=[4])


def _last_in_sync(s: RecordingStage) -> None:
    s.alter(4)
    s.in_sync(1, 4)
    s.fail_broker(1)
    s.start_broker(1)
    s.row("[1,4]", "[4]", "[4]", "[1]")
    s.step("Alter([5]) would stop 4, which alone is in sync")
    s.alter(5, answer="INVALID_REPLICA_ASSIGNMENT")
    s.listed(expected={A0: "[1,4] | [4] | [1]"})


def _taken_over(s: RecordingStage) -> None:
    _moving(s)
    s.step("Alter([1,4,6]), and another controller takes over")
    s.alter(1, 4, 6)
    s.fail_over(2)
    s.listed(expected={A0: "[2,3,1,4,6] | [4,6] | [2,3]"})


def _kafka(s: RecordingStage) -> None:
    _moving(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row("[1,4,6,2,3,5]", "[1,2,3,4]", "[6]", "[2,3,5]")
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,4,2,3,5]", "[1,2,3,4]", "[]", "[]")


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget(
        "partition.override", "The first one is undone before the second starts", ("override",), _replaces, SIX
    ),
    PartitionTarget(
        "partition.override.completes",
        "Both that were from before and left go",
        ("complete-in-one-step",),
        _then_completes,
        SIX,
    ),
    PartitionTarget(
        "partition.override.waits", "Who was added by the first is gone", ("override",), _waits_for_the_new, SIX
    ),
    PartitionTarget("partition.override.back", "To where it began", ("override",), _back),
    PartitionTarget("partition.override.again", "To the same: nobody stops", ("start",), _again),
    PartitionTarget("partition.override.cancelled", "What is restored", ("cancel",), _cancelled, SIX),
    PartitionTarget("partition.override.third", "And another one", ("override",), _third, SIX),
    PartitionTarget(
        "partition.override.last-in-sync", "Nobody in sync would be left", ("isr-never-empty",), _last_in_sync, SINGLE
    ),
    PartitionTarget(
        "partition.override.kafka",
        "From the widened R: 5 goes when the second one completes, and a cancellation keeps 4 and 5",
        (),
        _kafka,
        KAFKA_SIX,
        ("override",),
    ),
    PartitionTarget(
        "partition.override.taken-over", "It is stored as one", ("override", "persisted"), _taken_over, SIX
    ),
)

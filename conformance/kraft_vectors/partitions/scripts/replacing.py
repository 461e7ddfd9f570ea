"""A second reassignment replaces the first in one step, from the original replicas."""

from kraft_partitions.scenarios.stage import A0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import FIVE, KAFKA_SIX, SINGLE, SIX, PartitionTargets

TARGETS = PartitionTargets(SIX)


def _moving(s: RecordingStage) -> None:
    s.alter(3, 4, 5)
    s.in_sync(1, 2, 3, 4)


@TARGETS.vector("partition.override", "override")
def _replaces(s: RecordingStage) -> None:
    """A second reassignment undoes the first before it starts."""
    _moving(s)
    s.step("Alter([1,4,6]): 5 is stopped, 4 stays in sync")
    s.alter(1, 4, 6)
    s.row("[2,3,1,4,6]", "[1,2,3,4]", "[4,6]", "[2,3]")
    s.notifies([2, 3, 1, 4, 6], stopped=[5])


@TARGETS.vector("partition.override.completes", "complete-in-one-step")
def _then_completes(s: RecordingStage) -> None:
    """The completion of the second reassignment removes the original replicas."""
    _moving(s)
    s.alter(1, 4, 6)
    s.in_sync(1, 2, 3, 4, 6)
    s.step("the second one completes")
    s.complete()
    s.row("[1,4,6]", "[1,4,6]", "[]", "[]")
    s.notifies([1, 4, 6], stopped=[2, 3])


@TARGETS.vector("partition.override.waits", "override")
def _waits_for_the_new(s: RecordingStage) -> None:
    """A replica that only the first reassignment added is removed, and the second waits for its own."""
    s.alter(1, 2, 4)
    s.in_sync(1, 2, 3, 4)
    s.step("Alter([1,2,6]): the first would have been complete")
    s.alter(1, 2, 6)
    s.row("[3,1,2,6]", "[1,2,3]", "[6]", "[3]")
    s.listed(expected={A0: "[3,1,2,6] | [6] | [3]"})


@TARGETS.vector("partition.override.back", "override", configuration=FIVE)
def _back(s: RecordingStage) -> None:
    """A second reassignment to the original replicas ends the first."""
    _moving(s)
    s.step("Alter([1,2,3]), the replicas from before")
    s.alter(1, 2, 3)
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.notifies([1, 2, 3], stopped=[4, 5])
    s.listed(expected={})


@TARGETS.vector("partition.override.again", "start", configuration=FIVE)
def _again(s: RecordingStage) -> None:
    """A second reassignment to the same target stops no replica."""
    _moving(s)
    s.step("Alter([3,4,5]) again")
    s.alter(3, 4, 5)
    s.row("[1,2,3,4,5]", "[1,2,3,4]", "[4,5]", "[1,2]")


@TARGETS.vector("partition.override.cancelled", "cancel")
def _cancelled(s: RecordingStage) -> None:
    """A cancellation restores the replicas from before both reassignments."""
    _moving(s)
    s.alter(1, 4, 6)
    s.step("Alter(null): the replicas from before the first")
    s.cancel()
    s.row("[2,3,1]", "[1,2,3]", "[]", "[]")


@TARGETS.vector("partition.override.third", "override")
def _third(s: RecordingStage) -> None:
    """A third reassignment replaces the second."""
    _moving(s)
    s.alter(1, 4, 6)
    s.step("Alter([5,6]) after Alter([3,4,5]) and Alter([1,4,6])")
    s.alter(5, 6)
    s.row("[2,3,1,5,6]", "[1,2,3]", "[5,6]", "[2,3,1]")
    s.notifies([2, 3, 1, 5, 6], stopped=[4])


@TARGETS.vector("partition.override.last-in-sync", "isr-never-empty", configuration=SINGLE)
def _last_in_sync(s: RecordingStage) -> None:
    """A second reassignment that would leave no replica in sync is refused."""
    s.alter(4)
    s.in_sync(1, 4)
    s.fail_broker(1)
    s.start_broker(1)
    s.row("[1,4]", "[4]", "[4]", "[1]")
    s.step("Alter([5]) would stop 4, which alone is in sync")
    s.alter(5, answer="INVALID_REPLICA_ASSIGNMENT")
    s.listed(expected={A0: "[1,4] | [4] | [1]"})


@TARGETS.vector("partition.override.taken-over", "override", "persisted")
def _taken_over(s: RecordingStage) -> None:
    """The replacement is stored in one write."""
    _moving(s)
    s.step("Alter([1,4,6]), and another controller takes over")
    s.alter(1, 4, 6)
    s.fail_over(2)
    s.listed(expected={A0: "[2,3,1,4,6] | [4,6] | [2,3]"})


@TARGETS.vector("partition.override.kafka", configuration=KAFKA_SIX, allows=("override",))
def _kafka(s: RecordingStage) -> None:
    """Kafka starts the second reassignment from all current replicas, so a cancellation keeps 4 and 5."""
    _moving(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row("[1,4,6,2,3,5]", "[1,2,3,4]", "[6]", "[2,3,5]")
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,4,2,3,5]", "[1,2,3,4]", "[]", "[]")

"""The same events under `kip` and `kafka-4`, for one decision each: every outcome is a vector."""

from kraft_partitions.decisions import KAFKA_4
from kraft_partitions.events import CompleteReassignment
from kraft_partitions.scenarios.stage import A0, B0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import TWO_TOPICS, PartitionTargets

TARGETS = PartitionTargets()


def _of_kafka(s: RecordingStage) -> bool:
    return s.configuration.profile == KAFKA_4


@TARGETS.vector("partition.complete.target-behind", "list", allows=("complete-in-one-step",), both=True)
def _target_behind(s: RecordingStage) -> None:
    """The replication factor shrinks, and a target replica is not in sync."""
    # Decided by `completes_with`.
    s.in_sync(1, 3)
    s.step("Alter([1,2]), and 2 of the target is not in sync")
    s.alter(1, 2)
    s.happen(CompleteReassignment(A0), refused=_of_kafka(s))
    s.listed(expected={A0: "[1,2,3] | [] | [3]"} if _of_kafka(s) else {})


@TARGETS.vector("partition.complete.adds", "list", allows=("complete-in-one-step",), both=True)
def _adds(s: RecordingStage) -> None:
    """All target replicas are in sync before the controller checks for completion."""
    # Decided by `completes`.
    s.alter(1, 2, 3, 4)
    s.step("4 joins the ISR")
    s.in_sync(1, 2, 3, 4)
    s.listed(expected={} if _of_kafka(s) else {A0: "[1,2,3,4] | [4] | []"})


@TARGETS.vector("partition.cancel.leader-stays", "cancel", both=True)
def _leader_stays(s: RecordingStage) -> None:
    """A replica is removed, and the leader stays."""
    # Decided by `leader_epoch`.
    s.alter(1, 2, 3, 4)
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")


@TARGETS.vector("partition.override.base", "list", allows=("override",), both=True)
def _base(s: RecordingStage) -> None:
    """A second reassignment begins with the original replicas, or with those that the first one added."""
    # Decided by `override_base`.
    s.alter(1, 2, 3, 4)
    s.step("Alter([1,2,3,4,5])")
    s.alter(1, 2, 3, 4, 5)
    s.listed(expected={A0: f"[1,2,3,4,5] | {'[5]' if _of_kafka(s) else '[4,5]'} | []"})


@TARGETS.vector("partition.override.keeps-all", "list", allows=("override",), both=True)
def _keeps_all(s: RecordingStage) -> None:
    """A second reassignment to the replicas of both has no replica to remove."""
    # Decided by `override_base`: what would be empty stays.
    s.alter(3, 4, 5)
    s.step("Alter([1,2,3,4,5])")
    s.alter(1, 2, 3, 4, 5)
    s.listed(expected={A0: f"[1,2,3,4,5] | [4,5] | {'[1,2]' if _of_kafka(s) else '[]'}"})


@TARGETS.vector("partition.start.leaves-two", "start")
def _order(s: RecordingStage) -> None:
    """Order of the replicas during a reassignment: RR, then the target."""
    # Decided by `replicas_order`; the vector of `kafka-4` is `partition.start.kafka`.
    s.step("Alter([4,3])")
    s.alter(4, 3)
    s.row("[1,2,4,3]", "[1,2,3]", "[4]", "[1,2]")


@TARGETS.vector("partition.list.at-rest", "list", configuration=TWO_TOPICS, both=True)
def _at_rest(s: RecordingStage) -> None:
    """Listing by name a partition without a reassignment."""
    # Decided by `idle_when_named`.
    s.step("B-0 by name")
    s.listed(B0, expected={} if _of_kafka(s) else {B0: "[2,1] | [] | []"})

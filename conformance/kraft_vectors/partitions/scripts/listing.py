"""ListPartitionReassignments."""

from kraft_partitions.decisions import KAFKA_4
from kraft_partitions.scenarios.scenario import cluster
from kraft_partitions.scenarios.stage import A0, B0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import TWO_TOPICS, PartitionTargets

TARGETS = PartitionTargets()

_A99 = A0._replace(partition=99)
_MOVING = {A0: "[1,4,3,2] | [4] | [1]"}


@TARGETS.vector("partition.list.all", "list", configuration=TWO_TOPICS)
def _all(s: RecordingStage) -> None:
    """Partitions without a reassignment are not listed."""
    s.alter(4, 3, 2)
    s.step("all: B-0 is not being reassigned")
    s.listed(expected=_MOVING)


@TARGETS.vector("partition.list.both", "list", configuration=TWO_TOPICS)
def _both(s: RecordingStage) -> None:
    """Listing of all reassignments, and by name."""
    s.alter(4, 3, 2)
    s.alter(1, 5, name=B0)
    s.step("all")
    s.listed(expected={**_MOVING, B0: "[2,1,5] | [5] | [2]"})
    s.step("one by name")
    s.listed(B0, expected={B0: "[2,1,5] | [5] | [2]"})


@TARGETS.vector("partition.list.none", "list")
def _none(s: RecordingStage) -> None:
    """Listing without any reassignment."""
    s.step("nothing is in progress")
    s.listed(expected={})


@TARGETS.vector("partition.list.idle", "list", configuration=TWO_TOPICS)
def _idle(s: RecordingStage) -> None:
    """Listing by name a partition without a reassignment."""
    s.alter(4, 3, 2)
    s.step("by name, one of them at rest")
    s.listed(A0, B0, expected={**_MOVING, B0: "[2,1] | [] | []"})


@TARGETS.vector(
    "partition.list.idle-kafka",
    "list",
    configuration=cluster(5, assignments={A0: (1, 2, 3), B0: (2, 1)}, profile=KAFKA_4),
)
def _idle_kafka(s: RecordingStage) -> None:
    """Listing by name a partition without a reassignment."""
    s.alter(4, 3, 2)
    s.step("by name, one of them at rest")
    s.listed(A0, B0, expected={A0: "[4,3,2,1] | [4] | [1]"})


@TARGETS.vector("partition.list.unknown", "list")
def _unknown(s: RecordingStage) -> None:
    """A partition that does not exist is omitted from the list."""
    s.alter(4, 3, 2)
    s.step("by name, one of which there is not")
    s.listed(A0, _A99, expected=_MOVING)

"""ListPartitionReassignments."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import TWO_TOPICS, PartitionTarget
from kraft_reference.partitions.decisions import KAFKA_4
from kraft_reference.partitions.scenarios.scenario import cluster
from kraft_reference.partitions.scenarios.stage import A0, B0

_A99 = A0._replace(partition=99)
_MOVING = {A0: "[1,4,3,2] | [4] | [1]"}


def _all(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("all: B-0 is not being reassigned")
    s.listed(expected=_MOVING)


def _both(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.alter(1, 5, name=B0)
    s.step("all")
    s.listed(expected={**_MOVING, B0: "[2,1,5] | [5] | [2]"})
    s.step("one by name")
    s.listed(B0, expected={B0: "[2,1,5] | [5] | [2]"})


def _none(s: RecordingStage) -> None:
    s.step("nothing is in progress")
    s.listed(expected={})


def _idle(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("by name, one of them at rest")
    s.listed(A0, B0, expected={**_MOVING, B0: "[2,1] | [] | []"})


def _idle_kafka(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("by name, one of them at rest")
    s.listed(A0, B0, expected={A0: "[4,3,2,1] | [4] | [1]"})


def _unknown(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("by name, one of which there is not")
    s.listed(A0, _A99, expected=_MOVING)


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget("partition.list.all", "What is at rest is not listed", ("list",), _all, TWO_TOPICS),
    PartitionTarget("partition.list.both", "All, and by name", ("list",), _both, TWO_TOPICS),
    PartitionTarget("partition.list.none", "Nothing", ("list",), _none),
    PartitionTarget("partition.list.idle", "What is at rest, by name", ("list",), _idle, TWO_TOPICS),
    PartitionTarget(
        "partition.list.idle-kafka",
        "What is at rest, by name",
        ("list",),
        _idle_kafka,
        cluster(5, assignments={A0: (1, 2, 3), B0: (2, 1)}, profile=KAFKA_4),
    ),
    PartitionTarget("partition.list.unknown", "What does not exist is left out", ("list",), _unknown),
)

"""The same events under `kip` and `kafka-4`, one decision at a time: what each makes of them is a vector of its own."""

from collections.abc import Callable
from dataclasses import replace

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import FIVE, TWO_TOPICS, PartitionTarget
from kraft_conformance.vectors.profiles import SUFFIX
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import KAFKA_4
from kraft_reference.partitions.events import CompleteReassignment
from kraft_reference.partitions.scenarios.stage import A0, B0


def _of_kafka(s: RecordingStage) -> bool:
    return s.configuration.profile == KAFKA_4


def _target_behind(s: RecordingStage) -> None:
    """`completes_with`."""
    s.in_sync(1, 3)
    s.alter(1, 2, 3, 4)
    s.in_sync(1, 3, 4)
    s.step("4 is in sync, 2 of the target is not")
    s.happen(CompleteReassignment(A0), refused=_of_kafka(s))
    s.listed(expected={A0: "[1,2,3,4] | [4] | []"} if _of_kafka(s) else {})


def _adds(s: RecordingStage) -> None:
    """`completes`."""
    s.alter(1, 2, 3, 4)
    s.step("4 joins the ISR")
    s.in_sync(1, 2, 3, 4)
    s.listed(expected={} if _of_kafka(s) else {A0: "[1,2,3,4] | [4] | []"})


def _base(s: RecordingStage) -> None:
    """`override_base`."""
    s.alter(1, 2, 3, 4)
    s.step("Alter([1,2,3,4,5])")
    s.alter(1, 2, 3, 4, 5)
    s.row("[1,2,3,4,5]", "[1,2,3]", "[5]" if _of_kafka(s) else "[4,5]", "[]")
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,2,3,4]" if _of_kafka(s) else "[1,2,3]", "[1,2,3]", "[]", "[]")


def _keeps_all(s: RecordingStage) -> None:
    """`override_base`: what would be empty stays."""
    s.alter(3, 4, 5)
    s.step("Alter([1,2,3,4,5])")
    s.alter(1, 2, 3, 4, 5)
    s.listed(expected={A0: f"[1,2,3,4,5] | [4,5] | {'[1,2]' if _of_kafka(s) else '[]'}"})


def _order(s: RecordingStage) -> None:
    """`replicas_order`; the vector of `kafka-4` is `partition.start.kafka`."""
    s.step("Alter([4,3])")
    s.alter(4, 3)
    s.row("[1,2,4,3]", "[1,2,3]", "[4]", "[1,2]")


def _at_rest(s: RecordingStage) -> None:
    """`idle_when_named`."""
    s.step("B-0 by name")
    s.listed(B0, expected={} if _of_kafka(s) else {B0: "[2,1] | [] | []"})


def _both(
    vector_id: str,
    title: str,
    rules: tuple[str, ...],
    script: Callable[[RecordingStage], None],
    allows: tuple[str, ...] = (),
    configuration: PartitionConfiguration = FIVE,
) -> tuple[PartitionTarget, PartitionTarget]:
    kafka = replace(configuration, profile=KAFKA_4)
    return (
        PartitionTarget(vector_id, title, rules, script, configuration, allows),
        PartitionTarget(vector_id + SUFFIX, f"{title} ({KAFKA_4.name})", rules, script, kafka, allows),
    )


TARGETS: tuple[PartitionTarget, ...] = (
    *_both(
        "partition.complete.target-behind",
        "AR is in sync, another replica of the target is not",
        ("list",),
        _target_behind,
        ("complete-in-one-step",),
    ),
    *_both(
        "partition.complete.adds",
        "All of the target is in sync, and the controller has not looked yet",
        ("list",),
        _adds,
        ("complete-in-one-step",),
    ),
    *_both(
        "partition.override.base",
        "What the first one added is its own, until a cancellation",
        ("cancel",),
        _base,
        ("override",),
    ),
    *_both(
        "partition.override.keeps-all",
        "Every replica of both, so that nobody is to go",
        ("list",),
        _keeps_all,
        ("override",),
    ),
    PartitionTarget("partition.start.leaves-two", "RR, then the target", ("start",), _order),
    *_both("partition.list.at-rest", "A partition at rest, by name", ("list",), _at_rest, (), TWO_TOPICS),
)

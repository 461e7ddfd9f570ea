"""The start of a reassignment: R widens, AR and RR say what is to come, I stays."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import KAFKA, SINGLE, PartitionTarget
from kraft_reference.partitions.scenarios.scenario import cluster
from kraft_reference.partitions.scenarios.stage import A0


def _adds_and_removes(s: RecordingStage) -> None:
    s.step("Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")


def _adds(s: RecordingStage) -> None:
    s.step("Alter([1,2,3,4])")
    s.alter(1, 2, 3, 4)
    s.row("[1,2,3,4]", "[1,2,3]", "[4]", "[]")


def _removes(s: RecordingStage) -> None:
    s.step("Alter([3,1])")
    s.alter(3, 1)
    s.row("[2,3,1]", "[1,2,3]", "[]", "[2]")


def _replaces_all(s: RecordingStage) -> None:
    s.step("Alter([5,4])")
    s.alter(5, 4)
    s.row("[3,1,2,5,4]", "[1,2,3]", "[5,4]", "[3,1,2]")


def _keeps_in_sync(s: RecordingStage) -> None:
    s.in_sync(1, 2)
    s.step("Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[1,4,3,2]", "[1,2]", "[4]", "[1]")


def _reorders(s: RecordingStage) -> None:
    s.step("Alter([3,1,2])")
    s.alter(3, 1, 2)
    s.row("[3,1,2]", "[1,2,3]", "[]", "[]")
    s.leads(1, 0)
    s.listed(expected={})


def _tells_who_comes_back(s: RecordingStage) -> None:
    s.fail_broker(4)
    s.step("Alter([4,3,2]) while 4 is away")
    s.alter(4, 3, 2)
    s.told([1, 3, 2])
    s.step("4 is back")
    s.start_broker(4)
    s.told([4])


def _catches_up(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("leader 1 extends the ISR by 4")
    s.in_sync(1, 2, 3, 4)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


def _nobody_leads(s: RecordingStage) -> None:
    s.alter(1, 4)
    s.step("1, which alone is in sync, fails")
    s.fail_broker(1)
    s.leads(None, 1)
    s.step("1 is back")
    s.start_broker(1)
    s.leads(1, 2)


def _kafka_order(s: RecordingStage) -> None:
    s.step("Alter([4,3])")
    s.alter(4, 3)
    s.row("[4,3,1,2]", "[1,2,3]", "[4]", "[1,2]")


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget(
        "partition.start",
        "A replica is added and one removed: every broker hears of all four",
        ("start", "leader-and-isr-fields", "mixed-versions"),
        _adds_and_removes,
    ),
    PartitionTarget("partition.start.adds", "Nothing to remove", ("leader-and-isr-fields", "mixed-versions"), _adds),
    PartitionTarget("partition.start.removes", "Nothing to add: R keeps who leaves", ("start",), _removes),
    PartitionTarget(
        "partition.start.replaces-all",
        "RR stands in R as it stood before, then the target in its order",
        ("start", "mixed-versions"),
        _replaces_all,
        cluster(5, assignments={A0: (3, 1, 2)}),
    ),
    PartitionTarget("partition.start.in-sync-stays", "The start does not touch I", ("start",), _keeps_in_sync),
    PartitionTarget("partition.start.reorders", "The same members: done at once", ("no-op-target",), _reorders),
    PartitionTarget(
        "partition.start.broker-away",
        "A broker that was away hears of its replica when it is back",
        ("leader-and-isr-fields", "mixed-versions"),
        _tells_who_comes_back,
    ),
    PartitionTarget(
        "partition.start.catches-up",
        "A replica that was added may be in sync; that alone completes nothing",
        ("list",),
        _catches_up,
    ),
    PartitionTarget(
        "partition.start.nobody-leads",
        "A partition without a leader says so, and waits for the replica in sync",
        ("leader-and-isr-fields",),
        _nobody_leads,
        SINGLE,
    ),
    PartitionTarget("partition.start.kafka", "R is the target, then RR ascending", ("start",), _kafka_order, KAFKA),
)

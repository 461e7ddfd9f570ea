"""Start of a reassignment: R widens, AR and RR are set, the ISR stays."""

from kraft_partitions.scenarios.scenario import cluster
from kraft_partitions.scenarios.stage import A0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import KAFKA, SINGLE, PartitionTargets

TARGETS = PartitionTargets()


@TARGETS.vector("partition.start", "start", "leader-and-isr-fields", "mixed-versions")
def _adds_and_removes(s: RecordingStage) -> None:
    """A replica is added and one removed: every broker gets all four replicas."""
    s.step("Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")


@TARGETS.vector("partition.start.adds", "leader-and-isr-fields", "mixed-versions")
def _adds(s: RecordingStage) -> None:
    """A reassignment that only adds a replica."""
    s.step("Alter([1,2,3,4])")
    s.alter(1, 2, 3, 4)
    s.row("[1,2,3,4]", "[1,2,3]", "[4]", "[]")


@TARGETS.vector("partition.start.removes", "start")
def _removes(s: RecordingStage) -> None:
    """A reassignment that only removes: R keeps the replica until the completion."""
    s.step("Alter([3,1])")
    s.alter(3, 1)
    s.row("[2,3,1]", "[1,2,3]", "[]", "[2]")


@TARGETS.vector(
    "partition.start.replaces-all", "start", "mixed-versions", configuration=cluster(5, assignments={A0: (3, 1, 2)})
)
def _replaces_all(s: RecordingStage) -> None:
    """R has RR in its original order, then the target in its order."""
    s.step("Alter([5,4])")
    s.alter(5, 4)
    s.row("[3,1,2,5,4]", "[1,2,3]", "[5,4]", "[3,1,2]")


@TARGETS.vector("partition.start.in-sync-stays", "start")
def _keeps_in_sync(s: RecordingStage) -> None:
    """The start does not change the ISR."""
    s.in_sync(1, 2)
    s.step("Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[1,4,3,2]", "[1,2]", "[4]", "[1]")


@TARGETS.vector("partition.start.reorders", "no-op-target")
def _reorders(s: RecordingStage) -> None:
    """A reassignment to the same replicas in another order completes at once."""
    s.step("Alter([3,1,2])")
    s.alter(3, 1, 2)
    s.row("[3,1,2]", "[1,2,3]", "[]", "[]")
    s.leads(1, 0)
    s.listed(expected={})


@TARGETS.vector("partition.start.broker-away", "leader-and-isr-fields", "mixed-versions")
def _tells_who_comes_back(s: RecordingStage) -> None:
    """A broker that was down is notified of its replica when it is back."""
    s.fail_broker(4)
    s.step("Alter([4,3,2]) while 4 is away")
    s.alter(4, 3, 2)
    s.notifies([1, 3, 2])
    s.step("4 is back")
    s.start_broker(4)
    s.notifies([4])


@TARGETS.vector("partition.start.catches-up", "list")
def _catches_up(s: RecordingStage) -> None:
    """An added replica that gets in sync does not complete the reassignment by itself."""
    s.alter(4, 3, 2)
    s.step("leader 1 extends the ISR by 4")
    s.in_sync(1, 2, 3, 4)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.start.nobody-leads", "leader-and-isr-fields", configuration=SINGLE)
def _nobody_leads(s: RecordingStage) -> None:
    """A partition without a leader waits for the replica in sync."""
    s.alter(1, 4)
    s.step("1, which alone is in sync, fails")
    s.fail_broker(1)
    s.leads(None, 1)
    s.step("1 is back")
    s.start_broker(1)
    s.leads(1, 2)


@TARGETS.vector("partition.start.kafka", "start", configuration=KAFKA)
def _kafka_order(s: RecordingStage) -> None:
    """Kafka's R is the target, then RR in ascending order."""
    s.step("Alter([4,3])")
    s.alter(4, 3)
    s.row("[4,3,1,2]", "[1,2,3]", "[4]", "[1,2]")

"""S27.  A second reassignment replaces the first."""

from dataclasses import replace

from kraft_partitions.decisions import KAFKA_4, KIP
from kraft_partitions.scenarios.cancelling import moving
from kraft_partitions.scenarios.scenario import PartitionScenario, PartitionVariants, cluster
from kraft_partitions.scenarios.stage import PartitionStage

VARIANTS = PartitionVariants()

MOVING = "[2,3,1,4,6]"


def _replaced(s: PartitionStage) -> None:
    moving(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row(MOVING, "[1,2,3,4]", "[4,6]", "[2,3]")
    s.notifies([2, 3, 1, 4, 6], stopped=[5])
    s.leads(1, 0)


@VARIANTS.variant("right", cluster(6))
def right(s: PartitionStage) -> None:
    """Base [1,2,3]; 5 is stopped, 6 is waited for."""
    # 5 is stopped at once, 4 keeps what it has.
    _replaced(s)
    s.step("6 catches up")
    s.in_sync(1, 2, 3, 4, 6)
    s.row(MOVING, "[1,2,3,4,6]", "[4,6]", "[2,3]")
    s.complete()
    s.row("[1,4,6]", "[1,4,6]", "[]", "[]")
    s.notifies([1, 4, 6], stopped=[2, 3])


@VARIANTS.variant("right-cancelled", cluster(6))
def cancelled(s: PartitionStage) -> None:
    """R=[2,3,1], as before the first."""
    # Cancelling gives the replicas from before the first reassignment.
    _replaced(s)
    s.step("Alter(null)")
    s.cancel()
    s.row("[2,3,1]", "[1,2,3]", "[]", "[]")
    s.notifies([2, 3, 1], stopped=[4, 6])


@VARIANTS.variant("right-refused", cluster(6))
def only_five(s: PartitionStage) -> None:
    """Nobody in sync would be left, so it is refused."""
    # Only 5, of the first reassignment, is in sync: the second one would stop it, and is refused.
    moving(s)
    s.step("5 joins the ISR, the others fall out of it")
    s.in_sync(1, 2, 3, 4, 5)
    s.row("[1,2,3,4,5]", "[1,2,3,4,5]", "[4,5]", "[1,2]")
    for broker, in_sync in ((1, "[2,3,4,5]"), (2, "[3,4,5]"), (3, "[4,5]"), (4, "[5]")):
        s.fail_broker(broker)
        s.row("[1,2,3,4,5]", in_sync, "[4,5]", "[1,2]")
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6, answer="INVALID_REPLICA_ASSIGNMENT")
    s.row("[1,2,3,4,5]", "[5]", "[4,5]", "[1,2]")


@VARIANTS.variant("kafka-4", cluster(6, profile=KAFKA_4), "CancelRestores", "CompletesAsAsked", "ListsAreConsistent")
def kafka(s: PartitionStage) -> None:
    """Base is the widened R; a cancellation leaves 4 and 5."""
    # From the widened R: 5 goes on until the end, and a cancellation does not give the old set back.
    moving_kafka(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row("[1,4,6,2,3,5]", "[1,2,3,4]", "[6]", "[2,3,5]")
    s.notifies([1, 4, 6, 2, 3, 5])
    s.step("Alter(null)")
    s.cancel()
    s.row("[1,4,2,3,5]", "[1,2,3,4]", "[]", "[]")
    s.notifies([1, 4, 2, 3, 5], stopped=[6])


def moving_kafka(s: PartitionStage) -> None:
    """S26 steps 0 to 2 with R in Kafka's order."""
    s.step("1. Alter([3,4,5])")
    s.alter(3, 4, 5)
    s.row("[3,4,5,1,2]", "[1,2,3]", "[4,5]", "[1,2]")
    s.step("2. 4 joins the ISR")
    s.in_sync(1, 2, 3, 4)
    s.row("[3,4,5,1,2]", "[1,2,3,4]", "[4,5]", "[1,2]")


@VARIANTS.variant(
    "widened-base",
    cluster(6, profile=replace(KIP, name="kip-widened-base", override_base="replicas")),
    "CancelRestores",
    "CompletesAsAsked",
    "ListsAreConsistent",
)
def from_the_widened(s: PartitionStage) -> None:
    """The same with every other point decided as in KIP-455."""
    # Kafka's base and nothing else of Kafka.
    moving(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row("[2,3,5,1,4,6]", "[1,2,3,4]", "[6]", "[2,3,5]")
    s.step("Alter(null)")
    s.cancel()
    s.row("[2,3,5,1,4]", "[1,2,3,4]", "[]", "[]")


@VARIANTS.without("override", "CompletesAsAsked", "ListsAreConsistent", "ReplicasGrowBeforeTheyShrink", size=6)
def left_over(s: PartitionStage) -> None:
    """5 stays for ever."""
    # 5 is still there and no list mentions it, so that nothing will ever take it away.
    moving(s)
    s.step("Alter([1,4,6])")
    s.alter(1, 4, 6)
    s.row("[2,3,1,4,6,5]", "[1,2,3,4]", "[4,6]", "[2,3]")
    s.step("6 catches up")
    s.in_sync(1, 2, 3, 4, 6)
    s.row("[2,3,1,4,6,5]", "[1,2,3,4,6]", "[4,6]", "[2,3]")
    s.complete()
    s.row("[1,4,6,5]", "[1,4,6]", "[]", "[]")


SCENARIOS = (
    PartitionScenario(
        "S27",
        "s27-override",
        "A second reassignment replaces the first",
        "KIP-455",
        ("partition-reassign.override", "partition-reassign.isr-never-empty"),
        tuple(VARIANTS),
    ),
)

"""S26.  Cancellation, TR = [3,4,5]."""

from kraft_partitions.scenarios.scenario import PartitionScenario, PartitionVariants, cluster
from kraft_partitions.scenarios.stage import A0, B0, PartitionStage

VARIANTS = PartitionVariants()

MOVING = "[1,2,3,4,5]"


def moving(s: PartitionStage) -> None:
    """Steps 0 to 2."""
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.step("1. Alter([3,4,5])")
    s.alter(3, 4, 5)
    s.row(MOVING, "[1,2,3]", "[4,5]", "[1,2]")
    s.step("2. 4 joins the ISR")
    s.in_sync(1, 2, 3, 4)
    s.row(MOVING, "[1,2,3,4]", "[4,5]", "[1,2]")
    s.waits()


@VARIANTS.variant("right", cluster(5))
def right(s: PartitionStage) -> None:
    """R and I are what they were; 4 and 5 are stopped."""
    moving(s)
    s.step("3. Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.notifies([1, 2, 3], stopped=[4, 5])
    s.step("4. Alter(null) again")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.notifies([])


def only_four(s: PartitionStage) -> None:
    """The edge: 4 leads and is alone in sync, since 1, 2 and 3 have been away."""
    moving(s)
    s.step("1, 2 and 3 fall out of the ISR")
    for broker, in_sync in ((1, "[2,3,4]"), (2, "[3,4]"), (3, "[4]")):
        s.fail_broker(broker)
        s.row(MOVING, in_sync, "[4,5]", "[1,2]")
    for broker in (1, 2, 3):
        s.start_broker(broker)
        s.row(MOVING, "[4]", "[4,5]", "[1,2]")
    s.leads(4, 3)


@VARIANTS.variant("right-refused", cluster(5))
def refused(s: PartitionStage) -> None:
    """With I=[4] nothing is cancelled."""
    # I minus AR would be empty, so nothing is cancelled until somebody else is in sync.
    only_four(s)
    s.step("3. Alter(null)")
    s.cancel(answer="INVALID_REPLICA_ASSIGNMENT")
    s.row(MOVING, "[4]", "[4,5]", "[1,2]")
    s.step("3 catches up")
    s.in_sync(3, 4)
    s.row(MOVING, "[3,4]", "[4,5]", "[1,2]")
    s.step("3. Alter(null) again")
    s.cancel()
    s.row("[1,2,3]", "[3]", "[]", "[]")
    s.leads(3, 4)


@VARIANTS.variant("right-unclean", cluster(5, unclean=True))
def unclean(s: PartitionStage) -> None:
    """With unclean election I=[1]."""
    # Where unclean election is allowed the first remaining replica is taken.
    only_four(s)
    s.step("3. Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[1]", "[]", "[]")
    s.leads(1, 4)
    s.notifies([1, 2, 3], stopped=[4, 5])


@VARIANTS.variant("right-batch", cluster(4, assignments={A0: (1, 2, 3), B0: (2, 1)}))
def in_a_batch(s: PartitionStage) -> None:
    """Each partition has its own result."""
    # One request starts A-0, cancels idle B-0 and names A-99: three results, and only A-0 changes.
    s.step("{A-0: [4,3,2], B-0: null, A-99: null}")
    unknown = A0._replace(partition=99)
    s.alter_all(
        {A0: (4, 3, 2), B0: None, unknown: None},
        {A0: "NONE", B0: "NO_REASSIGNMENT_IN_PROGRESS", unknown: "UNKNOWN_TOPIC_OR_PARTITION"},
    )
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")
    s.row("[2,1]", "[1,2]", "[]", "[]", name=B0)
    s.step("List([A-0, B-0, A-99])")
    s.listed(A0, B0, unknown, expected={A0: "[1,4,3,2] | [4] | [1]", B0: "[2,1] | [] | []"})
    s.step("{A-0: null, B-0: [1]}")
    s.alter_all({A0: None, B0: (1,)}, {A0: "NONE", B0: "NONE"})
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.row("[2,1]", "[1,2]", "[]", "[2]", name=B0)
    s.step("without ALTER on CLUSTER")
    s.alter_all({B0: None}, {}, error="CLUSTER_AUTHORIZATION_FAILED", may_alter=False)
    s.row("[2,1]", "[1,2]", "[]", "[2]", name=B0)


@VARIANTS.without("isr-never-empty", "InSyncNeverBelow", size=5)
def nobody_left(s: PartitionStage) -> None:
    """The last replica in sync is deleted."""
    # Without the rule the only replica with all records is stopped and deleted.
    only_four(s)
    s.step("3. Alter(null)")
    s.cancel()
    s.row("[1,2,3]", "[]", "[]", "[]")
    s.leads(None, 4)


@VARIANTS.without("cancel", "CancelRestores", "CompletesAsAsked", size=5)
def lists_alone(s: PartitionStage) -> None:
    """R stays as wide as it is."""
    # A cancellation that empties the lists and leaves R.
    moving(s)
    s.step("3. Alter(null)")
    s.cancel()
    s.row(MOVING, "[1,2,3,4]", "[]", "[]")


SCENARIOS = (
    PartitionScenario(
        "S26",
        "s26-cancellation",
        "Cancellation",
        "KIP-455",
        (
            "partition-reassign.cancel",
            "partition-reassign.cancel-nothing",
            "partition-reassign.isr-never-empty",
            "partition-reassign.per-partition",
        ),
        tuple(VARIANTS),
    ),
)

"""S28.  Nothing to add."""

from dataclasses import replace

from kraft_partitions.decisions import KIP
from kraft_partitions.scenarios.scenario import PartitionScenario, PartitionVariants, cluster
from kraft_partitions.scenarios.stage import PartitionStage

VARIANTS = PartitionVariants()


def _only_the_leader(s: PartitionStage) -> None:
    """R=[1,2,3], leader 1, I=[1]; then Alter([2,3])."""
    s.step("2 and 3 fall out of the ISR")
    s.in_sync(1)
    s.row("[1,2,3]", "[1]", "[]", "[]")
    s.step("Alter([2,3])")
    s.alter(2, 3)
    s.row("[1,2,3]", "[1]", "[]", "[1]")
    s.leads(1, 0)


@VARIANTS.variant("right-meets", cluster(3))
def meets(s: PartitionStage) -> None:
    """Waits until one of 2 and 3 is in sync."""
    # The least that is allowed: one of TR is in sync.
    _only_the_leader(s)
    s.waits()
    s.step("3 catches up")
    s.in_sync(1, 3)
    s.row("[1,2,3]", "[1,3]", "[]", "[1]")
    s.complete()
    s.row("[2,3]", "[3]", "[]", "[]")
    s.leads(3, 1)
    s.notifies([2, 3], stopped=[1])


@VARIANTS.variant("right-contains", cluster(3, profile=replace(KIP, name="kip-target", completes_with="target")))
def contains(s: PartitionStage) -> None:
    """Waits until both are."""
    # All of TR is in sync, which is what should be waited for.
    _only_the_leader(s)
    s.waits()
    s.step("3 catches up")
    s.in_sync(1, 3)
    s.row("[1,2,3]", "[1,3]", "[]", "[1]")
    s.waits()
    s.step("2 catches up")
    s.in_sync(1, 2, 3)
    s.row("[1,2,3]", "[1,2,3]", "[]", "[1]")
    s.complete()
    s.row("[2,3]", "[2,3]", "[]", "[]")
    s.leads(2, 1)


@VARIANTS.variant("right-reordered", cluster(3))
def reordered(s: PartitionStage) -> None:
    """Only the order changes, complete at once."""
    # The same members in another order: complete at once, and 1 leads on.
    s.step("Alter([3,1,2])")
    s.alter(3, 1, 2)
    s.row("[3,1,2]", "[1,2,3]", "[]", "[]")
    s.leads(1, 0)
    s.listed(expected={})
    s.step("Alter([3,1,2]) again changes nothing")
    s.alter(3, 1, 2)
    s.row("[3,1,2]", "[1,2,3]", "[]", "[]")
    s.notifies([])


@VARIANTS.without("isr-never-empty", "InSyncNeverBelow", size=3)
def vacuous(s: PartitionStage) -> None:
    """Acknowledged records are lost."""
    # `AR in the ISR` holds of an empty AR, and the only replica in sync goes.
    _only_the_leader(s)
    s.step("1 goes at once")
    s.complete()
    s.row("[2,3]", "[]", "[]", "[]")
    s.leads(None, 1)


SCENARIOS = (
    PartitionScenario(
        "S28",
        "s28-nothing-to-add",
        "Nothing to add",
        "KIP-455",
        (
            "partition-reassign.isr-never-empty",
            "partition-reassign.complete-in-one-step",
            "partition-reassign.no-op-target",
        ),
        tuple(VARIANTS),
    ),
)

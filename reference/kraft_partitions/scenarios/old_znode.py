"""S29.  The old znode and the API mixed."""

from kraft_partitions.scenarios.scenario import PartitionScenario, PartitionVariants, cluster
from kraft_partitions.scenarios.stage import A0, B0, PartitionStage

VARIANTS = PartitionVariants()

BOTH = cluster(9, assignments={A0: (1, 2, 3), B0: (2, 3, 4)})


def _both(s: PartitionStage) -> None:
    s.step("1. the znode reassigns A and B")
    s.write_znode({A0: (4, 5, 6), B0: (3, 4, 5)})
    s.row("[1,2,3,4,5,6]", "[1,2,3]", "[4,5,6]", "[1,2,3]")
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)
    s.step("2. API: A -> [7,8,9]")
    s.alter(7, 8, 9)
    s.row("[1,2,3,7,8,9]", "[1,2,3]", "[7,8,9]", "[1,2,3]")
    s.notifies([1, 2, 3, 7, 8, 9], stopped=[4, 5, 6])
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)


@VARIANTS.variant("right-failover", BOTH)
def failover(s: PartitionStage) -> None:
    """After the failover A goes where the znode says."""
    # The accepted anomaly: the last accepted request is not the one that is carried out.
    _both(s)
    s.step("3. the controller fails over")
    s.fail_over(2)
    s.row("[1,2,3,4,5,6]", "[1,2,3]", "[4,5,6]", "[1,2,3]")
    s.notifies([1, 2, 3, 4, 5, 6], stopped=[7, 8, 9])
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)
    s.listed(expected={A0: "[1,2,3,4,5,6] | [4,5,6] | [1,2,3]", B0: "[2,3,4,5] | [5] | [2]"})


@VARIANTS.variant("right-ignored", BOTH)
def ignored(s: PartitionStage) -> None:
    """A second write is ignored; without failover the API wins."""
    # Writes while the znode is not empty are ignored; it empties as its partitions come to rest.
    _both(s)
    s.step("a second write")
    s.write_znode({B0: (6, 7, 8)}, ignored=True)
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)
    s.step("B completes")
    s.in_sync(2, 3, 4, 5, name=B0)
    s.row("[2,3,4,5]", "[2,3,4,5]", "[5]", "[2]", name=B0)
    s.complete(B0)
    s.row("[3,4,5]", "[3,4,5]", "[]", "[]", name=B0)
    s.check("the znode", dict(s.state.legacy), {A0: (4, 5, 6)})
    s.step("A completes, with the replicas of the API")
    s.in_sync(1, 2, 3, 7, 8, 9)
    s.row("[1,2,3,7,8,9]", "[1,2,3,7,8,9]", "[7,8,9]", "[1,2,3]")
    s.complete()
    s.row("[7,8,9]", "[7,8,9]", "[]", "[]")
    s.check("the znode", dict(s.state.legacy), {})
    s.step("the znode may be written again")
    s.write_znode({B0: (6, 7, 8)})
    s.row("[3,4,5,6,7,8]", "[3,4,5]", "[6,7,8]", "[3,4,5]", name=B0)


@VARIANTS.variant("right-refused", BOTH)
def refused(s: PartitionStage) -> None:
    """A refused target is deleted from the znode, and B moves."""
    # What the znode asks wrongly of A is gone from there, or a new controller would try it again, and it may be right
    # by then: 10 has been registered, or somebody is in sync again.
    s.step("1. API: A -> [7,8,9]")
    s.alter(7, 8, 9)
    s.row("[1,2,3,7,8,9]", "[1,2,3]", "[7,8,9]", "[1,2,3]")
    s.step("2. the znode reassigns A and B, A to a broker that there is not")
    s.write_znode({A0: (4, 10), B0: (3, 4, 5)})
    s.row("[1,2,3,7,8,9]", "[1,2,3]", "[7,8,9]", "[1,2,3]")
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)
    s.check("the znode", dict(s.state.legacy), {B0: (3, 4, 5)})
    s.step("3. the controller fails over")
    s.fail_over(2)
    s.row("[1,2,3,7,8,9]", "[1,2,3]", "[7,8,9]", "[1,2,3]")
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)
    s.check("the znode", dict(s.state.legacy), {B0: (3, 4, 5)})


SCENARIOS = (
    PartitionScenario(
        "S29",
        "s29-old-znode",
        "The old znode and the API mixed",
        "KIP-455",
        ("partition-reassign.legacy-znode", "partition-reassign.legacy-znode-precedence"),
        tuple(VARIANTS),
    ),
)

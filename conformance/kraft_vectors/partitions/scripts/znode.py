"""The old znode /admin/reassign_partitions."""

from kraft_partitions.scenarios.stage import A0, B0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import NINE, PartitionTargets

TARGETS = PartitionTargets(NINE)


@TARGETS.vector("partition.znode", "legacy-znode", "start")
def _acted_on(s: RecordingStage) -> None:
    """The znode starts a batch of reassignments."""
    s.step("A and B")
    s.write_znode({A0: (4, 5, 6), B0: (3, 4, 5)})
    s.row("[1,2,3,4,5,6]", "[1,2,3]", "[4,5,6]", "[1,2,3]")
    s.row("[2,3,4,5]", "[2,3,4]", "[5]", "[2]", name=B0)


@TARGETS.vector("partition.znode.ignored", "legacy-znode")
def _ignored(s: RecordingStage) -> None:
    """A write to the znode is ignored until it is empty."""
    s.write_znode({A0: (4, 5, 6)})
    s.step("a second write, while the first is not done")
    s.write_znode({B0: (3, 4, 5)}, ignored=True)
    s.listed(expected={A0: "[1,2,3,4,5,6] | [4,5,6] | [1,2,3]"})


@TARGETS.vector("partition.znode.empties", "legacy-znode")
def _empties(s: RecordingStage) -> None:
    """The znode is empty after its reassignments have completed."""
    s.write_znode({B0: (3, 4, 5)})
    s.in_sync(2, 3, 4, 5, name=B0)
    s.step("B completes, and the znode is empty")
    s.complete(B0)
    s.step("so that it can be written again")
    s.write_znode({A0: (4, 5, 6)})
    s.listed(expected={A0: "[1,2,3,4,5,6] | [4,5,6] | [1,2,3]"})


@TARGETS.vector("partition.znode.wins", "legacy-znode-precedence")
def _wins(s: RecordingStage) -> None:
    """On failover the znode takes precedence over the API."""
    s.write_znode({A0: (4, 5, 6)})
    s.alter(7, 8, 9)
    s.step("node 2 takes over: A goes where the znode says")
    s.fail_over(2)
    s.notifies([1, 2, 3, 4, 5, 6], stopped=[7, 8, 9])
    s.listed(expected={A0: "[1,2,3,4,5,6] | [4,5,6] | [1,2,3]"})


@TARGETS.vector("partition.znode.refused", "legacy-znode")
def _refused(s: RecordingStage) -> None:
    """A refused reassignment is removed from the znode."""
    s.alter(7, 8, 9)
    s.step("what it asks of A is wrong, what it asks of B is not")
    s.write_znode({A0: (4, 10), B0: (3, 4, 5)})
    s.check("the znode", dict(s.state.legacy), {B0: (3, 4, 5)})
    s.step("node 2 takes over")
    s.fail_over(2)
    s.listed(expected={A0: "[1,2,3,7,8,9] | [7,8,9] | [1,2,3]", B0: "[2,3,4,5] | [5] | [2]"})


@TARGETS.vector("partition.znode.refused-empties", "legacy-znode")
def _refused_empties(s: RecordingStage) -> None:
    """A znode with only refused reassignments is empty at once."""
    s.alter(7, 8, 9)
    s.write_znode({A0: (4, 10)})
    s.step("what it asked was refused, so that it is empty")
    s.write_znode({B0: (3, 4, 5)})
    s.listed(B0, expected={B0: "[2,3,4,5] | [5] | [2]"})


@TARGETS.vector("partition.znode.cancelled", "legacy-znode", "cancel")
def _cancelled(s: RecordingStage) -> None:
    """The API cancels a reassignment of the znode."""
    s.write_znode({A0: (4, 5, 6)})
    s.step("the API cancels it: the znode is empty, and stays so when node 2 takes over")
    s.cancel()
    s.check("the znode", dict(s.state.legacy), {})
    s.fail_over(2)
    s.listed(expected={})

"""Requests: who may ask whom, and each error."""

from kraft_conformance.vectors.partitions.staging import RecordingStage
from kraft_conformance.vectors.partitions.target import TWO_TOPICS, PartitionTarget
from kraft_reference.partitions.events import AlterPartition, DeleteTopic, ListPartitionReassignments
from kraft_reference.partitions.scenarios.stage import A0, B0

_A99 = A0._replace(partition=99)
_MISSING = A0._replace(topic="missing")
UNKNOWN, INVALID = "UNKNOWN_TOPIC_OR_PARTITION", "INVALID_REPLICA_ASSIGNMENT"


def _other_node(s: RecordingStage) -> None:
    s.step("to node 2, which is not controller")
    s.alter_all({A0: (4, 3, 2)}, {}, node=2, error="NOT_CONTROLLER")
    s.happen(ListPartitionReassignments(2))
    s.happen(AlterPartition(2, 1, A0, 0, 0, frozenset({1, 2})))


def _deposed(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("node 2 cancels")
    s.cancel()
    s.step("to node 1, which is controller no more")
    s.alter_all({A0: (2, 3, 4)}, {}, node=1, error="NOT_CONTROLLER")
    s.happen(ListPartitionReassignments(1))
    s.listed(expected={})


def _unauthorized(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("without ALTER on CLUSTER")
    s.alter_all({A0: None}, {}, error="CLUSTER_AUTHORIZATION_FAILED", may_alter=False)
    s.step("without DESCRIBE on CLUSTER")
    s.happen(ListPartitionReassignments(1, may_describe=False))
    s.step("with both it is still there")
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


def _unauthorized_elsewhere(s: RecordingStage) -> None:
    s.step("without ALTER, to a node that is not controller")
    s.alter_all({A0: (4, 3, 2)}, {}, node=2, error="CLUSTER_AUTHORIZATION_FAILED", may_alter=False)


def _unknown(s: RecordingStage) -> None:
    s.step("a partition, and a topic, that there is not")
    s.alter_all({_A99: (1, 2)}, {_A99: UNKNOWN})
    s.alter_all({_MISSING: (1, 2)}, {_MISSING: UNKNOWN})
    s.step("to cancel")
    s.cancel(_A99, answer=UNKNOWN)


def _deleting(s: RecordingStage) -> None:
    s.alter(4, name=B0)
    s.step("the deletion of B begins")
    s.happen(DeleteTopic("B"), refused=False)
    s.step("to start, to cancel, to list")
    s.alter(5, name=B0, answer=UNKNOWN)
    s.cancel(B0, answer=UNKNOWN)
    s.listed(expected={})
    s.listed(B0, expected={})


def _invalid(target: tuple[int, ...]) -> PartitionTarget:
    def script(s: RecordingStage) -> None:
        s.step(f"Alter({list(target)})")
        s.alter(*target, answer=INVALID)
        s.listed(expected={})

    kind = {(): "empty", (1, -2): "negative", (1, 99): "no-broker", (1, 1): "twice"}[target]
    script.__name__ = f"invalid_{kind.replace('-', '_')}"
    title = f"{list(target)} is no assignment"
    return PartitionTarget(f"partition.invalid.{kind}", title, ("invalid-assignment",), script)


def _invalid_while_moving(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("a wrong list leaves what is in progress alone")
    s.alter(4, 99, answer=INVALID)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


def _order(s: RecordingStage) -> None:
    s.step("what does not exist comes before what is wrong with the list")
    s.alter_all({_A99: ()}, {_A99: UNKNOWN})


def _batch(s: RecordingStage) -> None:
    s.step("the first and the last are refused")
    s.alter_all({_A99: None, A0: (4, 3, 2), B0: ()}, {_A99: UNKNOWN, A0: "NONE", B0: INVALID})
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")
    s.row("[2,1]", "[1,2]", "[]", "[]", name=B0)
    s.step("one is cancelled, the other started")
    s.alter_all({A0: None, B0: (3,)}, {A0: "NONE", B0: "NONE"})
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.row("[2,1,3]", "[1,2]", "[3]", "[2,1]", name=B0)


def _not_named(s: RecordingStage) -> None:
    s.alter(4, 3, 2)
    s.step("what is not named goes on")
    s.alter(3, name=B0)
    s.cancel(B0)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


TARGETS: tuple[PartitionTarget, ...] = (
    PartitionTarget("partition.request.other-node", "The controller answers alone", ("controller-only",), _other_node),
    PartitionTarget("partition.request.deposed", "Who was controller writes nothing", ("controller-only",), _deposed),
    PartitionTarget("partition.request.unauthorized", "Rights on the cluster", ("authorization",), _unauthorized),
    PartitionTarget(
        "partition.request.unauthorized-elsewhere",
        "The right is looked at first",
        ("error-order", "authorization"),
        _unauthorized_elsewhere,
    ),
    PartitionTarget("partition.request.unknown", "No such partition", ("unknown-partition", "error-order"), _unknown),
    PartitionTarget(
        "partition.request.deleting",
        "A topic that is being deleted is not known",
        ("unknown-partition",),
        _deleting,
        TWO_TOPICS,
    ),
    *map(_invalid, ((), (1, -2), (1, 99), (1, 1))),
    PartitionTarget("partition.invalid.moving", "Nothing changes", ("invalid-assignment",), _invalid_while_moving),
    PartitionTarget("partition.request.error-order", "Two things are wrong", ("error-order",), _order),
    PartitionTarget("partition.request.batch", "Each has its own result", ("per-partition",), _batch, TWO_TOPICS),
    PartitionTarget("partition.request.not-named", "Others go on", ("per-partition",), _not_named, TWO_TOPICS),
)

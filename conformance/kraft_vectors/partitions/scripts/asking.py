"""Requests: who may ask whom, and each error."""

from kraft_partitions.events import AlterPartition, DeleteTopic, ListPartitionReassignments
from kraft_partitions.scenarios.stage import A0, B0
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.partitions.target import TWO_TOPICS, PartitionTargets

TARGETS = PartitionTargets()

_A99 = A0._replace(partition=99)
_MISSING = A0._replace(topic="missing")
UNKNOWN, INVALID = "UNKNOWN_TOPIC_OR_PARTITION", "INVALID_REPLICA_ASSIGNMENT"


@TARGETS.vector("partition.request.other-node", "controller-only")
def _other_node(s: RecordingStage) -> None:
    """Only the controller accepts a reassignment request."""
    s.step("to node 2, which is not controller")
    s.alter_all({A0: (4, 3, 2)}, {}, node=2, error="NOT_CONTROLLER")
    s.happen(ListPartitionReassignments(2))
    s.happen(AlterPartition(2, 1, A0, 0, 0, frozenset({1, 2})))


@TARGETS.vector("partition.request.deposed", "controller-only")
def _deposed(s: RecordingStage) -> None:
    """A former controller writes nothing."""
    s.alter(4, 3, 2)
    s.fail_over(2)
    s.step("node 2 cancels")
    s.cancel()
    s.step("to node 1, which is controller no more")
    s.alter_all({A0: (2, 3, 4)}, {}, node=1, error="NOT_CONTROLLER")
    s.happen(ListPartitionReassignments(1))
    s.listed(expected={})


@TARGETS.vector("partition.request.unauthorized", "authorization")
def _unauthorized(s: RecordingStage) -> None:
    """Requests without ALTER or DESCRIBE rights on the cluster are refused."""
    s.alter(4, 3, 2)
    s.step("without ALTER on CLUSTER")
    s.alter_all({A0: None}, {}, error="CLUSTER_AUTHORIZATION_FAILED", may_alter=False)
    s.step("without DESCRIBE on CLUSTER")
    s.happen(ListPartitionReassignments(1, may_describe=False))
    s.step("with both it is still there")
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.request.unauthorized-elsewhere", "error-order", "authorization")
def _unauthorized_elsewhere(s: RecordingStage) -> None:
    """Missing rights take precedence over NOT_CONTROLLER."""
    s.step("without ALTER, to a node that is not controller")
    s.alter_all({A0: (4, 3, 2)}, {}, node=2, error="CLUSTER_AUTHORIZATION_FAILED", may_alter=False)


@TARGETS.vector("partition.request.unknown", "unknown-partition", "error-order")
def _unknown(s: RecordingStage) -> None:
    """A request for a partition that does not exist is refused."""
    s.step("a partition, and a topic, that there is not")
    s.alter_all({_A99: (1, 2)}, {_A99: UNKNOWN})
    s.alter_all({_MISSING: (1, 2)}, {_MISSING: UNKNOWN})
    s.step("to cancel")
    s.cancel(_A99, answer=UNKNOWN)


@TARGETS.vector("partition.request.deleting", "unknown-partition", configuration=TWO_TOPICS)
def _deleting(s: RecordingStage) -> None:
    """A request for a topic that is being deleted is refused."""
    s.alter(4, name=B0)
    s.step("the deletion of B begins")
    s.happen(DeleteTopic("B"), refused=False)
    s.step("to start, to cancel, to list")
    s.alter(5, name=B0, answer=UNKNOWN)
    s.cancel(B0, answer=UNKNOWN)
    s.listed(expected={})
    s.listed(B0, expected={})


def _invalid(kind: str, *target: int) -> None:
    def script(s: RecordingStage) -> None:
        s.step(f"Alter({list(target)})")
        s.alter(*target, answer=INVALID)
        s.listed(expected={})

    script.__name__, script.__doc__ = f"invalid_{kind.replace('-', '_')}", f"The target {list(target)} is invalid."
    TARGETS.vector(f"partition.invalid.{kind}", "invalid-assignment")(script)


_invalid("empty")
_invalid("negative", 1, -2)
_invalid("no-broker", 1, 99)
_invalid("twice", 1, 1)


@TARGETS.vector("partition.invalid.moving", "invalid-assignment")
def _invalid_while_moving(s: RecordingStage) -> None:
    """An invalid target during a reassignment changes nothing."""
    s.alter(4, 3, 2)
    s.step("a wrong list leaves what is in progress alone")
    s.alter(4, 99, answer=INVALID)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})


@TARGETS.vector("partition.request.error-order", "error-order")
def _order(s: RecordingStage) -> None:
    """An unknown partition takes precedence over an invalid target."""
    s.step("what does not exist comes before what is wrong with the list")
    s.alter_all({_A99: ()}, {_A99: UNKNOWN})


@TARGETS.vector("partition.request.batch", "per-partition", configuration=TWO_TOPICS)
def _batch(s: RecordingStage) -> None:
    """Each partition of a request has its own result."""
    s.step("the first and the last are refused")
    s.alter_all({_A99: None, A0: (4, 3, 2), B0: ()}, {_A99: UNKNOWN, A0: "NONE", B0: INVALID})
    s.row("[1,4,3,2]", "[1,2,3]", "[4]", "[1]")
    s.row("[2,1]", "[1,2]", "[]", "[]", name=B0)
    s.step("one is cancelled, the other started")
    s.alter_all({A0: None, B0: (3,)}, {A0: "NONE", B0: "NONE"})
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.row("[2,1,3]", "[1,2]", "[3]", "[2,1]", name=B0)


@TARGETS.vector("partition.request.not-named", "per-partition", configuration=TWO_TOPICS)
def _not_named(s: RecordingStage) -> None:
    """Reassignments of other partitions continue."""
    s.alter(4, 3, 2)
    s.step("what is not named goes on")
    s.alter(3, name=B0)
    s.cancel(B0)
    s.listed(expected={A0: "[1,4,3,2] | [4] | [1]"})

"""Any partition that can be reassigned, by its name: one of a topic, or the quorum's own."""

from typing import Any

from kraft_conformance.directories import partition_text, quorum_reassignment
from kraft_conformance.directories.quorum_text import quorum_document
from kraft_conformance.directories.reassigned_cluster import ReassignedCluster
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_reference.partitions.partition import Assignment, TopicPartition


def replicas(there: ReassignedCluster) -> dict[TopicPartition, Assignment]:
    """What a way back has to name: the replicas of all partitions; of the quorum's own the voters."""
    found: dict[TopicPartition, Assignment] = {}
    if there.maybe_partitions is not None:
        found |= {name: part.replicas for name, part in there.partitions.history.state.partitions.items()}
    if there.maybe_quorum is not None:
        found[QUORUM] = quorum_reassignment.quorum_now(there.quorum).ids
    return found


def target_of(there: ReassignedCluster, name: TopicPartition) -> Assignment:
    """The target of a partition that is being reassigned."""
    if name == QUORUM:
        return tuple(sorted(quorum_reassignment.quorum_now(there.quorum).target or ()))
    return there.partitions.history.state.partitions[name].target


def verified(there: ReassignedCluster, name: TopicPartition, target: Assignment) -> tuple[str, str]:
    """How far a partition is on the way to a target: complete, in progress, other or unknown; and that in words."""
    if name == QUORUM:
        return quorum_reassignment.verified(there.quorum, target)
    return partition_text.verified(there.partitions.history, name, target)


def document(there: ReassignedCluster, name: TopicPartition) -> dict[str, Any]:
    """A partition as JSON values."""
    if name == QUORUM:
        return quorum_document(there.quorum)
    return partition_text.partition_document(there.partitions.history, name)

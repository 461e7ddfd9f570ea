"""Configuration of a cluster and its topics, which does not change while the cluster runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraft_partitions.decisions import KIP, ReassignmentProfile
from kraft_partitions.partition import Assignment, TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionConfiguration:
    """A cluster and its topics when the first controller starts: all brokers alive, all replicas in sync."""

    brokers: frozenset[int]
    """Ids of the brokers that are registered, alive or not.  Rule: partition-reassign.invalid-assignment."""
    assignments: Mapping[TopicPartition, Assignment]
    """The replicas of each partition."""
    controllers: tuple[int, ...] = (1,)
    """Ids of the nodes that may be controller; the first one is to begin with."""
    unclean_topics: frozenset[str] = frozenset()
    """Topics with unclean.leader.election.enable.  Rule: partition-reassign.isr-never-empty."""
    profile: ReassignmentProfile = field(default=KIP)

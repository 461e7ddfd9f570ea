"""A partition of a topic, as its controller knows it."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias


class TopicPartition(NamedTuple):
    """The name of a partition."""

    topic: str
    partition: int

    def __str__(self) -> str:
        """As the texts write it, `A-0`."""
        return f"{self.topic}-{self.partition}"


class Partition(NamedTuple):
    """The state of one partition."""

    replicas: tuple[int, ...]
    """R: ids of the brokers that hold it, the preferred leader first."""
    in_sync: frozenset[int]
    """I: those of them that have every acknowledged record."""
    adding: tuple[int, ...] = ()
    """AR: those of R that a reassignment adds."""
    removing: tuple[int, ...] = ()
    """RR: those of R that it takes away in the end."""
    leader: int | None = None
    """None while no replica that may lead is alive."""
    leader_epoch: int = 0
    """Grows with each change of the leader."""
    partition_epoch: int = 0
    """Grows with each change that is stored; ZooKeeper's version of the znode."""

    @property
    def is_reassigned(self) -> bool:
        """True while a reassignment is in progress.  Rule: partition-reassign.persisted."""
        return bool(self.adding or self.removing)

    @property
    def original(self) -> tuple[int, ...]:
        """R minus AR: the replicas from before the reassignment.  Rule: partition-reassign.cancel."""
        return without(self.replicas, self.adding)

    @property
    def target(self) -> tuple[int, ...]:
        """R minus RR: the replicas TR that were asked for, in their order."""
        return without(self.replicas, self.removing)


Partitions: TypeAlias = Mapping[TopicPartition, Partition]

Assignment: TypeAlias = tuple[int, ...]
"""Ids of replicas in the order of a request."""


def without(replicas: Assignment, others: Assignment) -> Assignment:
    """The replicas that are not among the others, in their order."""
    return tuple([replica for replica in replicas if replica not in others])

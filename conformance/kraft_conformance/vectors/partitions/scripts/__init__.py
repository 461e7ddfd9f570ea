"""The short scripts: each for one rule or a few."""

from kraft_conformance.vectors.partitions.scripts import (
    asking,
    both,
    cancelling,
    completing,
    listing,
    replacing,
    starting,
    taking_over,
    znode,
)
from kraft_conformance.vectors.partitions.target import PartitionTarget

PARTITION_TARGETS: tuple[PartitionTarget, ...] = (
    *starting.TARGETS,
    *completing.TARGETS,
    *cancelling.TARGETS,
    *replacing.TARGETS,
    *asking.TARGETS,
    *listing.TARGETS,
    *taking_over.TARGETS,
    *znode.TARGETS,
    *both.TARGETS,
)
"""All of them."""

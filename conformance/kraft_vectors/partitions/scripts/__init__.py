"""Short scripts, each for a few rules."""

from importlib import import_module
from pkgutil import iter_modules

from kraft_vectors.partitions.target import PartitionTarget

PARTITION_TARGETS: tuple[PartitionTarget, ...] = tuple(
    target for module in iter_modules(__path__) for target in import_module(f"{__name__}.{module.name}").TARGETS
)
"""Targets of all scripts."""

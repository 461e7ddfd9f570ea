"""Short scripts of cluster runs, each for a few rules."""

from importlib import import_module
from pkgutil import iter_modules

from kraft_vectors.target import Target

TARGETS: tuple[Target, ...] = tuple(
    target for module in iter_modules(__path__) for target in import_module(f"{__name__}.{module.name}").TARGETS
)
"""Targets of all scripts."""

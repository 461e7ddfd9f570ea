"""Short scripts, each for one rule or a few, over real runs of a cluster."""

from importlib import import_module
from pkgutil import iter_modules

from kraft_vectors.target import Target

TARGETS: tuple[Target, ...] = tuple(
    target for module in iter_modules(__path__) for target in import_module(f"{__name__}.{module.name}").TARGETS
)
"""All of them."""

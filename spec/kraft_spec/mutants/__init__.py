"""Rules broken on purpose, in the model and in the reference: what shows that a rule carries weight.

One entry of `tables/*.toml` is one mutant.
"""

from kraft_spec.mutants.catalogue import (
    Catalogue,
    MutantError,
    load_catalogue,
    model_edits,
    read_catalogue,
    reference_edits,
    seeded,
)
from kraft_spec.mutants.mutant import Covered, Exhaustive, Mutant, NotModelled, Schedule

__all__ = [
    "Catalogue",
    "Covered",
    "Exhaustive",
    "Mutant",
    "MutantError",
    "NotModelled",
    "Schedule",
    "load_catalogue",
    "model_edits",
    "read_catalogue",
    "reference_edits",
    "seeded",
]

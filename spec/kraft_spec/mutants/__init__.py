"""Rules broken on purpose, in the model and in the reference: what shows that a rule carries weight.

One entry of `tables/*.toml` is one mutant, one file of `counterexamples/` what TLC found without its rule.
"""

from kraft_spec.mutants.catalogue import (
    Catalogue,
    MutantError,
    load_catalogue,
    model_edits,
    read_catalogue,
    reference_edits,
)
from kraft_spec.mutants.evidence import EvidenceReport, Search, gather
from kraft_spec.mutants.mutant import Covered, Exhaustive, Mutant, NotModelled, Schedule, Simulated
from kraft_spec.mutants.recorded import counterexample_of, recorded_bytes, recorded_counterexample

__all__ = [
    "Catalogue",
    "Covered",
    "EvidenceReport",
    "Exhaustive",
    "Mutant",
    "MutantError",
    "NotModelled",
    "Schedule",
    "Search",
    "Simulated",
    "counterexample_of",
    "gather",
    "load_catalogue",
    "model_edits",
    "read_catalogue",
    "recorded_bytes",
    "recorded_counterexample",
    "reference_edits",
]

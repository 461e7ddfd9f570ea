"""Experiments: the reference and the model without one rule, for what the rule is needed for.

An experiment is an edit of both, that leaves one rule out and keeps all others; nothing in them knows of it.
A scenario's wrong variant, a trace whose header names rules in `switched_off`, and an adapter that is to be found wrong
are the reference and the model with such edits.
`kraft_spec.experiments.replicas` makes what runs without rules, and `kraft_spec.experiments.playing` runs it: they
import the reference and its scenarios, which nobody needs who reads the tables.
"""

from kraft_spec.experiments.catalogue import (
    ExperimentError,
    model_edits_without,
    reference_edits_without,
    switchable_partition_rules,
    switchable_rules,
)
from kraft_spec.experiments.models import model_without

__all__ = [
    "ExperimentError",
    "model_edits_without",
    "model_without",
    "reference_edits_without",
    "switchable_partition_rules",
    "switchable_rules",
]

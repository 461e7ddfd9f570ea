"""Experiments: the reference and the model without one rule, for what the rule is needed for.

An experiment is an edit of both, that leaves one rule out and keeps all others; nothing in them knows of it.
A scenario's wrong variant, a trace whose header names rules in `switched_off`, and an adapter that is to be found wrong
are the reference and the model with such edits.
"""

from kraft_spec.experiments.catalogue import (
    ExperimentError,
    model_edits_without,
    reference_edits_without,
    switchable_partition_rules,
    switchable_rules,
)
from kraft_spec.experiments.models import model_without
from kraft_spec.experiments.playing import (
    controllers_without,
    failure_of,
    play,
    play_partitions,
    replicas_without,
    simulation_of,
)

__all__ = [
    "ExperimentError",
    "controllers_without",
    "failure_of",
    "model_edits_without",
    "model_without",
    "play",
    "play_partitions",
    "reference_edits_without",
    "replicas_without",
    "simulation_of",
    "switchable_partition_rules",
    "switchable_rules",
]

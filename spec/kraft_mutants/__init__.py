"""Mutants: rules broken on purpose, in the model, in the reference or in both.

What is a mutant?
    An entry of `tables/*.toml`: texts of the TLA+ modules and of the reference, and their replacements.
    Nothing in the model or the reference knows of it.

What is a mutant for?
    It shows that a safety rule is needed: its `evidence` is what TLC finds wrong in the mutated model.
    It shows that a tool detects a broken rule: vectors, random runs and the checker must find the mutated reference.
    It explains a failure: `attribution` replays a wrong step with each mutant and reports those that do the same.

Which mutants may a trace name?
    Those that omit one rule (`omits`): the header's `switched_off` lists the rules, and the checker mutates the model
    in the same way.

How is a mutant made?
    `models` copies the TLA+ modules and edits the copy.
    `replicas` compiles the edited modules of the reference beside the others, whose types they share.
    `kraft_spec.edits.edited_packages` gives a process of its own the edited packages.

It imports `kraft_spec`, `kraft_partitions`, `kraft_simulation` and `kraft_reference`.
"""

from kraft_mutants.catalogue import (
    Catalogue,
    MutantError,
    find_mutants,
    load_catalogue,
    model_edits,
    omittable_partition_rules,
    omittable_rules,
    omitted_rule,
    omitted_rules,
    read_catalogue,
    reference_edits,
)
from kraft_mutants.mutant import Covered, Exhaustive, Mutant, NotModelled, Schedule

__all__ = [
    "Catalogue",
    "Covered",
    "Exhaustive",
    "Mutant",
    "MutantError",
    "NotModelled",
    "Schedule",
    "find_mutants",
    "load_catalogue",
    "model_edits",
    "omittable_partition_rules",
    "omittable_rules",
    "omitted_rule",
    "omitted_rules",
    "read_catalogue",
    "reference_edits",
]

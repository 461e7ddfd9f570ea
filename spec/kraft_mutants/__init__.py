"""Mutants: rules broken on purpose, in the model, in the reference or in both.

A mutant is an entry of `tables/*.toml`: texts of the TLA+ modules and of the reference, and their replacements.
The model and the reference do not mention it.

- It shows that a safety rule is needed: its `evidence` is the property that TLC finds violated in the mutated model.
- It shows that a tool detects a broken rule: vectors, random runs and the checker must detect the mutated reference.
- It explains a failure: `attribution` replays a wrong step with each mutant and reports those that reproduce it.

A trace may name mutants that omit one rule (`omits`): the header's `switched_off` lists the rules, and the checker
mutates the model in the same way.

`models` copies the TLA+ modules and edits the copy. `replicas` compiles the edited modules of the reference; they share
types with the others. `kraft_spec.edits.edited_packages` gives a subprocess the edited packages.

Imports `kraft_spec`, `kraft_partitions`, `kraft_simulation` and `kraft_reference`.
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

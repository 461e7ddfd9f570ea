"""A mutant: a rule broken on purpose, in the model, in the reference, or in both."""

from typing import Literal

import msgspec

from kraft_spec.edits import ModelEdit, ReferenceEdit


class Exhaustive(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="exhaustive"):
    """A shortest counterexample, by breadth-first search of a slice."""

    check: str
    """Name in `kraft_spec.models.CHECKS`: the slice whose bounds are used."""
    property: str
    """What TLC finds violated first, of what is checked: see `properties`."""
    states: int
    """Length of the counterexample, its first state included."""
    definitions: str = ""
    """TLA+ definitions that narrow the slice's bounds for this mutant."""
    constants: dict[str, str] = {}
    """More overrides of the configuration: operator to its replacement."""
    initial: str = ""
    """The initial predicate instead of the slice's."""
    properties: tuple[str, ...] = ()
    """Check only these; all of the slice's if empty."""


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="schedule"):
    """TLC held to a schedule of the broken reference, line by line."""

    property: str
    """What TLC finds violated on the last line."""
    scenario: str = ""
    """A named scenario's variant, "disk-loss/static-ids"; or nothing, and these:"""
    workload: str = ""
    """The first seed of this workload whose run violates something."""
    seeds: int = 100
    """How many seeds to try, from 0."""
    steps: int = 400
    """Events of the safety phase of each."""


class Covered(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="covered"):
    """No counterexample exists: other rules do the work of the rule."""

    rules: tuple[str, ...]
    """Rules that keep the properties without this one."""
    reason: str
    checks: tuple[str, ...]
    """Slices searched to their end without a counterexample."""
    definitions: str = ""
    """TLA+ definitions for the bounds of all of them."""
    constants: dict[str, str] = {}
    """More overrides of their configurations: the broken model does not allow a reduction."""


Evidence = Exhaustive | Schedule | Covered


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule broken on purpose."""

    name: str
    rules: tuple[str, ...]
    """Ids of the rules it breaks, the one that it is about first."""
    bug: str
    """What it does wrong, in a sentence."""
    model: tuple[ModelEdit, ...] = ()
    reference: tuple[ReferenceEdit, ...] = ()
    extends: tuple[str, ...] = ()
    """Names of mutants whose edits it makes before its own."""
    omits: tuple[str, ...] = ()
    """Rules that it omits and changes nothing else; a trace, a scenario and `--mutant` may name it by the rule.
    Of several: it extends the mutants that omit one each, and is made where both rules are omitted."""
    evidence: Evidence | None = None
    """What the broken model violates; None for a mutant of the reference alone."""
    sample: bool = False
    """True if every push checks its evidence."""


class NotModelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A safety rule that the model cannot break, and why."""

    rule: str
    reason: str


class MutantFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the catalogue."""

    mutant: tuple[Mutant, ...] = ()
    not_modelled: tuple[NotModelled, ...] = ()


Layer = Literal["model", "reference"]

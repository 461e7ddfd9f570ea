"""Types of the catalogue: a mutant is a rule broken on purpose, in the model, in the reference, or in both."""

from typing import Literal

import msgspec

from kraft_spec.edits import ModelEdit, ReferenceEdit


class Exhaustive(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="exhaustive"):
    """A shortest counterexample, by breadth-first search of a model check."""

    check: str
    """Name in `kraft_spec.models.CHECKS`: the model check whose bounds are used."""
    property: str
    """Property that TLC finds violated first, among `properties`."""
    states: int
    """Length of the counterexample, including its first state."""
    definitions: str = ""
    """TLA+ definitions that narrow the bounds for this mutant."""
    constants: dict[str, str] = {}
    """More overrides of the configuration: operator to its replacement."""
    initial: str = ""
    """Initial predicate, instead of the model check's."""
    properties: tuple[str, ...] = ()
    """Check only these; empty: all of the model check."""


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="schedule"):
    """A schedule of the mutated reference that TLC follows line by line."""

    property: str
    """Property that TLC finds violated on the last line."""
    scenario: str = ""
    """A named scenario's variant, such as "disk-loss/static-ids"; empty if the fields below give a random run."""
    workload: str = ""
    """The first seed of this workload whose run violates a property."""
    seeds: int = 100
    """Number of seeds to try, from 0."""
    steps: int = 400
    """Number of events of each safety phase."""


class Covered(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="by", tag="covered"):
    """Evidence that no counterexample exists: other rules keep the properties."""

    rules: tuple[str, ...]
    """Rules that keep the properties without this one."""
    reason: str
    checks: tuple[str, ...]
    """Model checks searched completely without a counterexample."""
    definitions: str = ""
    """TLA+ definitions for the bounds of all of them."""
    constants: dict[str, str] = {}
    """More overrides of their configurations, such as to disable a reduction that is unsound for the mutant."""


Evidence = Exhaustive | Schedule | Covered


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule broken on purpose."""

    name: str
    rules: tuple[str, ...]
    """Ids of the rules it breaks, the main one first."""
    bug: str
    """The wrong behaviour, in a sentence."""
    model: tuple[ModelEdit, ...] = ()
    reference: tuple[ReferenceEdit, ...] = ()
    extends: tuple[str, ...] = ()
    """Names of mutants whose edits come before its own."""
    omits: tuple[str, ...] = ()
    """Rules that it omits, if it changes nothing else; a trace, a scenario and `--mutant` may name it by the rule.
    If there are several, it extends the mutants that omit one each, and applies when all of these rules are omitted."""
    evidence: Evidence | None = None
    """Violation in the mutated model; None for a mutant of the reference only."""
    sample: bool = False
    """True if every push checks its evidence."""


class NotModelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A safety rule that the model cannot break, and why."""

    rule: str
    reason: str


class MutantFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the catalogue."""

    mutant: tuple[Mutant, ...] = ()
    not_modelled: tuple[NotModelled, ...] = ()


Layer = Literal["model", "reference"]

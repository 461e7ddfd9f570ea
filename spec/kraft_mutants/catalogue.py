"""Catalogue of mutants: the TOML files of `tables/`, read and checked.

That the model checks and scenarios named by evidence exist is left to the tests: it requires reading all their tables.
"""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from kraft_mutants.mutant import Covered, Mutant, MutantFile, NotModelled
from kraft_spec.edits import Edit
from kraft_spec.rules import load_registry

_OF_PARTITIONS = "partition-reassign."


class MutantError(ValueError):
    """The catalogue of mutants is wrong, or has no such mutant."""


class Catalogue(msgspec.Struct, frozen=True):
    """All files of the catalogue."""

    mutants: tuple[Mutant, ...]
    not_modelled: tuple[NotModelled, ...]

    def __getitem__(self, name: str) -> Mutant:
        """Return the mutant of this name.

        Raises:
            MutantError: There is none.
        """
        for mutant in self.mutants:
            if mutant.name == name:
                return mutant
        near = get_close_matches(name, [mutant.name for mutant in self.mutants], n=3)
        raise MutantError(f"no mutant {name!r}" + (f", close ones: {', '.join(near)}" if near else ""))


@cache
def load_catalogue() -> Catalogue:
    """Read every file of the catalogue, in alphabetical order.

    Raises:
        MutantError: As `read_catalogue`.
    """
    return read_catalogue(files(__package__) / "tables")


def read_catalogue(folder: Traversable) -> Catalogue:
    """Read every TOML file of a folder, in alphabetical order.

    Raises:
        MutantError: A file is malformed, two mutants share a name or omit the same rules, or a rule or an extended
            mutant does not exist; the message names the file and the field.
    """
    mutants: list[Mutant] = []
    not_modelled: list[NotModelled] = []
    files_of: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".toml"):
            continue
        try:
            part = msgspec.toml.decode(file.read_bytes(), type=MutantFile)
        except msgspec.DecodeError as error:
            raise MutantError(f"{file.name}: {error}") from error
        _check(file.name, part, {mutant.name for mutant in mutants})
        files_of |= {mutant.name: file.name for mutant in part.mutant}
        mutants += part.mutant
        not_modelled += part.not_modelled
    catalogue = Catalogue(tuple(mutants), tuple(not_modelled))
    for mutant in mutants:
        try:
            _check_others(catalogue, mutant)
        except MutantError as error:
            raise MutantError(f"{files_of[mutant.name]}: mutant {mutant.name}: {error}") from error
    return catalogue


def _check(file: str, part: MutantFile, names: set[str]) -> None:
    registry = load_registry()
    for mutant in part.mutant:
        if mutant.name in names:
            raise MutantError(f"{file}: two mutants are called {mutant.name}")
        names.add(mutant.name)
        if not mutant.rules:
            raise MutantError(f"{file}: mutant {mutant.name} names no rule, expected the ones that it breaks")
        if not (mutant.model or mutant.reference or mutant.extends):
            raise MutantError(f"{file}: mutant {mutant.name} changes nothing")
        covering = mutant.evidence.rules if isinstance(mutant.evidence, Covered) else ()
        for rule in (*mutant.rules, *mutant.omits, *covering):
            if rule not in registry:
                raise MutantError(f"{file}: mutant {mutant.name} names {rule!r}, which is no rule")
    for gap in part.not_modelled:
        if gap.rule not in registry:
            raise MutantError(f"{file}: not_modelled names {gap.rule!r}, which is no rule")


def _check_others(catalogue: Catalogue, mutant: Mutant) -> None:
    """Check what a mutant refers to in other mutants, which may be in another file."""
    for name in mutant.extends:
        if catalogue[name].extends:
            raise MutantError(f"extends {name}, which extends another itself")
    if mutant.omits and sum(other.omits == mutant.omits for other in catalogue.mutants) > 1:
        raise MutantError(f"another mutant omits {', '.join(mutant.omits)} too")


def _with_extended(mutants: Sequence[Mutant]) -> tuple[Mutant, ...]:
    """Return the mutants, each after those that it extends, without duplicates."""
    catalogue = load_catalogue()
    extended: dict[str, Mutant] = {}
    for mutant in mutants:
        for each in (*(catalogue[name] for name in mutant.extends), mutant):
            extended.setdefault(each.name, each)
    return tuple(extended.values())


def model_edits(*mutants: Mutant) -> tuple[Edit, ...]:
    """Return the edits of the model of these mutants, in their order."""
    return tuple([edit.as_edit() for mutant in _with_extended(mutants) for edit in mutant.model])


def reference_edits(*mutants: Mutant) -> tuple[Edit, ...]:
    """Return the edits of the reference of these mutants, in their order."""
    return tuple([edit.as_edit() for mutant in _with_extended(mutants) for edit in mutant.reference])


def omitted_rules(mutant: Mutant) -> frozenset[str]:
    """Return the rules that this mutant and those that it extends omit."""
    return frozenset(rule for each in _with_extended([mutant]) for rule in each.omits)


def omitted_rule(mutant: Mutant) -> str | None:
    """Return the single rule that this mutant omits; None if it omits several or changes something else."""
    changes = mutant.model or mutant.reference
    omitted = mutant.omits if changes else tuple(omitted_rules(mutant))
    return omitted[0] if len(omitted) == 1 else None


@cache
def omittable_rules() -> tuple[str, ...]:
    """Return the quorum rules that a mutant omits, in alphabetical order."""
    return tuple([rule for rule in _mutants_by_omitted_rule() if not rule.startswith(_OF_PARTITIONS)])


@cache
def omittable_partition_rules() -> tuple[str, ...]:
    """Return the partition reassignment rules that a mutant omits, in alphabetical order."""
    return tuple([rule for rule in _mutants_by_omitted_rule() if rule.startswith(_OF_PARTITIONS)])


@cache
def _mutants_by_omitted_rule() -> Mapping[str, Mutant]:
    """Return the mutants that omit one rule, by rule, in alphabetical order."""
    return dict(sorted((mutant.omits[0], mutant) for mutant in load_catalogue().mutants if len(mutant.omits) == 1))


def find_mutants(names: Collection[str]) -> tuple[Mutant, ...]:
    """Return the mutants of these names, in their order.

    Args:
        names: names of mutants, or ids of omitted rules.
            Mutants that omit several of these rules together come last.

    Raises:
        MutantError: A name is neither.
    """
    catalogue, omitting = load_catalogue(), _mutants_by_omitted_rule()
    mutants = [omitting[name] if name in omitting else catalogue[name] for name in names]
    omitted = {rule for mutant in mutants for rule in mutant.omits}
    together = [mutant for mutant in catalogue.mutants if len(mutant.omits) > 1 and omitted.issuperset(mutant.omits)]
    return tuple({mutant.name: mutant for mutant in (*mutants, *together)}.values())

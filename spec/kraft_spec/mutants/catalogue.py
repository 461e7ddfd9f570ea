"""The catalogue of mutants: the TOML files of `tables/`, read and checked.

That there are the model checks and scenarios which evidence names is for the tests: it takes all tables of them.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from kraft_spec.edits import Edit
from kraft_spec.experiments import ExperimentError, model_edits_without, reference_edits_without
from kraft_spec.mutants.mutant import Covered, Mutant, MutantFile, NotModelled
from kraft_spec.rules import load_registry


class MutantError(ValueError):
    """The catalogue of mutants is wrong, or has no such mutant."""


class Catalogue(msgspec.Struct, frozen=True):
    """All files of the catalogue together."""

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
        raise MutantError(f"no mutant {name!r}; there are {', '.join(mutant.name for mutant in self.mutants)}")


@cache
def load_catalogue() -> Catalogue:
    """Read every file of the catalogue, in alphabetical order.

    Raises:
        MutantError: As `read_catalogue`.
    """
    return read_catalogue(files("kraft_spec.mutants") / "tables")


def read_catalogue(folder: Traversable) -> Catalogue:
    """Read every TOML file of a folder, in alphabetical order.

    Raises:
        MutantError: A file is malformed, two mutants share a name, or a rule does not exist; the message names the
            file and the field.
    """
    mutants: list[Mutant] = []
    not_modelled: list[NotModelled] = []
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".toml"):
            continue
        try:
            part = msgspec.toml.decode(file.read_bytes(), type=MutantFile)
        except msgspec.DecodeError as error:
            raise MutantError(f"{file.name}: {error}") from error
        _check(file.name, part, {mutant.name for mutant in mutants})
        mutants += part.mutant
        not_modelled += part.not_modelled
    return Catalogue(tuple(mutants), tuple(not_modelled))


def _check(file: str, part: MutantFile, names: set[str]) -> None:
    registry = load_registry()
    for mutant in part.mutant:
        if mutant.name in names:
            raise MutantError(f"{file}: two mutants are called {mutant.name}")
        names.add(mutant.name)
        if not mutant.rules:
            raise MutantError(f"{file}: mutant {mutant.name} names no rule, expected the ones that it breaks")
        if not (mutant.model or mutant.reference or mutant.switched_off):
            raise MutantError(f"{file}: mutant {mutant.name} changes nothing")
        try:
            model_edits_without(mutant.switched_off)
        except ExperimentError as error:
            raise MutantError(f"{file}: mutant {mutant.name}: {error}") from error
        covering = mutant.evidence.rules if isinstance(mutant.evidence, Covered) else ()
        for rule in (*mutant.rules, *covering):
            if rule not in registry:
                raise MutantError(f"{file}: mutant {mutant.name} names {rule!r}, which is no rule")
    for gap in part.not_modelled:
        if gap.rule not in registry:
            raise MutantError(f"{file}: not_modelled names {gap.rule!r}, which is no rule")


def model_edits(mutant: Mutant) -> tuple[Edit, ...]:
    """The edits of `kraft_spec` that break the model as the mutant says."""
    return (*model_edits_without(mutant.switched_off), *(edit.as_edit() for edit in mutant.model))


def reference_edits(mutant: Mutant) -> tuple[Edit, ...]:
    """The edits of `kraft_reference` that break the reference as the mutant says."""
    return (*reference_edits_without(mutant.switched_off), *(edit.as_edit() for edit in mutant.reference))


def seeded(catalogue: Catalogue, names: Sequence[str] = ()) -> tuple[Mutant, ...]:
    """The mutants that break the reference, in the catalogue's order; with `names` only those.

    Raises:
        MutantError: A name does not exist, or its mutant breaks the model alone.
    """
    breaking = tuple(mutant for mutant in catalogue.mutants if reference_edits(mutant))
    for name in names:
        if catalogue[name] not in breaking:
            raise MutantError(f"mutant {name} breaks the model alone, not the reference")
    return tuple(mutant for mutant in breaking if not names or mutant.name in names)

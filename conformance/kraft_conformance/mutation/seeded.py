"""The seeded mutants: those entries of the catalogue that break the reference."""

from collections.abc import Sequence

from kraft_conformance.mutation.campaign import Subject
from kraft_spec.mutants import Catalogue, Mutant, MutantError, reference_edits


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


def subject_of(mutant: Mutant) -> Subject:
    """The broken reference of a mutant."""
    return Subject(mutant.name, reference_edits(mutant))

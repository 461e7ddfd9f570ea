"""Which mutants are graded: all that break the reference, each with the vectors of the subject that it is part of."""

from collections.abc import Sequence

from kraft_conformance.protocol.features import Subject
from kraft_spec.mutants import Mutant, MutantError, load_catalogue, reference_edits, seeded

_PARTITION_FILES = "partitions/"


def subject_graded(mutant: Mutant) -> Subject:
    """Whose vectors it is graded with: those of controllers of partitions, or those of a replica of the quorum."""
    is_of_partitions = all(edit.file.startswith(_PARTITION_FILES) for edit in reference_edits(mutant))
    return "partitions" if is_of_partitions else "replica"


def graded_mutants(words: Sequence[str] = ()) -> tuple[Mutant, ...]:
    """The seeded mutants, in the catalogue's order.

    Args:
        words: only those with each of these in the name, or in a rule.

    Raises:
        MutantError: nothing fits.
    """
    found = tuple([one for one in seeded(load_catalogue()) if _fits(one, words)])
    if not found:
        raise MutantError(f"no mutant of the reference fits {' and '.join(words)}")
    return found


def _fits(mutant: Mutant, words: Sequence[str]) -> bool:
    return all(any(word in name for name in (mutant.name, *mutant.rules)) for word in words)

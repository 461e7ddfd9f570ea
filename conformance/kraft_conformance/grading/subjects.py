"""Which mutants are graded here: those of the quorum part, which kraft-adapter/1 drives.

The reassignment of partitions is another machine, with vectors and an adapter of its own.
"""

from collections.abc import Sequence

from kraft_conformance.mutation.seeded import seeded
from kraft_spec.mutants import Mutant, MutantError, load_catalogue

_PARTITION_FILES = "partitions/"
_PARTITION_RULES = "partition-reassign."


def is_of_partitions(mutant: Mutant) -> bool:
    """Does it break the controller's reassignment of partitions?"""
    files = [edit.file for edit in mutant.reference]
    if files:
        return all(file.startswith(_PARTITION_FILES) for file in files)
    return all(rule.startswith(_PARTITION_RULES) for rule in mutant.switched_off)


def quorum_mutants(words: Sequence[str] = ()) -> tuple[Mutant, ...]:
    """The seeded mutants of the quorum part, in the catalogue's order.

    Args:
        words: only those with each of these in the name, or in a rule.

    Raises:
        MutantError: nothing fits.
    """
    found = tuple([one for one in seeded(load_catalogue()) if not is_of_partitions(one) and _fits(one, words)])
    if not found:
        raise MutantError(f"no mutant of the quorum part fits {' and '.join(words)}")
    return found


def _fits(mutant: Mutant, words: Sequence[str]) -> bool:
    return all(any(word in name for name in (mutant.name, *mutant.rules)) for word in words)

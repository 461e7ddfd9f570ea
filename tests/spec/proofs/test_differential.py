"""`prove_transition` against trying everything, on all pairs of non-empty subsets of seven voters.

Rules: state.voters-set.own-majority, voters.at-most-one-difference.
"""

from collections.abc import Iterator

from kraft_proofs.transitions import Proof, prove_transition
from kraft_reference.identity import ReplicaKey

VOTERS = 7
SUBSETS = range(1, 1 << VOTERS)
"""Sets as bits: voter n is in it if bit n is set."""


def majorities(of: int) -> Iterator[int]:
    return (part for part in range(of + 1) if part & of == part and 2 * part.bit_count() > of.bit_count())


def test_proofs_about_region_sizes_agree_with_exhaustive_search() -> None:
    tried = {of: list(majorities(of)) for of in SUBSETS}
    named = {of: frozenset(ReplicaKey(n, f"U{n}") for n in range(VOTERS) if of >> n & 1) for of in SUBSETS}
    for old in SUBSETS:
        for new in SUBSETS:
            result = prove_transition(named[old], named[new])
            assert result.recheck()
            assert isinstance(result, Proof) == all(
                old_majority & other for old_majority in tried[old] for other in tried[new]
            )

"""The theorems about majorities of voters sets, for sets of every size, in the order in which they are listed."""

from difflib import get_close_matches
from itertools import chain

from kraft_proofs.theorems import changes, competing, identity, leader, plan
from kraft_proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening

__all__ = ["Counterexample", "Obligation", "Theorem", "UnknownTheoremError", "Weakening", "theorem", "theorems"]

_BY_SLUG = {
    one.slug: one
    for one in chain(
        changes.THEOREMS,
        competing.THEOREMS,
        identity.THEOREMS,
        leader.THEOREMS,
        plan.THEOREMS,
        competing.RESUMED,
    )
}


class UnknownTheoremError(KeyError):
    """No theorem has this slug."""

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug
        self.near = tuple(get_close_matches(slug, _BY_SLUG, n=3, cutoff=0.4))

    def __str__(self) -> str:
        """Say what was probably meant, or else all that there is."""
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"expected one of {', '.join(_BY_SLUG)}"
        return f"{self.slug!r} is no theorem, {hint}"


def theorems() -> tuple[Theorem, ...]:
    """All of them, in their order."""
    return tuple(_BY_SLUG.values())


def theorem(slug: str) -> Theorem:
    """The theorem of this name.

    Raises:
        UnknownTheoremError: there is none; close names are suggested.
    """
    if slug not in _BY_SLUG:
        raise UnknownTheoremError(slug)
    return _BY_SLUG[slug]

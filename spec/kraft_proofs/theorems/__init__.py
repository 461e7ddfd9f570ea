"""Theorems about majorities of voter sets of any size, in listing order."""

from difflib import get_close_matches
from itertools import chain

from kraft_proofs.theorems import changes, competing, identity, leader, plan
from kraft_proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening

__all__ = ["Counterexample", "Obligation", "Theorem", "UnknownTheoremError", "Weakening", "theorem", "theorems"]

_BY_SLUG = {
    each_theorem.slug: each_theorem
    for each_theorem in chain(
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
        """Return the message, with similar names, or else all names."""
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"expected one of {', '.join(_BY_SLUG)}"
        return f"{self.slug!r} is no theorem, {hint}"


def theorems() -> tuple[Theorem, ...]:
    """Return all theorems, in their order."""
    return tuple(_BY_SLUG.values())


def theorem(slug: str) -> Theorem:
    """Return the theorem of this name.

    Raises:
        UnknownTheoremError: there is none; the error suggests similar names.
    """
    if slug not in _BY_SLUG:
        raise UnknownTheoremError(slug)
    return _BY_SLUG[slug]

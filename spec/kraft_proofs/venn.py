"""Finite sets of any size, as the cardinalities of the regions of their Venn diagram.

k named sets cut the plane into at most 2^k - 1 regions. A statement about unions, intersections and differences, and
about their numbers of replicas, is a linear statement about the numbers in the regions. If no natural numbers satisfy
it, no sets do, whatever the number of replicas.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias

from kraft_proofs.linear import Fact, Problem, Term, equal, less, total, variable

Region = frozenset[str]
"""Names of the sets that contain the replicas of a region; the other sets do not."""


SetExpression: TypeAlias = frozenset[Region]
"""A combination of the named sets, as the regions of the diagram that belong to it."""


class Diagram:
    """The Venn diagram of named sets."""

    def __init__(self, *names: str, within: Mapping[str, str] | None = None) -> None:
        """Create a diagram.

        Args:
            names: The sets. Their order decides the order of the regions.
            within: Outer set of a set that lies in another one. Outside regions are omitted to keep diagrams small.
        """
        within = within or {}
        self.names = names
        self.regions: tuple[Region, ...] = tuple(
            region
            for bits in product((False, True), repeat=len(names))
            if (region := frozenset(name for name, bit in zip(names, bits, strict=True) if bit))
            and all(outer in region for inner, outer in within.items() if inner in region)
        )

    def __getitem__(self, name: str) -> SetExpression:
        if name not in self.names:
            raise KeyError(name)
        return frozenset(region for region in self.regions if name in region)

    def size(self, sets: SetExpression) -> Term:
        """Return the number of replicas in the set."""
        return total(variable(self._variable(region)) for region in self.regions if region in sets)

    def same(self, name: str, left: SetExpression, right: SetExpression) -> Fact:
        """State that both have the same replicas."""
        return equal(name, self.size(left ^ right), 0)

    def inside(self, name: str, inner: SetExpression, outer: SetExpression) -> Fact:
        """State that each replica of `inner` is in `outer`."""
        return equal(name, self.size(inner - outer), 0)

    def disjoint(self, name: str, left: SetExpression, right: SetExpression) -> Fact:
        """State that no replica is in both."""
        return equal(name, self.size(left & right), 0)

    def singleton(self, name: str, single: SetExpression) -> Fact:
        """State that it has exactly one replica."""
        return equal(name, self.size(single), 1)

    def majority(self, name: str, quorum: SetExpression, voters: SetExpression) -> Fact:
        """State that more than half of the voters are in `quorum`.  Rule: state.voters-set.own-majority."""
        return less(name, self.size(voters), 2 * self.size(quorum & voters))

    def problem(self, name: str, *facts: Fact, more: Iterable[str] = ()) -> Problem:
        """Return the problem whether such sets exist; `more` names additional variables."""
        return Problem(name, (*(self._variable(region) for region in self.regions), *more), facts)

    def sets(self, values: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
        """Return sets of replicas `r1`, `r2`, ... with these numbers of replicas in each region."""
        members: dict[str, list[str]] = {name: [] for name in self.names}
        number = 0
        for region in self.regions:
            for _ in range(values[self._variable(region)]):
                number += 1
                for name in self.names:
                    if name in region:
                        members[name].append(f"r{number}")
        return {name: tuple(replicas) for name, replicas in members.items()}

    def _variable(self, region: Region) -> str:
        return "only:" + "&".join(name for name in self.names if name in region)

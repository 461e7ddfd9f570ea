"""Finite sets of any size, as the cardinalities of the regions of their Venn diagram.

k named sets cut the plane into at most 2^k - 1 regions. A statement about unions, intersections and differences, and
about how many replicas are in them, is a linear statement about how many are in each region. If no natural numbers
make it true then no sets do, however many replicas there are.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias

from kraft_proofs.linear import Fact, Problem, Term, equal, less, total, variable

Region = frozenset[str]
"""The names of the sets that the replicas of a region are in; every other named set they are not in."""


SetExpression: TypeAlias = frozenset[Region]
"""A combination of the named sets: the regions of the diagram that belong to it."""


class Diagram:
    """The Venn diagram of named sets."""

    def __init__(self, *names: str, within: Mapping[str, str] | None = None) -> None:
        """Draw it.

        Args:
            names: The sets. Their order decides the order of the regions.
            within: A set that lies in another one. Regions outside are never made, which keeps diagrams small.
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
        """The number of replicas in it."""
        return total(variable(self._variable(region)) for region in self.regions if region in sets)

    def same(self, name: str, left: SetExpression, right: SetExpression) -> Fact:
        """Both have the same replicas."""
        return equal(name, self.size(left ^ right), 0)

    def inside(self, name: str, inner: SetExpression, outer: SetExpression) -> Fact:
        """Each replica of `inner` is in `outer`."""
        return equal(name, self.size(inner - outer), 0)

    def disjoint(self, name: str, left: SetExpression, right: SetExpression) -> Fact:
        """No replica is in both."""
        return equal(name, self.size(left & right), 0)

    def singleton(self, name: str, one: SetExpression) -> Fact:
        """It has exactly one replica."""
        return equal(name, self.size(one), 1)

    def majority(self, name: str, quorum: SetExpression, voters: SetExpression) -> Fact:
        """The voters among `quorum` are more than half of the voters.  Rule: state.voters-set.own-majority."""
        return less(name, self.size(voters), 2 * self.size(quorum & voters))

    def problem(self, name: str, *facts: Fact, more: Iterable[str] = ()) -> Problem:
        """The question whether such sets exist; `more` names variables that count no region."""
        return Problem(name, (*(self._variable(region) for region in self.regions), *more), facts)

    def sets(self, values: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
        """Sets of replicas `r1`, `r2`, ... that have so many replicas in each region."""
        members: dict[str, list[str]] = {name: [] for name in self.names}
        number = 0
        for region in self.regions:
            for _ in range(values[self._variable(region)]):
                number += 1
                for name in self.names:
                    if name in region:
                        members[name].append(f"r{number}")
        return {name: tuple(found) for name, found in members.items()}

    def _variable(self, region: Region) -> str:
        return "only:" + "&".join(name for name in self.names if name in region)

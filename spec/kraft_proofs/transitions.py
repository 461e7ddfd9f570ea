"""Proof that all majorities of two voter sets intersect, or a counterexample.

The result depends on three numbers: how many voters the sets share, how many are removed and how many are added.
The solver only receives these, so sets of thousands cost no more than sets of three.
The result is in the user's own voters: a proof by named facts, or two majorities without a common replica.
"""

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kraft_proofs.certificate import Certificate, certifies
from kraft_proofs.changes import Change, Reason, change, number_of
from kraft_proofs.linear import Problem, Term, at_most, equal
from kraft_proofs.solving import Contradiction, Solution, solve
from kraft_proofs.venn import Diagram
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.state import is_majority

_DIAGRAM = Diagram("old", "new", "old-quorum", "new-quorum", within={"old-quorum": "old", "new-quorum": "new"})
_OLD, _NEW, _OLD_QUORUM, _NEW_QUORUM = (_DIAGRAM[name] for name in _DIAGRAM.names)
_SMALLEST = (_DIAGRAM.size(_OLD_QUORUM), _DIAGRAM.size(_NEW_QUORUM))
"""Sizes that a counterexample minimises first.

Then the regions decide, in their order: a quorum takes voters of only its own set before shared ones.
"""


class Sizes(NamedTuple):
    """Numbers that determine the result."""

    kept: int
    removed: int
    added: int
    old_majority: int
    """Smallest number of voters that is a majority of the old set."""
    new_majority: int


@dataclass(frozen=True, slots=True)
class Proof:
    """Every majority of the old set shares a replica with every majority of the new set."""

    change: Change
    core: tuple[str, ...]
    """Names of a minimal set of facts that exclude disjoint majorities."""
    certificate: Certificate
    """Certificate, which always exists: with the majorities given as numbers, fractions suffice."""

    @property
    def summary(self) -> str:
        """The certificate in one line."""
        counted = sizes(self.change)
        for name, voters, majority in (
            ("old", self.change.old, counted.old_majority),
            ("new", self.change.new, counted.new_majority),
        ):
            if majority > len(voters):
                return f"the {name} set has no majority"
        replicas = counted.kept + counted.removed + counted.added
        shared = "the only replica" if replicas == 1 else f"one of {replicas} replicas"
        return f"majorities of {counted.old_majority} and {counted.new_majority} share {shared}"

    @property
    def is_vacuous(self) -> bool:
        """True if one of the sets has no voter, and so no majority."""
        return not (self.change.old and self.change.new)

    def recheck(self) -> bool:
        """Return True if the certificate holds, by adding fractions without a solver."""
        problem = problem_of(sizes(self.change))
        core = tuple(fact for fact in problem.facts if fact.name in self.core)
        return certifies(self.certificate, problem._replace(facts=core))

    def smt2(self) -> str:
        """Return the problem in SMT-LIB 2; every solver must answer `unsat`, as its first line says."""
        return f"; expect: unsat\n{problem_of(sizes(self.change)).smt2()}"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two majorities without a common replica, each able to decide alone.

    Canonical: both are smallest majorities.
    The old one takes removed voters, then shared ones; the new one takes added voters, then the next shared ones;
    always in order of id and directory id.
    """

    change: Change
    old_quorum: tuple[ReplicaKey, ...]
    new_quorum: tuple[ReplicaKey, ...]

    def recheck(self) -> bool:
        """Return True if they are disjoint majorities, by plain sets and the reference's own count without a solver."""
        old, new = frozenset(self.old_quorum), frozenset(self.new_quorum)
        return (
            old.isdisjoint(new)
            and old <= self.change.old
            and new <= self.change.new
            and is_majority(len(old), self.change.old)
            and is_majority(len(new), self.change.new)
        )

    def smt2(self) -> str:
        """Return the problem in SMT-LIB 2; every solver must answer `sat`, as its first line says."""
        return f"; expect: sat\n{problem_of(sizes(self.change)).smt2()}"


def prove_transition(old: Collection[ReplicaKey], new: Collection[ReplicaKey]) -> Proof | Counterexample:
    """Decide whether all majorities of two voter sets intersect.

    `kraft_proofs.protocol` decides whether the protocol allows the transition.
    An empty set has no majority, and so intersects with every set.
    Rules: state.voters-set.own-majority, voters.at-most-one-difference.

    Args:
        old: The voter set in force.
        new: The one of the next VotersRecord.

    Raises:
        SolverGaveUpError: the solver answered `unknown`.
    """
    compared = change(old, new)
    decided = _decide(sizes(compared))
    if isinstance(decided, Solution):
        return _make_counterexample(compared, decided)
    assert decided.certificate is not None, "the matrix is that of a flow, where fractions are no stronger than numbers"
    return Proof(compared, decided.core, decided.certificate)


def sizes(of: Change) -> Sizes:
    """Return the numbers that determine the result."""
    return Sizes(
        kept=len(of.old & of.new),
        removed=len(of.old - of.new),
        added=len(of.new - of.old),
        old_majority=smallest_majority(of.old),
        new_majority=smallest_majority(of.new),
    )


def smallest_majority(voters: VoterSet) -> int:
    """Return the smallest number of voters that is a majority in the reference; the size plus one if none is."""
    return bisect_left(range(len(voters) + 1), True, key=lambda number: is_majority(number, voters))


def problem_of(of: Sizes) -> Problem:
    """Return the problem that asks for two disjoint majorities."""
    return _DIAGRAM.problem(
        f"transition: voters kept: {of.kept}, removed: {of.removed}, added: {of.added}",
        equal("kept", _DIAGRAM.size(_OLD & _NEW), of.kept),
        equal("removed", _DIAGRAM.size(_OLD - _NEW), of.removed),
        equal("added", _DIAGRAM.size(_NEW - _OLD), of.added),
        at_most("old-majority", of.old_majority, _DIAGRAM.size(_OLD_QUORUM)),
        at_most("new-majority", of.new_majority, _DIAGRAM.size(_NEW_QUORUM)),
        _DIAGRAM.disjoint("disjoint", _OLD_QUORUM, _NEW_QUORUM),
    )


def in_words(of: Sizes, fact: str) -> Reason:
    """Return the meaning of a named fact of `problem_of`, with its rules."""
    counted, majority = ("identity.replica-key",), ("state.voters-set.own-majority",)
    old, new = number_of(of.kept + of.removed, "voter"), number_of(of.kept + of.added, "voter")
    return {
        "kept": Reason(f"voters in both sets: {of.kept}", counted),
        "removed": Reason(f"voters in the old set only: {of.removed}", counted),
        "added": Reason(f"voters in the new set only: {of.added}", counted),
        "old-majority": Reason(f"a quorum of the old set has at least {of.old_majority} of its {old}", majority),
        "new-majority": Reason(f"a quorum of the new set has at least {of.new_majority} of its {new}", majority),
        "disjoint": Reason("supposed: the two quorums have no replica in common"),
    }[fact]


@lru_cache(maxsize=4096)
def _decide(of: Sizes) -> Contradiction | Solution:
    """Decide the problem; cached, because the steps of a plan have few different sizes."""
    return solve(problem_of(of), _SMALLEST)


def _make_counterexample(of: Change, solution: Solution) -> Counterexample:
    def size(term: Term) -> int:
        return term.value(solution.values)

    old_shared = size(_DIAGRAM.size(_OLD_QUORUM & _NEW))
    new_shared = size(_DIAGRAM.size(_NEW_QUORUM & _OLD))
    kept = of.kept
    return Counterexample(
        of,
        (*of.removed[: size(_DIAGRAM.size(_OLD_QUORUM - _NEW))], *kept[:old_shared]),
        (*of.added[: size(_DIAGRAM.size(_NEW_QUORUM - _OLD))], *kept[old_shared : old_shared + new_shared]),
    )

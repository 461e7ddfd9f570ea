"""Derivation of the two facts about quorums from the definition of a majority, for finite sets of any size.

The sizes of the regions of the Venn diagram of two quorums and two voter sets are functions of these four. The facts
used here hold for all finite sets: a size is a natural number, and a region of positive size has a replica. That a
majority is more than half, and that neighbours differ in at most one replica, are definitions from the same `Diagram`
with which the theorems are proved. So `majority` and `neighbours` in the inductive proof have this meaning, and their
two facts are obligations like any other.
"""

from collections.abc import Mapping

import z3
from z3 import And, Implies

from kraft_proofs.induction.axioms import QUORUMS
from kraft_proofs.induction.prover import Obligation
from kraft_proofs.induction.symbols import (
    NUMBER,
    QUORUM,
    REPLICA,
    VOTERS,
    Expression,
    Formula,
    exists,
    forall,
    majority,
    member,
    neighbours,
    variables,
)
from kraft_proofs.linear import Fact, Term, at_most
from kraft_proofs.venn import Diagram, Region

FIRST, SECOND, ONE, OTHER = "first_quorum", "second_quorum", "one_set", "other_set"
DIAGRAM = Diagram(FIRST, SECOND, ONE, OTHER)

_q1, _q2 = variables(QUORUM, "q1 q2")
_v1, _v2 = variables(VOTERS, "v1 v2")
_all = (_q1, _q2, _v1, _v2)
_both = (majority(_q1, _v1), majority(_q2, _v2))


def size_of(region: Region) -> z3.FuncDeclRef:
    """Return the number of replicas in the region, as a function of two quorums and two voter sets."""
    name = "size_of_" + "_and_".join(part for part in DIAGRAM.names if part in region)
    return z3.Function(name, QUORUM, QUORUM, VOTERS, VOTERS, NUMBER)


_SIZES: Mapping[str, z3.FuncDeclRef] = {
    DIAGRAM.size(frozenset({region})).coefficients[0][0]: size_of(region) for region in DIAGRAM.regions
}
"""Size function of each variable of the diagram's terms."""


def _value(term: Term, sets: tuple[Expression, ...]) -> Expression:
    return z3.Sum([z3.IntVal(term.constant), *(number * _SIZES[name](*sets) for name, number in term.coefficients)])


def holds(fact: Fact, sets: tuple[Expression, ...] = _all) -> Formula:
    """Return the linear fact about the region sizes of these two quorums and two voter sets."""
    rows = [_value(row, sets) <= 0 for row in fact.rows]
    return rows[0] if len(rows) == 1 else And(*rows)


def _define() -> Mapping[str, Formula]:
    first, second, old, new = (DIAGRAM[name] for name in DIAGRAM.names)
    difference = DIAGRAM.size(old ^ new)
    (r,) = variables(REPLICA, "r")
    in_both = exists((r,), And(member(r, _q1), member(r, _q2)))
    same = (_q1, _q2, _v1, _v1)
    return {
        "sizes-are-natural": forall(_all, And(*(size(*_all) >= 0 for size in _SIZES.values())), _both),
        "first-majority-is-more-than-half": forall(
            _all, majority(_q1, _v1) == holds(DIAGRAM.majority("", first, old)), _both
        ),
        "second-majority-is-more-than-half": forall(
            _all, majority(_q2, _v2) == holds(DIAGRAM.majority("", second, new)), _both
        ),
        "neighbours-differ-in-one-at-most": forall(
            _all,
            And(
                neighbours(_v1, _v2) == holds(at_most("", difference, 1)),
                neighbours(_v2, _v1) == holds(at_most("", difference, 1)),
            ),
            _both,
        ),
        "a-set-is-itself": forall(
            (_q1, _q2, _v1), holds(DIAGRAM.same("", old, new), same), (majority(_q1, _v1), majority(_q2, _v1))
        ),
        "a-size-is-of-replicas": forall(_all, Implies(_value(DIAGRAM.size(first & second), _all) >= 1, in_both), _both),
    }


DEFINITIONS: Mapping[str, Formula] = _define()
SENTENCES: Mapping[str, str] = {
    "sizes-are-natural": "Each region of the Venn diagram of two quorums and two voter sets has a natural number of "
    "replicas.",
    "first-majority-is-more-than-half": "A quorum is a majority of a voter set when more than half of the voters are "
    "in it.",
    "second-majority-is-more-than-half": "The same, said of the other quorum and the other voter set.",
    "neighbours-differ-in-one-at-most": "Two voter sets are neighbours when at most one replica is in one of them "
    "only.",
    "a-set-is-itself": "No replica is in a voter set and not in it.",
    "a-size-is-of-replicas": "If the regions within both quorums have a replica, there is a replica in both quorums.",
}


def obligations() -> tuple[Obligation, ...]:
    """Return the facts about quorums as obligations, from the definitions."""
    return tuple(Obligation(f"quorums/{axiom.name}", DEFINITIONS, axiom.formula) for axiom in QUORUMS)

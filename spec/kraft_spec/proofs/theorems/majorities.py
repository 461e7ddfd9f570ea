"""Majorities of one voters set and of two that differ by at most one replica: what the inductive proof rests on.

In both a majority is any set of replicas that holds more than half of the voters; it may hold others too. That is
the form in which `kraft_spec.proofs.induction` assumes them, and there are no other assumptions about majorities.
"""

from kraft_spec.proofs.linear import at_most
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.venn import Diagram


def _majorities_of_one_set() -> Theorem:
    """Why an epoch has one leader, and why a leader has what was committed."""
    diagram = Diagram("Voters", "OneMajority", "OtherMajority")
    voters, one, other = (diagram[name] for name in diagram.names)
    every = Obligation(
        "every",
        diagram,
        (diagram.majority("one-majority", one, voters), diagram.majority("other-majority", other, voters)),
        diagram.disjoint("no-replica-in-both", one, other),
    )
    halves = (
        at_most("one-majority", diagram.size(voters), 2 * diagram.size(one & voters)),
        at_most("other-majority", diagram.size(voters), 2 * diagram.size(other & voters)),
    )
    return Theorem(
        "majorities-of-one-set",
        "Two majorities of the same voters set share a replica.",
        ("state.voters-set.own-majority", "state.candidate.to-leader", "hw.majority", "vote.once-per-epoch"),
        (every,),
        (
            Weakening(
                "half-is-enough",
                "half of the voters is enough, and there is a voter",
                every.instead(halves[0]).instead(halves[1]).also(at_most("a-voter", 1, diagram.size(voters))),
                (diagram.size(voters | one | other),),
                Counterexample({"Voters": (1, 2), "OneMajority": (1,), "OtherMajority": (2,)}),
            ),
        ),
    )


def _majorities_of_neighbours() -> Theorem:
    """Why a voters set may change by one replica at a time."""
    diagram = Diagram("Old", "New", "OldMajority", "NewMajority")
    old, new, one, other = (diagram[name] for name in diagram.names)
    every = Obligation(
        "every",
        diagram,
        (
            diagram.majority("majority-of-old", one, old),
            diagram.majority("majority-of-new", other, new),
            at_most("at-most-one-apart", diagram.size(old ^ new), 1),
        ),
        diagram.disjoint("no-replica-in-both", one, other),
    )
    return Theorem(
        "majorities-of-neighbours",
        "A majority of one voters set and a majority of another share a replica if the sets differ by at most one.",
        (
            "voters.at-most-one-difference",
            "voters.one-change-at-a-time",
            "voters.commit-by-new-set",
            "voters.candidate-uses-own-set",
        ),
        (every,),
        (
            Weakening(
                "two-apart",
                "the sets differ by at most two",
                every.instead(at_most("at-most-one-apart", diagram.size(old ^ new), 2)),
                (diagram.size(old | new | one | other),),
                Counterexample({"Old": (1,), "New": (2,), "OldMajority": (1,), "NewMajority": (2,)}),
            ),
        ),
    )


THEOREMS = (_majorities_of_one_set(), _majorities_of_neighbours())

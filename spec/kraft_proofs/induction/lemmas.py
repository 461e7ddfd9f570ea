"""Lemmas about an action that precede its obligations: three facts from quorums, and one on repeated votes.

A lemma states that there is no counterexample, and is proved from a least one: that a non-empty set of counterexamples
has one with the smallest natural number as its size is the only rule of reasoning outside Z3.
The claims on the way to the contradiction are obligations too, each proved from all facts and the claims before it.

Two voter sets matter: that of a Candidate's log, and that of the log by which an entry was committed or another leader
elected. If they are equal or consecutive, their majorities share a replica. If one is further behind, or they are in
different logs, the voter changes between them contradict what was committed before them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import z3
from z3 import And, Implies, Not, Or

from kraft_proofs.induction.actions import candidate, entry, epoch, leader, log
from kraft_proofs.induction.own_vote import earlier, led_by_another
from kraft_proofs.induction.prover import Obligation
from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Expression,
    Formula,
    bootstrap,
    constants,
    epoch_of,
    forall,
    offset_of,
    prefix,
    previous_voters_record,
    variables,
    voters_record,
)

_e, _g, _f = variables(ENTRY, "e g f")
_r, _v = variables(REPLICA, "r v")
(_t,) = variables(NUMBER, "t")


class Counterexample(NamedTuple):
    """A lemma that no counterexample of this kind exists, with its proof."""

    name: str
    variables: tuple[Expression, ...]
    condition: Callable[..., Formula]
    """Formula, from a state and a value for each variable."""
    size: Callable[..., Expression]
    """Natural number that the least counterexample minimises, from a value for each variable."""
    claims: Callable[..., Mapping[str, Formula]]
    """Claims about a least counterexample, in order, from a state and the names of its parts."""

    def says(self, s: State) -> Formula:
        """State that there is no counterexample."""
        return forall(self.variables, Not(self.condition(s, *self.variables)))

    def obligations(self, s: State, part: str, premises: Mapping[str, Formula]) -> Iterator[Obligation]:
        """Yield the obligations: sizes are natural numbers, each claim about a least counterexample, the contradiction.

        Raises:
            ValueError: a fact contains a constant that names a part of the least counterexample.
        """
        some, of = self.condition(s, *self.variables), f"{part}/{self.name}"
        natural = forall(self.variables, Implies(some, self.size(*self.variables) >= 0))
        yield Obligation(f"{of}/sizes-are-natural", dict(premises), natural)
        least = tuple(z3.Const(f"least.{variable}", variable.sort()) for variable in self.variables)
        if taken := {name for fact in premises.values() for name, _ in constants(fact)} & set(map(str, least)):
            raise ValueError(f"facts speak of {', '.join(sorted(taken))}, expected names that are new")
        facts = {
            **premises,
            "counterexample": self.condition(s, *least),
            "none-smaller": forall(self.variables, Implies(some, self.size(*least) <= self.size(*self.variables))),
        }
        for claim, formula in {**self.claims(s, *least), "contradiction": z3.BoolVal(False)}.items():
            yield Obligation(f"{of}/{claim}", dict(facts), formula)
            facts[claim] = formula


def _relate_sets(one_log: Expression, other_log: Expression) -> Mapping[str, Formula]:
    """Return the claims that exclude relations between the voter sets of two logs, and the remaining case."""
    own, other = voters_record(one_log), voters_record(other_log)
    in_different_logs = And(own != bootstrap, other != bootstrap, Not(prefix(own, other)), Not(prefix(other, own)))
    return {
        "not-the-same-set": own != other,
        "other-set-is-not-next": Not(And(other != bootstrap, previous_voters_record(other) == own)),
        "candidates-set-is-not-next": Not(And(own != bootstrap, previous_voters_record(own) == other)),
        "candidate-is-not-behind": Not(prefix(own, other)),
        "other-is-not-behind": Not(prefix(other, own)),
        "in-different-logs": in_different_logs,
    }


NEW_LEADER_IS_COMPLETE = Counterexample(
    "new-leader-is-complete",
    (_e, _g),
    lambda s, e, g: And(s.committed(e, g), epoch_of(e) < epoch, Not(prefix(e, log))),
    # Committed by the oldest voter set: this is the induction on voter sets.
    lambda _, g: offset_of(voters_record(g)),
    lambda _, e, g: _relate_sets(log, g),
)
"""The new leader has all entries committed in earlier epochs."""

NEW_LEADER_IS_THE_ONLY_ONE = Counterexample(
    "new-leader-is-the-only-one",
    (_r, _f),
    lambda s, r, f: And(s.elected(epoch, r, f), Or(r != candidate, f != log)),
    lambda _, f: offset_of(f),
    lambda s, r, f: {
        "nobody-voted-for-both": forall(
            (_v,), Not(And(s.granted(_v, epoch, candidate, log), s.granted(_v, epoch, r, f)))
        ),
        **_relate_sets(log, f),
    },
)
"""No other replica was elected in the new leader's epoch."""


LATER_LEADERS_KEEP_IT = Counterexample(
    "later-leaders-keep-it",
    (_t, _r, _f),
    lambda s, t, r, f: And(s.elected(t, r, f), epoch_of(entry) < t, Not(prefix(entry, f))),
    # The leader of the smallest epoch: this is the induction on epochs.
    lambda t, *_: t,
    lambda s, t, r, f: {
        "nobody-voted-who-acknowledged": forall((_v,), Not(And(s.acknowledged(_v, entry), s.granted(_v, t, r, f)))),
        **_relate_sets(f, s.log_end(leader)),
    },
)
"""Leaders elected after the epoch of the committed entry have it."""

EARLIER_LOG_IS_KEPT = Counterexample(
    "earlier-log-is-kept",
    (_e,),
    lambda s, e: And(prefix(e, earlier), Not(prefix(e, log)), Not(led_by_another(s, e, epoch, candidate))),
    offset_of,
    lambda *_: {},
)
"""A Candidate that requests votes again has its earlier log, or another leads the epoch and was elected without it."""

LEMMAS: Mapping[str, tuple[Counterexample, ...]] = {
    "become-leader": (NEW_LEADER_IS_COMPLETE, NEW_LEADER_IS_THE_ONLY_ONE),
    "commit": (LATER_LEADERS_KEEP_IT,),
    "repeat-vote": (EARLIER_LOG_IS_KEPT,),
}
"""Lemmas by action, in order; each may use those before it, and the action's obligations may use all."""

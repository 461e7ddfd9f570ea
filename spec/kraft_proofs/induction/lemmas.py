"""What is proved of an action before its obligations: the three facts that quorums carry, and one on repeated votes.

A lemma says that there is no counterexample, and is proved from a least one: that a set of counterexamples which is not
empty has one with the smallest natural number for its size is the one rule of reasoning that is not Z3's.
The claims on the way to the contradiction are obligations too, each proved from all that is known and those before it.

Two voters sets matter there: that of a Candidate's log, and that of the log by which an entry was committed or another
leader elected. Either they are the same, or one is the next after the other, and then two majorities have a replica in
common; or one is further behind, or they are in different logs, and then the voter changes between them contradict what
was committed before them.
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
    """A lemma that there is no such thing, with its proof."""

    name: str
    variables: tuple[Expression, ...]
    condition: Callable[..., Formula]
    """From a state and a value for each variable."""
    size: Callable[..., Expression]
    """A natural number for each, from a value for each variable."""
    claims: Callable[..., Mapping[str, Formula]]
    """What a least one leads to, in order, from a state and the names of its parts."""

    def says(self, s: State) -> Formula:
        """There is none."""
        return forall(self.variables, Not(self.condition(s, *self.variables)))

    def obligations(self, s: State, part: str, known: Mapping[str, Formula]) -> Iterator[Obligation]:
        """That sizes are natural numbers, each claim about a least one, and at last a contradiction.

        Raises:
            ValueError: a fact speaks of a constant by which a part of the least one shall go.
        """
        some, of = self.condition(s, *self.variables), f"{part}/{self.name}"
        natural = forall(self.variables, Implies(some, self.size(*self.variables) >= 0))
        yield Obligation(f"{of}/sizes-are-natural", dict(known), natural)
        least = tuple(z3.Const(f"least.{one}", one.sort()) for one in self.variables)
        if taken := {name for fact in known.values() for name, _ in constants(fact)} & set(map(str, least)):
            raise ValueError(f"facts speak of {', '.join(sorted(taken))}, expected names that are new")
        facts = {
            **known,
            "counterexample": self.condition(s, *least),
            "none-smaller": forall(self.variables, Implies(some, self.size(*least) <= self.size(*self.variables))),
        }
        for claim, formula in {**self.claims(s, *least), "contradiction": z3.BoolVal(False)}.items():
            yield Obligation(f"{of}/{claim}", dict(facts), formula)
            facts[claim] = formula


def _of_two_sets(one_log: Expression, other_log: Expression) -> Mapping[str, Formula]:
    """How the voters sets in force in two logs are not related, and the way that is left."""
    one, other = voters_record(one_log), voters_record(other_log)
    in_different_logs = And(one != bootstrap, other != bootstrap, Not(prefix(one, other)), Not(prefix(other, one)))
    return {
        "not-the-same-set": one != other,
        "other-set-is-not-next": Not(And(other != bootstrap, previous_voters_record(other) == one)),
        "candidates-set-is-not-next": Not(And(one != bootstrap, previous_voters_record(one) == other)),
        "candidate-is-not-behind": Not(prefix(one, other)),
        "other-is-not-behind": Not(prefix(other, one)),
        "in-different-logs": in_different_logs,
    }


NEW_LEADER_IS_COMPLETE = Counterexample(
    "new-leader-is-complete",
    (_e, _g),
    lambda s, e, g: And(s.committed(e, g), epoch_of(e) < epoch, Not(prefix(e, log))),
    # Committed by the oldest voters set: this is the induction on voters sets.
    lambda _, g: offset_of(voters_record(g)),
    lambda _, e, g: _of_two_sets(log, g),
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
        **_of_two_sets(log, f),
    },
)
"""Nobody else was elected in the new leader's epoch."""


LATER_LEADERS_KEEP_IT = Counterexample(
    "later-leaders-keep-it",
    (_t, _r, _f),
    lambda s, t, r, f: And(s.elected(t, r, f), epoch_of(entry) < t, Not(prefix(entry, f))),
    # The leader of the smallest epoch: this is the induction on epochs.
    lambda t, *_: t,
    lambda s, t, r, f: {
        "nobody-voted-who-acknowledged": forall((_v,), Not(And(s.acknowledged(_v, entry), s.granted(_v, t, r, f)))),
        **_of_two_sets(f, s.log_end(leader)),
    },
)
"""Leaders elected after the epoch of the entry that is committed have it."""

EARLIER_LOG_IS_KEPT = Counterexample(
    "earlier-log-is-kept",
    (_e,),
    lambda s, e: And(prefix(e, earlier), Not(prefix(e, log)), Not(led_by_another(s, e, epoch, candidate))),
    offset_of,
    lambda *_: {},
)
"""A Candidate that asks again has what it asked with before, or another leads the epoch and was elected without it."""

LEMMAS: Mapping[str, tuple[Counterexample, ...]] = {
    "become-leader": (NEW_LEADER_IS_COMPLETE, NEW_LEADER_IS_THE_ONLY_ONE),
    "commit": (LATER_LEADERS_KEEP_IT,),
    "repeat-vote": (EARLIER_LOG_IS_KEPT,),
}
"""Of each action in their order; each may use those before it, and the action's obligations all."""

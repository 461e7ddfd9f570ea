"""The only rule of reasoning outside the solver: among counterexamples with sizes there is a least one."""

import pytest
import z3

from kraft_proofs.induction.lemmas import LEMMAS, Counterexample
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.own_vote import where_safe
from kraft_proofs.induction.prover import Obligation, premises, prove
from kraft_proofs.induction.state import any_state
from kraft_proofs.induction.symbols import ENTRY, epoch_of, forall, prefix, variables

x, y, a, b = variables(ENTRY, "x y a b")
(taken,) = variables(ENTRY, "least.x")

LATE = Counterexample(
    "none-is-late",
    (x,),
    lambda s, e: z3.And(s.written(e), epoch_of(e) > 3),
    epoch_of,
    lambda s, e: {"it-is-written": s.written(e)},
)


def test_a_lemma_says_that_there_is_no_counterexample() -> None:
    s = any_state()
    assert LATE.says(s).eq(forall((x,), z3.Not(z3.And(s.written(x), epoch_of(x) > 3))))


def test_a_least_counterexample_is_not_above_any_other_and_is_refuted_claim_by_claim() -> None:
    s = any_state()
    sizes, claim, last = LATE.obligations(s, "part", {"known": prefix(a, b)})
    assert sizes.facts.keys() == {"known"}
    assert sizes.goal.eq(forall((x,), z3.Implies(z3.And(s.written(x), epoch_of(x) > 3), epoch_of(x) >= 0)))
    assert (claim.name, last.name) == ("part/none-is-late/it-is-written", "part/none-is-late/contradiction")
    assert claim.facts["counterexample"].eq(z3.And(s.written(taken), epoch_of(taken) > 3))
    smaller = z3.Implies(z3.And(s.written(x), epoch_of(x) > 3), epoch_of(taken) <= epoch_of(x))
    assert claim.facts["none-smaller"].eq(forall((x,), smaller))
    assert last.facts.keys() - claim.facts.keys() == {"it-is-written"}
    assert z3.is_false(last.goal)


def test_a_claim_that_does_not_follow_is_not_proved() -> None:
    proved = [prove(obligation).proved for obligation in LATE.obligations(any_state(), "part", {})]
    assert proved == [True, True, False]


def test_a_counterexample_goes_by_no_name_that_a_fact_has() -> None:
    """Equal names would identify them."""
    with pytest.raises(ValueError, match=r"facts speak of least\.x"):
        list(LATE.obligations(any_state(), "part", {"known": prefix(taken, a)}))


def test_each_lemma_is_proved_of_an_action() -> None:
    names = {obligation.name for obligation in obligations(where_safe())}
    assert {f"{action}/{lemma.name}/contradiction" for action, listed in LEMMAS.items() for lemma in listed} <= names


def test_the_used_premises_are_identified_among_all_facts() -> None:
    chain = {f"part {n}": prefix(*pair) for n, pair in enumerate([(a, b), (b, a), (x, y), (y, x)] * 4)}
    obligation = Obligation("part/goal", {**chain, "needed": epoch_of(a) > 3}, epoch_of(a) > 2)
    assert premises(prove(obligation)) == ("needed",)
    assert premises(prove(obligation._replace(goal=prefix(a, x)))) == ()

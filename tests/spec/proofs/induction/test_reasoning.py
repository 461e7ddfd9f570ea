"""The rules of reasoning that are not the solver's."""

import pytest
import z3

from kraft_spec.proofs.induction.instances import Counterexamples, instance
from kraft_spec.proofs.induction.prover import prove
from kraft_spec.proofs.induction.script import Facts, MissingFactError, Script, ScriptError, one_step
from kraft_spec.proofs.induction.symbols import ENTRY, NUMBER, epoch_of, exists, forall, prefix, variables

x, y, a, b = variables(ENTRY, "x y a b")
(n,) = variables(NUMBER, "n")

each_has_a_later = forall((x,), z3.Implies(epoch_of(x) > 0, exists((y,), z3.And(prefix(x, y), x != y))))


def test_an_instance_names_what_exists() -> None:
    found = instance(each_has_a_later, (a,), "later")
    (later,) = found.named
    assert str(later) == "later.y"
    assert found.formula.eq(z3.Implies(epoch_of(a) > 0, z3.And(prefix(a, later), a != later)))
    assert found.unnamed.eq(z3.Implies(epoch_of(a) > 0, exists((y,), z3.And(prefix(a, y), a != y))))


def test_terms_go_to_the_variables_in_their_order() -> None:
    assert instance(forall((x, y), prefix(x, y)), (a, b), "").formula.eq(prefix(a, b))
    assert instance(forall((x, n), epoch_of(x) > n), (a, n), "").formula.eq(epoch_of(a) > n)


def test_what_exists_in_a_condition_gets_no_name() -> None:
    """If there is one, then so and so: that does not give one."""
    found = instance(forall((x,), z3.Implies(exists((y,), prefix(x, y)), epoch_of(x) > 0)), (a,), "no")
    assert found.named == ()


@pytest.mark.parametrize("terms", [(), (a, b), (n,)])
def test_an_instance_is_refused_for_other_terms(terms: tuple[z3.ExprRef, ...]) -> None:
    with pytest.raises(ValueError, match="terms of the sorts"):
        instance(each_has_a_later, terms, "")


def test_an_instance_is_refused_of_no_fact_for_all() -> None:
    with pytest.raises(ValueError, match="a fact for all is expected"):
        instance(exists((x,), prefix(x, a)), (a,), "")


def test_a_least_counterexample_is_not_above_any_other() -> None:
    late = Counterexamples((x,), lambda e: epoch_of(e) > 3, epoch_of)
    least = late.least("least")
    (named,) = least.named
    assert least.condition.eq(epoch_of(named) > 3)
    assert least.none_smaller.eq(forall((x,), z3.Implies(epoch_of(x) > 3, epoch_of(named) <= epoch_of(x))))


def _script(**facts: z3.BoolRef) -> Script:
    return Script("part/goal", Facts(facts), prefix(a, b))


def test_a_step_that_does_not_follow_is_not_proved() -> None:
    script = _script(known=prefix(b, a))
    script.have("false", prefix(a, b), "known")
    assert [prove(step).proved for step in script.contradiction("false denied")] == [False, True]


def test_a_step_uses_only_what_it_names() -> None:
    script = _script(known=prefix(a, b))
    (step,) = script.contradiction("denied")
    assert not prove(step).proved
    assert set(step.facts) == {"denied"}


def test_a_script_refuses_unknown_facts() -> None:
    with pytest.raises(ScriptError, match="part/goal/step uses nothing, which is no fact"):
        _script().have("step", prefix(a, b), "nothing")
    with pytest.raises(ScriptError, match="part/goal applies nothing"):
        _script().apply("nothing", (a,), "to")
    with pytest.raises(KeyError, match="nothing"):
        one_step("part/goal", Facts({}), prefix(a, b), "nothing")


def test_a_script_refuses_two_facts_of_one_name() -> None:
    script = _script(known=prefix(a, b))
    with pytest.raises(ScriptError, match="two facts known"):
        script.have("known", prefix(b, a), "")


def test_a_script_names_nothing_twice() -> None:
    """A second witness under the first one's name would be said to be the same."""
    script = _script(fact=each_has_a_later, again=each_has_a_later)
    script.apply("fact", (a,), "later")
    with pytest.raises(ScriptError, match=r"names later\.y a second time"):
        script.apply("again", (b,), "later")


def test_a_script_names_nothing_like_a_constant_of_its_facts() -> None:
    (taken,) = variables(ENTRY, "later.y")
    script = _script(fact=each_has_a_later, known=prefix(taken, a))
    with pytest.raises(ScriptError, match=r"names later\.y a second time"):
        script.apply("fact", (a,), "later")


def test_a_fact_taken_out_of_the_theory_is_left_out_of_steps() -> None:
    script = Script("part/goal", Facts({"known": prefix(a, b)}, frozenset({"gone"})), prefix(a, b))
    script.have("step", prefix(a, b), "known gone")
    with pytest.raises(MissingFactError, match="gone, here needs gone"):
        script.apply("gone", (a,), "here")

"""Linear facts as data: their arithmetic, and their text for other solvers."""

import z3
from hypothesis import given
from hypothesis import strategies as st

from kraft_proofs.linear import Problem, Term, at_most, equal, less, total, variable

X, Y = variable("x"), variable("y")
terms = st.builds(
    lambda x, y, constant: x * X + y * Y + constant, st.integers(-5, 5), st.integers(-5, 5), st.integers(-9, 9)
)
values = st.fixed_dictionaries({"x": st.integers(0, 9), "y": st.integers(0, 9)})


def test_a_term_has_one_form() -> None:
    assert Term((("x", 2), ("y", 3)), -1) == 2 * X + 3 * Y - 1
    assert Term((("x", 1),), 1) == 1 + Y + X - Y
    assert Term() == X - X
    assert Term() == 0 * X
    assert total([]) == Term()
    assert total([X, Y, X]) == 2 * X + Y
    assert Term((("x", -1),), 1) == 1 - X


@given(terms, terms, values)
def test_arithmetic_is_that_of_the_values(left: Term, right: Term, at: dict[str, int]) -> None:
    assert (left + right).value(at) == left.value(at) + right.value(at)
    assert (left - right).value(at) == left.value(at) - right.value(at)
    assert (3 * left).value(at) == 3 * left.value(at)


@given(terms, terms, values)
def test_facts_hold_where_they_say(left: Term, right: Term, at: dict[str, int]) -> None:
    here, there = left.value(at), right.value(at)
    assert at_most("", left, right).holds(at) == (here <= there)
    assert less("", left, right).holds(at) == (here < there)
    assert equal("", left, right).holds(at) == (here == there)


def test_the_text_for_solvers() -> None:
    problem = Problem("small", ("x", "y"), (less("a", X, 3), equal("b", 2 * X, Y - 1)))
    assert problem.smt2() == (
        "; small\n(set-option :produce-unsat-cores true)\n(set-logic QF_LIA)\n"
        "(declare-fun |x| () Int)\n(declare-fun |y| () Int)\n(assert (>= |x| 0))\n(assert (>= |y| 0))\n"
        "(assert (! (<= (+ |x| (- 2)) 0) :named |a|))\n"
        "(assert (! (and (<= (+ (* 2 |x|) (* (- 1) |y|) 1) 0) (<= (+ (* (- 2) |x|) |y| (- 1)) 0)) :named |b|))\n"
        "(check-sat)\n"
    )


@given(st.lists(terms, min_size=1, max_size=4), values)
def test_z3_reads_the_text_as_it_is_meant(rows: list[Term], at: dict[str, int]) -> None:
    facts = tuple(at_most(f"fact {number}", row, 0) for number, row in enumerate(rows))
    solver = z3.Solver()
    solver.from_string(Problem("drawn", ("x", "y"), facts).smt2())
    solver.add(*(z3.Int(name) == number for name, number in at.items()))
    assert (solver.check() == z3.sat) == all(fact.holds(at) for fact in facts)

"""Evaluation of formulas of the inductive proof: each Z3 term is translated once to a Python expression.

A quantifier, the parameters of a guard, the set of tuples of a relation: all of these need the values of some variables
for which a formula is true. They become loops over the candidates for one of its conjuncts (the tuples of a relation,
the prefixes of a log); every other conjunct is tested as soon as its variables have values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import z3

from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import SORTS, TRUTH, Expression, Formula
from kraft_proofs.induction.worlds import Environment, Meaning

_OPERATIONS: Mapping[int, str] = {
    z3.Z3_OP_TRUE: "True",
    z3.Z3_OP_FALSE: "False",
    z3.Z3_OP_NOT: "(not {})",
    z3.Z3_OP_IMPLIES: "(not {} or {})",
    z3.Z3_OP_ITE: "({1} if {0} else {2})",
    z3.Z3_OP_EQ: "({} == {})",
    z3.Z3_OP_DISTINCT: "({} != {})",
    z3.Z3_OP_LT: "({} < {})",
    z3.Z3_OP_LE: "({} <= {})",
    z3.Z3_OP_GT: "({} > {})",
    z3.Z3_OP_GE: "({} >= {})",
    z3.Z3_OP_MUL: "({} * {})",
}
_JOINED: Mapping[int, tuple[str, str]] = {
    z3.Z3_OP_AND: (" and ", "True"),
    z3.Z3_OP_OR: (" or ", "False"),
    z3.Z3_OP_ADD: (" + ", "0"),
}
"""Separator of the operands, and the value without operands."""


class Evaluated(NamedTuple):
    """A term that can be evaluated."""

    names: tuple[str, ...]
    """Names of its inputs: functions of the state, parameters, sorts."""
    function: Callable[..., Any]

    def __call__(self, environment: Environment) -> Any:
        """Return its value."""
        return self.function(*[environment[name] for name in self.names])


class _Part(NamedTuple):
    """A conjunct, with the names of the variables around it."""

    term: Expression
    positive: bool
    bound: tuple[str, ...]


class _Loop(NamedTuple):
    """A Python `for` clause over the values of some variables that make a part true."""

    rank: int
    """Rank by the expected number of iterations, smallest first."""
    source: str
    known: frozenset[str]
    part: _Part | None


class Evaluator:
    """Evaluates terms under one interpretation of the symbols that no step changes."""

    def __init__(self, meanings: Mapping[str, Meaning]) -> None:
        self._meanings = meanings
        self._globals: dict[str, Any] = {f"is_{name}": meaning.function for name, meaning in meanings.items()}
        self._globals |= {f"first_{name}": meaning.first for name, meaning in meanings.items() if meaning.first}
        self._given = {*FUNCTIONS, *SORTS}
        self._numbers = count()

    def value(self, term: Expression) -> Evaluated:
        """Return a function that computes the term's value.

        Raises:
            ValueError: the term has a part outside the language of the proof.
        """
        return self._compile(self._to_python(term, ()), ())

    def solutions(self, variables: tuple[Expression, ...], formula: Formula) -> Evaluated:
        """Return a function that computes all tuples of values of these constants for which the formula holds."""
        sorts = {str(variable): str(variable.sort()) for variable in variables}
        values = "".join(f"{name}, " for name in sorts)
        cases = formula.children() if z3.is_or(formula) else [formula]
        sets = (f"frozenset([({values}) {self._write_loops(sorts, _Part(case, True, ()))}])" for case in cases)
        return self._compile(" | ".join(sets), sorts)

    def _compile(self, source: str, bound: Iterable[str]) -> Evaluated:
        names = tuple(sorted(_names_in(source) & self._given - set(bound)))
        return Evaluated(names, eval(f"lambda {', '.join(names)}: {source}", self._globals))

    def _fresh(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    def _to_python(self, term: Expression, bound: tuple[str, ...]) -> str:
        """Return the term as a Python expression."""
        if z3.is_var(term):
            index: int = z3.get_var_index(term)
            return bound[-1 - index]
        if z3.is_quantifier(term):
            sorts = {self._fresh(term.var_name(n)): str(term.var_sort(n)) for n in range(term.num_vars())}
            body = _Part(term.body(), not term.is_forall(), (*bound, *sorts))
            return f"({'not ' * term.is_forall()}any(True {self._write_loops(sorts, body)}))"
        if z3.is_int_value(term):
            return str(term.as_long())
        parts = [self._to_python(child, bound) for child in term.children()]
        kind, name = term.decl().kind(), str(term.decl().name())
        if kind != z3.Z3_OP_UNINTERPRETED:
            return _write_operation(term, kind, parts)
        if not parts:
            self._given.add(name)
            return name
        if name in FUNCTIONS:
            return f"(({', '.join(parts)},) in {name})" if term.sort() == TRUTH else f"{name}[{parts[0]}]"
        if name in self._meanings:
            return f"is_{name}({', '.join(parts)})"
        raise ValueError(f"not in the language of the proof: {term}")

    def _write_loops(self, variables: Mapping[str, str], formula: _Part) -> str:
        """Return Python's `for ... if ...` over all values of the variables, by sort, that make the formula true."""
        unknown = dict(variables)
        pending = {part: self._test(part) for part in _split(formula)}
        clauses: list[str] = []
        while unknown or pending:
            ready = [part for part, truth in pending.items() if not _names_in(truth) & unknown.keys()]
            clauses += [f"if {pending.pop(part)}" for part in ready]
            if unknown:
                loop = self._choose_loop(unknown, pending)
                clauses.append(loop.source)
                pending = {part: truth for part, truth in pending.items() if part is not loop.part}
                unknown = {name: sort for name, sort in unknown.items() if name not in loop.known}
        return " ".join(clauses if clauses and clauses[0].startswith("for") else ("for _ in (0,)", *clauses))

    def _test(self, part: _Part) -> str:
        source = self._to_python(part.term, part.bound)
        return source if part.positive else f"(not {source})"

    def _choose_loop(self, unknown: Mapping[str, str], pending: Mapping[_Part, str]) -> _Loop:
        """Return the loop with the fewest expected iterations."""
        loops = [loop for part in pending if part.positive for loop in self._possible_loops(part, unknown)]
        if loops:
            return min(loops, key=lambda loop: loop.rank)
        wanted = min((_names_in(truth) & unknown.keys() for truth in pending.values()), key=len, default=unknown.keys())
        name = next(name for name in unknown if name in wanted)
        return _Loop(0, f"for {name} in {unknown[name]}", frozenset((name,)), None)

    def _possible_loops(self, part: _Part, unknown: Mapping[str, str]) -> Iterator[_Loop]:
        """Yield loops over the candidates for a part."""
        term = part.term
        if z3.is_quantifier(term) or not term.children():
            return
        name = str(term.decl().name())
        sides = [self._to_python(child, part.bound) for child in term.children()]
        open_ = frozenset(side for side in sides if _names_in(side) & unknown.keys())
        if not open_ <= unknown.keys():
            return
        if z3.is_eq(term) and len(open_ ^ {*sides}) == 1:
            target_side, value_side = sorted(sides, key=lambda side: side not in open_)
            yield _Loop(0, f"for {target_side} in ({value_side},)", open_, part)
        elif f"first_{name}" in self._globals and open_ == {sides[0]} < {*sides}:
            yield _Loop(1, f"for {sides[0]} in first_{name}({sides[1]})", open_, part)
        elif name in FUNCTIONS and term.sort() == TRUTH:
            targets = [
                side if side in open_ and side not in sides[:n] else f"given_{n}" for n, side in enumerate(sides)
            ]
            tests = [f" if {target} == {side}" for target, side in zip(targets, sides, strict=True) if target != side]
            yield _Loop(1 + len(open_), f"for ({', '.join(targets)},) in {name}{''.join(tests)}", open_, part)


def _names_in(source: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z]\w*", source))


def _split(part: _Part) -> list[_Part]:
    """Return the conjuncts of a part."""
    term, positive, bound = part
    if z3.is_not(term):
        return _split(_Part(term.arg(0), not positive, bound))
    if z3.is_implies(term) and not positive:
        condition, conclusion = term.children()
        return _split(_Part(condition, True, bound)) + _split(_Part(conclusion, False, bound))
    if (z3.is_and(term) and positive) or (z3.is_or(term) and not positive):
        return [conjunct for child in term.children() for conjunct in _split(_Part(child, positive, bound))]
    return [part]


def _write_operation(term: Expression, kind: int, parts: list[str]) -> str:
    """Write a logical or arithmetic operation.

    Raises:
        ValueError: the operation is not supported.
    """
    if kind in _JOINED:
        word, empty = _JOINED[kind]
        return f"({word.join(parts)})" if parts else empty
    if kind not in _OPERATIONS or (kind == z3.Z3_OP_DISTINCT and len(parts) > 2):
        raise ValueError(f"not in the language of the proof: {term}")
    return _OPERATIONS[kind].format(*parts)

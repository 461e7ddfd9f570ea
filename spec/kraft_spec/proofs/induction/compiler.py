"""Formulas of the inductive proof, translated to Python: each Z3 term once, to the source of one function.

A quantifier, the parameters of a guard, the set of tuples of a relation: all of these ask for the assignments of some
variables that make a formula true. They become loops over what can make one of its conjuncts true (the tuples of a
relation, the prefixes of a log), with every other conjunct tested as soon as its variables have values.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

import z3

from kraft_spec.proofs.induction.state import FUNCTIONS
from kraft_spec.proofs.induction.symbols import TRUTH, Expression, Formula
from kraft_spec.proofs.induction.worlds import Environment, Meaning

_INFIX = {z3.Z3_OP_LT: "<", z3.Z3_OP_LE: "<=", z3.Z3_OP_GT: ">", z3.Z3_OP_GE: ">=", z3.Z3_OP_EQ: "=="}
_JOINED = {
    z3.Z3_OP_AND: (" and ", "True"),
    z3.Z3_OP_OR: (" or ", "False"),
    z3.Z3_OP_ADD: (" + ", "0"),
    z3.Z3_OP_MUL: (" * ", "1"),
}


class Compiled(NamedTuple):
    """A term that can be evaluated."""

    names: tuple[str, ...]
    """What it must be given: functions of the state, parameters, sorts."""
    source: str
    function: Callable[..., Any]

    def __call__(self, environment: Environment) -> Any:
        """Its value."""
        return self.function(*[environment[name] for name in self.names])


class _Code(NamedTuple):
    source: str
    free: frozenset[str]


class _Part(NamedTuple):
    """A conjunct, with the names of the variables around it."""

    term: Expression
    positive: bool
    bound: tuple[str, ...]


class Compiler:
    """Translates terms, with one meaning of the symbols that no step changes."""

    def __init__(self, meanings: Mapping[str, Meaning]) -> None:
        """Use these meanings."""
        self._meanings = meanings
        self._globals: dict[str, Any] = {f"is_{name}": meaning.function for name, meaning in meanings.items()}
        self._globals |= {f"first_{name}": meaning.first for name, meaning in meanings.items() if meaning.first}
        self._numbers = count()

    def value(self, term: Expression) -> Compiled:
        """A function that evaluates the term.

        Raises:
            ValueError: the term has a part that is not in the language of the proof.
        """
        return self._function(self._code(term, ()))

    def solutions(self, variables: tuple[Expression, ...], formula: Formula) -> Compiled:
        """A function that gives the set of all tuples of values of these constants for which the formula holds."""
        names = {str(variable): variable.sort() for variable in variables}
        values = "".join(f"{name}, " for name in names)
        cases = [
            self._loops(names, self._conjuncts(_Part(part, True, ())))
            for part in (formula.children() if z3.is_or(formula) else [formula])
        ]
        source = " | ".join(f"frozenset([({values}) {loops.source}])" for loops in cases)
        return self._function(_Code(source, frozenset().union(*(loops.free for loops in cases))))

    def _function(self, code: _Code) -> Compiled:
        names = tuple(sorted(code.free))
        source = f"lambda {', '.join(names)}: {code.source}"
        return Compiled(names, source, eval(source, self._globals))

    def _fresh(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    def _code(self, term: Expression, bound: tuple[str, ...]) -> _Code:
        """The term as a Python expression."""
        if z3.is_var(term):
            name = bound[len(bound) - 1 - z3.get_var_index(term)]
            return _Code(name, frozenset((name,)))
        if z3.is_quantifier(term):
            return self._quantifier(term, bound)
        if z3.is_int_value(term):
            return _Code(str(term.as_long()), frozenset())
        parts = [self._code(child, bound) for child in term.children()]
        free = frozenset().union(*(part.free for part in parts))
        sources = [part.source for part in parts]
        kind = term.decl().kind()
        name = str(term.decl().name())
        if kind == z3.Z3_OP_UNINTERPRETED and not parts:
            return _Code(name, frozenset((name,)))
        if kind == z3.Z3_OP_UNINTERPRETED and name in FUNCTIONS:
            application = f"({', '.join(sources)},) in {name}" if term.sort() == TRUTH else f"{name}[{sources[0]}]"
            return _Code(f"({application})", free | {name})
        if kind == z3.Z3_OP_UNINTERPRETED and name in self._meanings:
            return _Code(f"is_{name}({', '.join(sources)})", free)
        return _Code(_operation(term, kind, sources), free)

    def _quantifier(self, term: Formula, bound: tuple[str, ...]) -> _Code:
        names = {self._fresh(term.var_name(number)): term.var_sort(number) for number in range(term.num_vars())}
        body = _Part(term.body(), not term.is_forall(), (*bound, *names))
        loops = self._loops(names, self._conjuncts(body))
        found = f"any(True {loops.source})"
        return _Code(f"(not {found})" if term.is_forall() else found, loops.free)

    def _conjuncts(self, part: _Part) -> list[_Part]:
        """What must all be true for the part to be."""
        term, positive, bound = part
        if z3.is_not(term):
            return self._conjuncts(_Part(term.arg(0), not positive, bound))
        if z3.is_implies(term) and not positive:
            condition, conclusion = term.children()
            return self._conjuncts(_Part(condition, True, bound)) + self._conjuncts(_Part(conclusion, False, bound))
        if (z3.is_and(term) and positive) or (z3.is_or(term) and not positive):
            return [found for child in term.children() for found in self._conjuncts(_Part(child, positive, bound))]
        return [part]

    def _truth(self, part: _Part) -> _Code:
        code = self._code(part.term, part.bound)
        return code if part.positive else _Code(f"(not {code.source})", code.free)

    def _loops(self, variables: Mapping[str, z3.SortRef], parts: list[_Part]) -> _Code:
        """Python's `for ... if ...` over all values of the variables that make all parts true."""
        unknown = dict(variables)
        pending = [(part, self._truth(part)) for part in parts]
        clauses: list[str] = []
        free: set[str] = set()
        while unknown or pending:
            for part, code in [one for one in pending if not unknown.keys() & one[1].free]:
                clauses.append(f"if {code.source}")
                free |= code.free
                pending.remove((part, code))
            if unknown:
                loop, known, used = self._next_loop(unknown, pending)
                pending = [one for one in pending if one[0] is not used]
                clauses.append(loop.source)
                free |= loop.free
                for name in known:
                    del unknown[name]
        if not clauses or clauses[0].startswith("if"):
            clauses.insert(0, "for _ in (0,)")
        return _Code(" ".join(clauses), frozenset(free - variables.keys()))

    def _next_loop(
        self, unknown: Mapping[str, z3.SortRef], pending: list[tuple[_Part, _Code]]
    ) -> tuple[_Code, frozenset[str], _Part | None]:
        """The loop that promises the fewest rounds, which variables it gives values, and which part it makes true."""
        found = [(*loop, part) for part, _ in pending if part.positive for loop in self._generators(part, unknown)]
        if found:
            _, loop, known, used = min(found, key=lambda one: one[0])
            return loop, known, used
        wanted = min((code.free & unknown.keys() for _, code in pending), key=len, default=unknown.keys())
        name = next(name for name in unknown if name in wanted)
        sort = str(unknown[name])
        return _Code(f"for {name} in {sort}", frozenset((sort,))), frozenset((name,)), None

    def _generators(
        self, part: _Part, unknown: Mapping[str, z3.SortRef]
    ) -> Iterable[tuple[int, _Code, frozenset[str]]]:
        """Loops over all that can make a part true, with a rank."""
        term, _, bound = part
        if z3.is_quantifier(term) or z3.is_const(term) or z3.is_var(term):
            return
        sides = [self._code(child, bound) for child in term.children()]
        if z3.is_eq(term):
            for one, other in (sides, reversed(sides)):
                if one.source in unknown and not other.free & unknown.keys():
                    yield 0, _Code(f"for {one.source} in ({other.source},)", other.free), frozenset((one.source,))
            return
        name = str(term.decl().name())
        if f"first_{name}" in self._globals:
            one, other = sides
            if one.source in unknown and not other.free & unknown.keys():
                yield (
                    1,
                    _Code(f"for {one.source} in first_{name}({other.source})", other.free),
                    frozenset((one.source,)),
                )
        elif name in FUNCTIONS and term.sort() == TRUTH:
            open_ = [side for side in sides if side.free & unknown.keys()]
            if all(side.source in unknown for side in open_):
                yield 1 + len({side.source for side in open_}), *self._over_relation(name, sides, unknown)

    def _over_relation(
        self, name: str, sides: list[_Code], unknown: Mapping[str, z3.SortRef]
    ) -> tuple[_Code, frozenset[str]]:
        """A loop over the tuples of a relation."""
        targets: list[str] = []
        tests: list[str] = []
        for side in sides:
            if side.source in unknown and side.source not in targets:
                targets.append(side.source)
            else:
                targets.append(self._fresh("given"))
                tests.append(f" if {targets[-1]} == {side.source}")
        free = frozenset().union(*(side.free for side in sides)) | {name}
        loop = f"for ({', '.join(targets)},) in {name}" + "".join(tests)
        return _Code(loop, free), frozenset(targets) & unknown.keys()


def _operation(term: Expression, kind: int, parts: list[str]) -> str:
    """Logic and arithmetic.

    Raises:
        ValueError: the operation is another one.
    """
    if kind == z3.Z3_OP_TRUE or kind == z3.Z3_OP_FALSE:
        return str(kind == z3.Z3_OP_TRUE)
    if kind == z3.Z3_OP_NOT:
        return f"(not {parts[0]})"
    if kind == z3.Z3_OP_IMPLIES:
        return f"(not {parts[0]} or {parts[1]})"
    if kind == z3.Z3_OP_ITE:
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    if kind == z3.Z3_OP_DISTINCT and len(parts) == 2:
        return f"({parts[0]} != {parts[1]})"
    if kind in _JOINED:
        word, empty = _JOINED[kind]
        return f"({word.join(parts)})" if parts else empty
    if kind in _INFIX:
        return f"({parts[0]} {_INFIX[kind]} {parts[1]})"
    raise ValueError(f"not in the language of the proof: {term}")

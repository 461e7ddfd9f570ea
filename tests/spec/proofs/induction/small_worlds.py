"""States of small clusters for tests, and a slow but obvious evaluation of formulas in them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import z3

from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.replays import Cluster, moves, replay
from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import TRUTH
from kraft_proofs.induction.worlds import MEANINGS, World

TINY = Cluster(3, 3, 2)
STANDING = "stand candidate=1; vote voter=2 candidate=1"
REPLICATED = "elect 1 2; append 1; replicate 1 2"
VOTER_REMOVED = (
    "elect 1 2; append 1; replicate 1 2 3; commit 1; append 1 {1,2}; replicate 1 2; commit 1; elect 2 1; append 2"
)
DIVERGED = (
    "elect 1 2; append 1; elect 2 3; append 2; replicate 2 3; learn-leader replica=1 leader=2; "
    "truncate replica=1 kept=bootstrap"
)


DAMAGES = 4
"""Number of damaged copies of each world."""


def tiny_worlds(interpreter: Interpreter, seed: int) -> Iterator[World]:
    """Yield the last states of runs of a tiny cluster, also with damage; every action is possible in one of them."""
    random = Random(seed)
    for run in (VOTER_REMOVED, DIVERGED, REPLICATED, STANDING):
        replayed = replay(interpreter, TINY, moves(run))
        assert replayed.refused is None
        yield replayed.world
        yield from (_with_damage(replayed.world, random) for _ in range(DAMAGES))


def _with_damage(world: World, random: Random) -> World:
    return world._replace(values={name: _damaged(name, value, random) for name, value in world.values.items()})


def _damaged(name: str, value: Any, random: Random) -> Any:
    """Return a relation without some tuples, or a function with some values of another replica."""
    if name == "written":
        return value
    if FUNCTIONS[name].value == TRUTH:
        return frozenset(element for element in sorted(value, key=str) if random.random() < 0.7)
    return {replica: value[random.choice((replica, *value))] for replica in value}


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of Z3 converted to Python once, because a test evaluates it very often.

    Attributes:
        kind: "variable", "forall", "exists", "and", "or", "implies", "literal" or "applied".
        name: Name of the applied function, relation or operation.
        parts: The terms below it.
        sorts: Sorts of a quantifier.
        value: The literal, or the index of the variable, counted from the innermost.
    """

    kind: str
    name: str = ""
    parts: tuple["_Term", ...] = ()
    sorts: tuple[str, ...] = ()
    value: Any = None


def obvious_value(term: Any, environment: Mapping[str, Any]) -> Any:
    """Return the value of a term, with each quantifier tried for everything in its sort."""
    return _value(_read(term), environment, ())


_known: dict[int, tuple[z3.AstRef, _Term]] = {}
"""Cache by Z3's number of the term, which stays valid while the term is referenced."""


def _read(term: Any) -> _Term:
    if not z3.is_expr(term):
        return _Term("literal", value=term)
    number = term.get_id()
    if number not in _known:
        _known[number] = (term, _read_anew(term))
    return _known[number][1]


def _read_anew(term: Any) -> _Term:
    if z3.is_var(term):
        return _Term("variable", value=z3.get_var_index(term))
    if z3.is_quantifier(term):
        sorts = tuple(str(term.var_sort(number)) for number in range(term.num_vars()))
        return _Term("forall" if term.is_forall() else "exists", parts=(_read(term.body()),), sorts=sorts)
    if z3.is_int_value(term):
        return _Term("literal", value=term.as_long())
    if z3.is_true(term) or z3.is_false(term):
        return _Term("literal", value=z3.is_true(term))
    parts = tuple(map(_read, term.children()))
    for kind, is_kind in (("or", z3.is_or), ("and", z3.is_and), ("implies", z3.is_implies)):
        if is_kind(term):
            return _Term(kind, parts=parts)
    return _Term("applied", str(term.decl().name()), parts)


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "=": lambda left, other: left == other,
    "distinct": lambda left, other: left != other,
    "<": lambda left, other: left < other,
    "<=": lambda left, other: left <= other,
    ">": lambda left, other: left > other,
    ">=": lambda left, other: left >= other,
    "not": lambda operand: not operand,
    "if": lambda condition, then, other: then if condition else other,
}


def _value(term: _Term, environment: Mapping[str, Any], bound: tuple[Any, ...]) -> Any:
    match term.kind:
        case "literal":
            return term.value
        case "variable":
            return bound[len(bound) - 1 - term.value]
        case "and":
            return all(_value(part, environment, bound) for part in term.parts)
        case "or":
            return any(_value(part, environment, bound) for part in term.parts)
        case "implies":
            condition, conclusion = term.parts
            return not _value(condition, environment, bound) or _value(conclusion, environment, bound)
        case "forall" | "exists":
            tried = product(*(environment[sort] for sort in term.sorts))
            results = (_value(term.parts[0], environment, (*bound, *values)) for values in tried)
            return all(results) if term.kind == "forall" else any(results)
    parts = [_value(part, environment, bound) for part in term.parts]
    if term.name in MEANINGS:
        return MEANINGS[term.name].function(*parts)
    if term.name in FUNCTIONS:
        value = environment[term.name]
        return tuple(parts) in value if FUNCTIONS[term.name].value == TRUTH else value[parts[0]]
    return _OPERATIONS[term.name](*parts) if parts else environment[term.name]

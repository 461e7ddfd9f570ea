"""States of small clusters for tests, and formulas evaluated in them the slow and obvious way."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

import z3

from kraft_spec.proofs.induction.interpreter import Interpreter
from kraft_spec.proofs.induction.replays import append, commit, elect, replay, replicate
from kraft_spec.proofs.induction.simulator import Cluster, random_run
from kraft_spec.proofs.induction.state import FUNCTIONS
from kraft_spec.proofs.induction.symbols import TRUTH
from kraft_spec.proofs.induction.worlds import MEANINGS, World

TINY = Cluster(3, 2, 2, 150)
MOST_ENTRIES = 4
VOTER_REMOVED = (
    *elect(1, 2),
    append(1),
    *replicate(1, 2, 3),
    commit(1),
    append(1, 1, 2),
    *replicate(1, 2),
    commit(1),
    *elect(2, 1),
    append(2),
)


def tiny_worlds(interpreter: Interpreter, seed: int, runs: int) -> Iterator[World]:
    """Late states of random runs of a tiny cluster with few entries, and one of a told run, each also with damage."""
    random = Random(seed)
    told = replay(interpreter, TINY, VOTER_REMOVED)
    assert told.refused is None
    for _ in range(runs):
        yield told.world
        yield _with_damage(told.world, random)
    for _ in range(runs):
        *_, world = (world for _, world in random_run(interpreter, TINY, random) if len(world.written) <= MOST_ENTRIES)
        yield world
        yield _with_damage(world, random)


def _with_damage(world: World, random: Random) -> World:
    return world._replace(values={name: _damaged(name, value, random) for name, value in world.values.items()})


def _damaged(name: str, value: Any, random: Random) -> Any:
    """Some tuples of a relation are gone, some values of a function are another replica's."""
    if name == "written":
        return value
    if FUNCTIONS[name].value == TRUTH:
        return frozenset(one for one in sorted(value, key=str) if random.random() < 0.7)
    return {replica: value[random.choice((replica, *value))] for replica in value}


def obvious_value(term: Any, environment: Mapping[str, Any], bound: tuple[Any, ...] = ()) -> Any:
    """The value of a term, with each quantifier tried for everything in its sort."""
    if not z3.is_expr(term):
        return term
    if z3.is_var(term):
        return bound[len(bound) - 1 - z3.get_var_index(term)]
    if z3.is_quantifier(term):
        sorts = [environment[str(term.var_sort(number))] for number in range(term.num_vars())]
        found = (obvious_value(term.body(), environment, (*bound, *values)) for values in product(*sorts))
        return all(found) if term.is_forall() else any(found)
    if z3.is_int_value(term):
        return term.as_long()
    if z3.is_or(term):
        return any(obvious_value(part, environment, bound) for part in term.children())
    if z3.is_implies(term):
        condition, conclusion = term.children()
        return not obvious_value(condition, environment, bound) or obvious_value(conclusion, environment, bound)
    if z3.is_and(term):
        return all(obvious_value(part, environment, bound) for part in term.children())
    parts = [obvious_value(part, environment, bound) for part in term.children()]
    name = str(term.decl().name())
    if name in MEANINGS:
        return MEANINGS[name].function(*parts)
    if name in FUNCTIONS:
        value = environment[name]
        return tuple(parts) in value if FUNCTIONS[name].value == TRUTH else value[parts[0]]
    if not parts:
        return environment[name] if name in environment else z3.is_true(term)
    operations: Mapping[str, Callable[..., Any]] = {
        "=": lambda one, other: one == other,
        "distinct": lambda one, other: one != other,
        "<": lambda one, other: one < other,
        "<=": lambda one, other: one <= other,
        ">": lambda one, other: one > other,
        ">=": lambda one, other: one >= other,
        "not": lambda one: not one,
        "if": lambda condition, one, other: one if condition else other,
    }
    return operations[name](*parts)

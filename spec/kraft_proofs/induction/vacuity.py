"""Consistency checks of the proof's premises, because contradictory premises imply anything.

Two checks. A world: for each action, a state of a small cluster, reached by the actions, in which all axioms, all
invariants and the action's guard are true. That proves satisfiability for every obligation with these premises. And
the solver: it does not refute the premises of an obligation without its goal, within the limits of the proofs. That is
no proof of satisfiability, but also covers obligations that belong to no action.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.prover import Obligation, refutes
from kraft_proofs.induction.replays import Cluster, first_world, moves, replay
from kraft_proofs.induction.worlds import World, all_sets

COURSE = (
    Cluster(5, 3, 5),
    moves(
        """
        elect 1 2; append 1; replicate 1 2; commit 1
        append 1 {1,2,3,4}; replicate 1 2 4; commit 1; append 1
        elect 2 3 4; append 2; replicate 2 4; learn-leader replica=1 leader=2
        elect 2 3 4; append 2; replicate 2 3 4; commit 2; learn-leader replica=1 leader=2
        stand candidate=3
        """
    ),
)
"""A voter is added, two leaders follow, and replica 1 has an entry that no other replica has."""


class Witness(NamedTuple):
    """A world with a step that an action's guard allows there."""

    world: World
    step: Step


def refuted_premises(listed: Iterable[Obligation], advance: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Return names of the obligations whose facts alone contradict each other, according to the solver.

    Equal sets of facts are checked once. Claims about a counterexample are skipped, as their facts must contradict.
    """
    refuted: dict[frozenset[int], bool] = {}
    names = []
    for obligation in listed:
        facts = frozenset(fact.get_id() for fact in obligation.facts.values())
        if facts not in refuted:
            refuted[facts] = not is_of_counterexample(obligation) and refutes(obligation.facts.values())
        if refuted[facts]:
            names.append(obligation.name)
        advance()
    return tuple(names)


def is_of_counterexample(obligation: Obligation) -> bool:
    """Return True if the premises include a counterexample to a lemma, and so contradict each other if it is true."""
    return "counterexample" in obligation.facts


def witnesses(interpreter: Interpreter) -> Mapping[str, Witness]:
    """Return for each action a reachable world with a substantial history in which the action is possible.

    Substantial: two leaders were elected, and a voter change was committed. Actions without such a world are omitted.
    """
    chosen: dict[str, Witness] = {}
    world = first_world(interpreter, COURSE[0])
    for step in replay(interpreter, *COURSE).steps:
        world = interpreter.after(world, step)
        if not _has_history(world):
            continue
        for action in interpreter.theory.actions:
            if action.name not in chosen and (possible := _find_step(interpreter, world, action.name)) is not None:
                chosen[action.name] = Witness(world, possible)
    return chosen


def _has_history(world: World) -> bool:
    changes = (entry for entry, _ in world.values["committed"] if entry.newest is not world.bootstrap)
    return len(world.values["elected"]) >= 2 and any(changes)


def _find_step(interpreter: Interpreter, world: World, action: str) -> Step | None:
    unwritten = world.next_entries(all_sets(world.replicas)) if action == "append" else ()
    return min(interpreter.steps(world, action, *unwritten), key=str, default=None)

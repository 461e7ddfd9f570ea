"""Are the premises of the proof possible at all? From premises that contradict each other anything would follow.

Two answers. A world: a state of a small cluster, reached by the actions, in which all axioms, all invariants and the
guard of an action are true, for each action. That is satisfiability, and covers every obligation about the action whose
premises are these. And the solver: without the goal, it does not refute what an obligation is proved from, with the
limits with which goals are proved. That is no satisfiability, but covers what is proved of no action as well.
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
"""A voter is added, two leaders follow, and replica 1 has an entry that nobody else has."""


class Witness(NamedTuple):
    """A world with a step that an action's guard allows there."""

    world: World
    step: Step


def refuted_premises(listed: Iterable[Obligation], advance: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Names of the obligations whose facts contradict each other without the goal, as the solver finds.

    What several are proved from is asked once. Claims about a counterexample are not asked about: there is none.
    """
    refuted: dict[frozenset[int], bool] = {}
    found = []
    for one in listed:
        facts = frozenset(fact.get_id() for fact in one.facts.values())
        if facts not in refuted:
            refuted[facts] = not is_of_counterexample(one) and refutes(one.facts.values())
        if refuted[facts]:
            found.append(one.name)
        advance()
    return tuple(found)


def is_of_counterexample(obligation: Obligation) -> bool:
    """Does it rest on a counterexample to a lemma, so that its premises contradict each other if the lemma is true?"""
    return "counterexample" in obligation.facts


def witnesses(interpreter: Interpreter) -> Mapping[str, Witness]:
    """For each action a world that was reached by steps, where the action is possible and much has happened before.

    Much: two leaders were elected, and a voter change was committed. Actions for which none is found are left out.
    """
    found: dict[str, Witness] = {}
    world = first_world(interpreter, COURSE[0])
    for step in replay(interpreter, *COURSE).steps:
        world = interpreter.after(world, step)
        if not _much_happened(world):
            continue
        for action in interpreter.theory.actions:
            if action.name not in found and (possible := _some_step(interpreter, world, action.name)) is not None:
                found[action.name] = Witness(world, possible)
    return found


def _much_happened(world: World) -> bool:
    changes = (entry for entry, _ in world.values["committed"] if entry.newest is not world.bootstrap)
    return len(world.values["elected"]) >= 2 and any(changes)


def _some_step(interpreter: Interpreter, world: World, action: str) -> Step | None:
    unwritten = world.next_entries(all_sets(world.replicas)) if action == "append" else ()
    return min(interpreter.steps(world, action, *unwritten), key=str, default=None)

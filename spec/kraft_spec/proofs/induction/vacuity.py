"""Are the premises of the proof possible at all? From premises that contradict each other anything would follow.

Two answers. A world: a state of a small cluster, reached by the actions, in which all axioms, all invariants and the
guard of an action are true, for each action. That is satisfiability, and covers every obligation about the action whose
premises are these. And the solver: without the goal, the premises that served in a proof are not refuted, with the same
limit of work with which goals are proved. That is no satisfiability, but covers the steps of scripts as well, which
also rest on the denial of what they prove.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import z3

from kraft_spec.proofs.induction.interpreter import Interpreter, Step
from kraft_spec.proofs.induction.prover import Answer, Obligation, refutes
from kraft_spec.proofs.induction.replays import COURSE, replay
from kraft_spec.proofs.induction.simulator import first_world
from kraft_spec.proofs.induction.worlds import World, all_sets


class Witness(NamedTuple):
    """A world with a step that an action's guard allows there."""

    world: World
    step: Step


def is_reductio(obligation: Obligation) -> bool:
    """Is it the last step of a script, whose premises must contradict each other, because it has no other goal?"""
    return bool(z3.is_false(obligation.goal))


def refuted_premises(answers: Iterable[Answer], advance: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Names of the proved obligations whose premises contradict each other without the goal, as the solver finds."""
    found = []
    for answer in answers:
        premises = [answer.obligation.facts[name] for name in answer.premises or ()]
        if premises and refutes(premises):
            found.append(answer.obligation.name)
        advance()
    return tuple(found)


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

"""The interpreter evaluates the prover's own terms correctly."""

from itertools import product

import pytest
import z3
from tests.spec.proofs.induction.small_worlds import DAMAGES, obvious_value, tiny_worlds

from kraft_proofs.induction.changes import changed
from kraft_proofs.induction.evaluator import Evaluator
from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.replays import Cluster, first_world
from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import ENTRY, NUMBER, RIGID, TRUTH, variables
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.worlds import MEANINGS, Record, bootstrapped

THEORY = theory()
INTERPRETER = Interpreter(THEORY)
WORLDS = tuple(tiny_worlds(INTERPRETER, seed=7))
UNDAMAGED = WORLDS[:: DAMAGES + 1]
INVARIANTS = {invariant.name: invariant.formula(THEORY.before) for invariant in (*THEORY.invariants, *THEORY.safety)}


@pytest.mark.parametrize("name", INVARIANTS)
def test_an_invariant_has_the_value_that_trying_everything_gives(name: str) -> None:
    evaluated = INTERPRETER.invariants[name]
    environments = [world.environment() for world in WORLDS]
    assert [evaluated(environment) for environment in environments] == [
        obvious_value(INVARIANTS[name], environment) for environment in environments
    ]


def test_the_worlds_of_these_tests_make_invariants_false_and_true() -> None:
    assert [INTERPRETER.broken(world) for world in UNDAMAGED] == [()] * 4
    assert len({name for world in WORLDS for name in INTERPRETER.broken(world)}) > 12


def test_an_axiom_has_the_value_that_trying_everything_gives() -> None:
    environment = WORLDS[0].environment()
    values = {axiom.name: obvious_value(axiom.formula, environment) for axiom in THEORY.axioms}
    assert {name: evaluated(environment) for name, evaluated in INTERPRETER.axioms.items()} == values
    assert all(values.values())


@pytest.mark.parametrize("action", [action.name for action in THEORY.actions])
def test_a_step_is_possible_exactly_where_its_guard_is_true(action: str) -> None:
    definition = THEORY.action(action)
    guard = z3.And(*definition.guard.values())
    any_step = False
    for world in UNDAMAGED:
        unwritten = tuple(world.next_entries([None]))[:1] if action == "append" else ()
        environment = world.environment(*unwritten)
        steps = {frozenset(step.arguments.items()) for step in INTERPRETER.steps(world, action, *unwritten)}
        names = [str(parameter) for parameter in definition.parameters]
        visible = {name for step in steps for name, _ in step} or set(names)
        # Only parameters that matter vary: the first values of the others are not always the right ones.
        sorts = [environment[str(parameter.sort())] for parameter in definition.parameters]
        expected = set()
        for values in product(*sorts):
            arguments = dict(zip(names, values, strict=True))
            step = frozenset((name, value) for name, value in arguments.items() if name in visible)
            if step not in expected and obvious_value(guard, {**environment, **arguments}):
                expected.add(step)
        assert steps == expected
        any_step = any_step or bool(steps)
    assert any_step


@pytest.mark.parametrize("action", [action.name for action in THEORY.actions])
def test_the_state_after_a_step_agrees_with_the_terms(action: str) -> None:
    definition = THEORY.action(action)
    any_step = False
    for world in WORLDS:
        unwritten = tuple(world.next_entries([None])) if action == "append" else ()
        for step in sorted(INTERPRETER.steps(world, action, *unwritten), key=str)[:1]:
            any_step = True
            environment = {**world.environment(*unwritten), **step.arguments}
            after = INTERPRETER.after(world, step).values
            for name, signature in FUNCTIONS.items():
                at = [z3.Const(f"at_{number}", sort) for number, sort in enumerate(signature.arguments)]
                term = getattr(definition.after, name)(*at)
                for values in product(*(environment[str(sort)] for sort in signature.arguments)):
                    arguments = {f"at_{number}": value for number, value in enumerate(values)}
                    value = values in after[name] if signature.value == TRUTH else after[name][values[0]]
                    assert value == obvious_value(term, {**environment, **arguments}), (step, name, values)
    assert any_step


def test_every_symbol_has_a_meaning_with_a_sentence() -> None:
    assert MEANINGS.keys() | {"bootstrap"} == RIGID.keys()
    assert all(meaning.sentence.endswith(".") for meaning in MEANINGS.values())


def test_a_log_is_always_the_same_object() -> None:
    root = bootstrapped(frozenset({1, 2}))
    log = root.followed_by(Record(1, None)).followed_by(Record(1, frozenset({1})))
    assert log is bootstrapped(frozenset({1, 2})).followed_by(Record(1, None)).followed_by(Record(1, frozenset({1})))
    assert (str(log), log.offset, log.epoch, log.newest is log, len(log.prefixes)) == ("0{1,2} 1 1{1}", 2, 1, True, 3)


def test_a_term_outside_the_language_is_refused() -> None:
    (number,) = variables(NUMBER, "number")
    with pytest.raises(ValueError, match="not in the language of the proof: number%2"):
        Evaluator(MEANINGS).value(number % 2 == 0)


def test_a_theory_that_starts_otherwise_is_refused() -> None:
    (entry,) = variables(ENTRY, "entry")
    other = THEORY._replace(start=z3.ForAll([entry], z3.Not(THEORY.before.written(entry))))
    with pytest.raises(ValueError, match="the first state is another one"):
        first_world(Interpreter(other), Cluster(3, 3, 5))


def test_a_changed_action_is_interpreted_as_changed() -> None:
    other = Interpreter(changed(THEORY, ["unchanged stand/epoch"]))
    world = first_world(other, Cluster(3, 3, 5))
    step = Step("stand", {"the_candidate": 1, "the_epoch": 1})
    assert (other.after(world, step).values["epoch"][1], INTERPRETER.after(world, step).values["epoch"][1]) == (0, 1)

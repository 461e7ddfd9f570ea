"""Runs and scenarios as steps of the inductive proof."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kraft_mutants.playing import play, simulation_of
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.refinement import Refinement, UnexplainedStepError
from kraft_proofs.induction.theory import theory
from kraft_reference.configuration import Configuration
from kraft_reference.profile import KIP, Profile
from kraft_reference.state import ReplicaState, new_replica
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import Scenario, Variant


class Play(NamedTuple):
    """Something to explain."""

    name: str
    """The workload, or the scenario with its variant."""
    command: str
    """What shows it."""
    configuration: Configuration
    occurrences: Iterator[Occurrence]


@dataclass(slots=True)
class Explained:
    """What was explained.

    Attributes:
        events: By the name of the play.
        steps: Of the proof, by action.
        states: States of the proof in which every invariant was evaluated.
        problems: For each play that has one, its command and the first step that is none of the proof's, with both
            states, or the invariants that fail.
    """

    events: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    states: int = 0
    problems: list[str] = field(default_factory=list)


def of_plan(plan: RunPlan) -> Play:
    """The run of a plan.

    Raises:
        MutantError, EditError: the rules that it names cannot be left out.
    """
    simulation = simulation_of(plan)
    return Play(plan.workload, plan.command_line(), simulation.configuration, simulation.run())


def of_variant(scenario: Scenario, variant: Variant) -> Play:
    """The schedule of a scenario's variant.

    Raises:
        ScenarioFailure: the replicas do something else than the scenario says.
    """
    command = f"kraft-spec scenario {scenario.name} --variant {variant.name}"
    occurrences = iter(play(scenario, variant).occurrences)
    return Play(f"{scenario.name}/{variant.name}", command, variant.configuration, occurrences)


def explain(
    plays: Iterable[Play],
    on_play: Callable[[str], None],
    *,
    profile: Profile = KIP,
    invariants_every: int = 0,
    stops: bool = True,
) -> Explained:
    """Explain each event of each play.

    Args:
        plays: What to explain.
        on_play: Told the name of each.
        profile: Whose proof it is that has the steps.
        invariants_every: Evaluate the invariants after each so many events; 0 for never.
        stops: Whether the first problem ends it all, or its own play alone.
    """
    interpreter = Interpreter(theory(profile))
    found = Explained(steps=Counter({action.name: 0 for action in interpreter.theory.actions}))
    for one in plays:
        on_play(one.name)
        if problem := _problem(interpreter, one, found, invariants_every):
            found.problems.append(f"{one.command}\n{problem}")
            if stops:
                break
    return found


def _problem(interpreter: Interpreter, one: Play, found: Explained, invariants_every: int) -> str:
    try:
        followed = Refinement(interpreter, one.configuration, _formatted(one.configuration))
    except ValueError as error:
        return str(error)
    for occurrence in one.occurrences:
        try:
            found.steps.update(step.action for step in followed.explain(occurrence))
        except UnexplainedStepError as error:
            return str(error)
        found.events[one.name] += 1
        if invariants_every and occurrence.sequence % invariants_every == 0:
            found.states += 1
            if broken := interpreter.broken(followed.world):
                return f"event {occurrence.sequence}: {', '.join(broken)} does not hold in the proof's state"
    return ""


def _formatted(configuration: Configuration) -> dict[int, ReplicaState]:
    replicas = configuration.replicas.items()
    return {number: new_replica(one.key, configuration.checkpoint(number)) for number, one in replicas}

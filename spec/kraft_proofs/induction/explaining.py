"""Runs and scenarios, explained as steps of the inductive proof."""

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
    """A run or a scenario to explain."""

    name: str
    """Workload, or scenario with its variant."""
    command: str
    """Command that reproduces it."""
    configuration: Configuration
    occurrences: Iterator[Occurrence]


@dataclass(slots=True)
class Explained:
    """Result of an explanation.

    Attributes:
        events: Number of events, by the name of the play.
        steps: Number of steps of the proof, by action.
        states: Number of states of the proof in which every invariant was evaluated.
        problems: For each failed play its command, with the first step that the proof does not allow and both states,
            or the violated invariants.
    """

    events: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    states: int = 0
    problems: list[str] = field(default_factory=list)


def of_plan(plan: RunPlan) -> Play:
    """Return the run of a plan.

    Raises:
        MutantError, EditError: its mutants do not exist or cannot be combined.
    """
    simulation = simulation_of(plan)
    return Play(plan.workload, plan.command_line(), simulation.configuration, simulation.run())


def of_variant(scenario: Scenario, variant: Variant) -> Play:
    """Return the schedule of a scenario's variant.

    Raises:
        ScenarioFailure: the replicas differ from the scenario.
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
        plays: Plays to explain.
        on_play: Called with the name of each.
        profile: Profile of the theory.
        invariants_every: Evaluate the invariants after every so many events; 0 for never.
        stops: True to stop after the first problem, False to continue with the next play.
    """
    interpreter = Interpreter(theory(profile))
    result = Explained(steps=Counter({action.name: 0 for action in interpreter.theory.actions}))
    for each_play in plays:
        on_play(each_play.name)
        if problem := _explain_play(interpreter, each_play, result, invariants_every):
            result.problems.append(f"{each_play.command}\n{problem}")
            if stops:
                break
    return result


def _explain_play(interpreter: Interpreter, each_play: Play, result: Explained, invariants_every: int) -> str:
    try:
        followed = Refinement(interpreter, each_play.configuration, _format_replicas(each_play.configuration))
    except ValueError as error:
        return str(error)
    for occurrence in each_play.occurrences:
        try:
            result.steps.update(step.action for step in followed.explain(occurrence))
        except UnexplainedStepError as error:
            return str(error)
        result.events[each_play.name] += 1
        if invariants_every and occurrence.sequence % invariants_every == 0:
            result.states += 1
            if broken := interpreter.broken(followed.world):
                return f"event {occurrence.sequence}: {', '.join(broken)} does not hold in the proof's state"
    return ""


def _format_replicas(configuration: Configuration) -> dict[int, ReplicaState]:
    replicas = configuration.replicas.items()
    return {number: new_replica(replica.key, configuration.checkpoint(number)) for number, replica in replicas}

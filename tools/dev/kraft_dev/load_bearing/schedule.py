"""TLC held to a schedule: a run of the broken reference, checked line by line against the model broken in the same way.

Some counterexamples lie deeper than a search reaches.
A scenario, or the first run of the simulator that goes wrong, leads there; TLC then has one successor for each
line, and says which property the last one violates.
"""

from typing import NamedTuple

from kraft_dev.broken_runs import Run, judge_runs
from kraft_spec.mutants import Mutant, MutantError, Schedule


class Held(NamedTuple):
    """What TLC says of a schedule.

    Attributes:
        schedule: Which run it was.
        lines: How many lines TLC took, the violating one included; 0 if nothing went wrong.
        violated: The properties that the last line violates.
        problem: Why this is not what the mutant states; empty if it is.
    """

    schedule: str
    lines: int
    violated: tuple[str, ...]
    problem: str


def hold(mutant: Mutant) -> Held:
    """Hold the broken model to the mutant's schedule, in a process of its own.

    Raises:
        MutantError: The mutant's evidence is no schedule.
        EditError: An edit does not fit.
        ChildError: The process failed; the message is its last words.
    """
    evidence = mutant.evidence
    if not isinstance(evidence, Schedule):
        raise MutantError(f"mutant {mutant.name} is not held to a schedule")
    found = judge_runs(mutant, "line", _runs(evidence), until=evidence.property)
    for one in found:
        if evidence.property in one.properties:
            return Held(one.run.scenario or str(one.run), one.lines, one.properties, "")
    said = next((one for one in reversed(found) if one.problem or one.properties), None)
    tried = "no run violates anything"
    if said is not None:
        violated = ", ".join(said.properties)
        tried = f"{said.run}: {said.problem or f'TLC finds {violated} violated'}"
    return Held("", 0, (), f"expected a violation of {evidence.property}, found none; {tried}")


def _runs(evidence: Schedule) -> tuple[Run, ...]:
    """The scenario; or the simulated runs, each shrunk and whole."""
    if evidence.scenario:
        return (Run(scenario=evidence.scenario),)
    return tuple(
        Run(evidence.workload, seed, steps=evidence.steps, shrunk=shrunk)
        for seed in range(evidence.seeds)
        for shrunk in (True, False)
    )

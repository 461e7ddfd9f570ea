"""TLC held to a schedule: a run of the broken reference, checked line by line against the model broken in the same way.

Some counterexamples lie deeper than a search reaches.
A scenario, or the first run of the simulator that goes wrong, leads there; TLC then has one successor for each
line, and says which property the last one violates.
Both are broken by edits, so the run and the check happen in a process of their own.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

from kraft_dev.child import run_child
from kraft_reference.cluster.failure import investigate
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios import ScenarioFailure
from kraft_reference.scenarios import scenario as find_scenario
from kraft_reference.scenarios.director import Director
from kraft_spec.edits import edited_packages
from kraft_spec.mutants import Mutant, MutantError, Schedule, load_catalogue, model_edits, reference_edits
from kraft_traces.check.run import check_occurrences
from kraft_traces.check.verdict import RejectionKind, Verdict


@dataclass(frozen=True, slots=True)
class Held:
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

    @property
    def as_stated(self) -> bool:
        """Whether the mutant's evidence is what was found."""
        return not self.problem


def hold(mutant: Mutant) -> Held:
    """Hold the broken model to the mutant's schedule, in a process of its own.

    Raises:
        MutantError: The mutant's evidence is no schedule.
        EditError: An edit does not fit.
        ChildError: The process failed; the message is its last words.
    """
    if not isinstance(mutant.evidence, Schedule):
        raise MutantError(f"mutant {mutant.name} is not held to a schedule")
    edits = {"kraft_reference": reference_edits(mutant), "kraft_spec": model_edits(mutant)}
    with edited_packages(edits) as environment:
        document = json.loads(run_child("kraft_dev.mutation.schedule", mutant.name, environment=environment))
    return Held(document["schedule"], document["lines"], tuple(document["violated"]), document["problem"])


def _held_here(mutant: Mutant) -> Held:
    """Hold the model of this process, which is the broken one."""
    evidence = mutant.evidence
    assert isinstance(evidence, Schedule), "asked for by `hold` only"
    tried = "no run violates anything"
    for name, configuration, occurrences in _runs(mutant, evidence):
        verdict = check_occurrences(occurrences, configuration, name)
        problem = _problem(verdict, evidence.property)
        if not problem:
            assert verdict.rejection is not None
            return Held(name, verdict.events + 1, verdict.rejection.properties, "")
        tried = f"{name}: {problem}"
    return Held("", 0, (), f"expected a violation of {evidence.property}, found none; {tried}")


def _problem(verdict: Verdict, expected: str) -> str:
    rejection = verdict.rejection
    if rejection is None:
        return f"TLC accepts all {verdict.events} lines"
    if rejection.kind is not RejectionKind.PROPERTY:
        different = ", ".join(str(difference) for difference in rejection.differences[:3])
        return f"the broken model does not do what the broken reference does: {rejection.headline()} {different}"
    if expected not in rejection.properties:
        return f"TLC finds {', '.join(rejection.properties)} violated"
    return ""


_Run = tuple[str, Configuration, tuple[Occurrence, ...]]
"""Its name, its cluster, and what happened."""


def _runs(mutant: Mutant, evidence: Schedule) -> Iterator[_Run]:
    """The runs to hold the model to: the scenario's, or each simulated one that goes wrong, shrunk and whole."""
    if evidence.scenario:
        yield _scenario_run(mutant, evidence.scenario)
        return
    for seed in range(evidence.seeds):
        plan = RunPlan(seed, steps=evidence.steps, workload=evidence.workload)
        simulation = plan.simulation()
        occurrences = tuple(simulation.run())
        if simulation.violation is None:
            continue
        failure = investigate(plan)
        if failure is not None:
            moves = len(failure.schedule)
            yield f"seed {seed} of {plan.workload}, shrunk to {moves}", plan.configuration(), failure.occurrences
        yield f"seed {seed} of {plan.workload}", plan.configuration(), occurrences


def _scenario_run(mutant: Mutant, name: str) -> _Run:
    """What happens in a scenario's variant up to where its script no longer holds."""
    scenario_name, _, variant_name = name.partition("/")
    try:
        scenario = find_scenario(scenario_name)
        variant = scenario.variant(variant_name)
    except KeyError as error:
        raise MutantError(f"mutant {mutant.name}: {error.args[0]}") from error
    # What the variant does without, the mutant has left out; the replicas of this process do.
    configuration = variant.configuration
    director = Director(name, configuration)
    # The script expects an unbroken reference; what it made happen until then is the schedule.
    with suppress(ScenarioFailure):
        variant.script(director)
    return name, configuration, tuple(director.occurrences)


def main() -> None:
    """Hold the model to the schedule of the mutant named on the command line; print what TLC says as JSON."""
    print(json.dumps(asdict(_held_here(load_catalogue()[sys.argv[1]]))))


if __name__ == "__main__":
    main()

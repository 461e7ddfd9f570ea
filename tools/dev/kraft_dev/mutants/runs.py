"""Runs of a mutant and their violations: `python -m kraft_dev.mutants.runs` is the process that runs them.

The simulator checks its own invariants, the trace checker the properties of the model, which must then
be broken in the same way, or a line would differ before it violates a property.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from kraft_dev.child import run_child
from kraft_mutants import Mutant, model_edits, reference_edits
from kraft_reference.configuration import Configuration
from kraft_simulation.failure import investigate
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import ScenarioFailure
from kraft_simulation.scenarios import scenario as find_scenario
from kraft_simulation.scenarios.director import Director
from kraft_spec.edits import edited_packages

Judge = Literal["simulator", "line"]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A simulated run, or a variant of a scenario, with the mutant applied."""

    workload: str = ""
    seed: int = 0
    replicas: int = 3
    steps: int = 400
    scenario: str = ""
    """"name/variant": the run that its script produces, up to the first failed expectation."""
    shrunk: bool = False
    """True if a simulated run is shrunk to the steps that make it fail."""

    def __str__(self) -> str:
        """Return a description of the run."""
        if self.scenario:
            return f"scenario {self.scenario}"
        return f"{self.workload}, seed {self.seed}, {self.replicas} voters{', shrunk' if self.shrunk else ''}"


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Violations of a run."""

    run: Run
    properties: tuple[str, ...] = ()
    """Properties of the first violation, or empty.  The simulator names one, the checker all of the same line."""
    lines: int = 0
    """Number of lines up to the violating event."""
    problem: str = ""
    """Reason why the checker reports no violation, if it ran."""


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    judge: Judge
    runs: tuple[Run, ...]
    until: str
    """Property after whose violation the process stops; if empty, it runs all."""


def judge_runs(mutant: Mutant, judge: Judge, runs: Sequence[Run], until: str = "") -> tuple[Found, ...]:
    """Return the violations of the mutant's runs from a separate process, up to a violation of `until`.

    Raises:
        EditError: An edit does not fit.
        ChildError: The process failed; the message is the end of its output.
    """
    edits = reference_edits(mutant) + (model_edits(mutant) if judge == "line" else ())
    request = msgspec.json.encode(_Request(judge, tuple(runs), until)).decode()
    with edited_packages(edits) as environment:
        output = run_child(__name__, environment=environment, standard_input=request)
    return msgspec.json.decode(output, type=tuple[Found, ...])


class _Happened(NamedTuple):
    configuration: Configuration
    occurrences: tuple[Occurrence, ...]
    violates: str
    at: int


def _judged(request: _Request) -> Iterator[Found]:
    for run in request.runs:
        happened = _played(run.scenario) if run.scenario else _simulated(run)
        if happened is None or not (happened.violates or (run.scenario and request.judge == "line")):
            yield Found(run)
        elif request.judge == "simulator":
            yield Found(run, (happened.violates,), happened.at)
        else:
            violation = _judged_by_line(run, happened)
            yield violation
            if request.until in violation.properties:
                return


def _judged_by_line(run: Run, happened: _Happened) -> Found:
    # Imported late, because the simulator's checks need no JVM.
    from kraft_traces.check.run import check_occurrences
    from kraft_traces.check.verdict import RejectionKind

    verdict = check_occurrences(happened.occurrences, happened.configuration, str(run))
    rejection = verdict.rejection
    if rejection is None:
        return Found(run, problem=f"TLC accepts all {verdict.events} lines")
    problem = ""
    if rejection.kind is not RejectionKind.PROPERTY:
        different = ", ".join(str(difference) for difference in rejection.differences[:3])
        problem = f"the broken model does not do what the broken reference does: {rejection.headline()} {different}"
    return Found(run, rejection.properties, verdict.events + 1, problem)


def _simulated(run: Run) -> _Happened | None:
    """Simulate a run; None if it is to be shrunk and cannot be."""
    plan = RunPlan(run.seed, replicas=run.replicas, steps=run.steps, workload=run.workload)
    if not run.shrunk:
        return _run(plan)
    failure = investigate(plan) if _run(plan).violates else None
    if failure is None:
        return None
    return _Happened(plan.configuration(), failure.occurrences, failure.violation.property_name, 0)


@lru_cache(maxsize=1)
def _run(plan: RunPlan) -> _Happened:
    simulation = plan.simulation()
    occurrences = tuple(simulation.run())
    violation = simulation.violation
    name, at = ("", 0) if violation is None else (violation.property_name, violation.sequence)
    return _Happened(simulation.configuration, occurrences, name, at)


def _played(name: str) -> _Happened:
    """Play a variant; return its events and the first property that its watch reports violated."""
    scenario_name, _, variant_name = name.partition("/")
    variant = find_scenario(scenario_name).variant(variant_name)
    director = Director(name, variant.configuration)
    # The script expects the unmodified reference; its run ends at the first failed expectation.
    with suppress(ScenarioFailure):
        variant.script(director)
    violated = {violated: at for violated, at in director.watch.violated.items() if at is not None}
    first = min(violated, key=lambda name: violated[name], default="")
    return _Happened(director.world.configuration, tuple(director.occurrences), first, violated.get(first, 0))


def main() -> None:
    """Judge the runs, and print the violations."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=_Request)
    print(msgspec.json.encode(list(_judged(request))).decode())


if __name__ == "__main__":
    main()

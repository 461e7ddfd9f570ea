"""The process in which runs of a broken reference are judged: `python -m kraft_dev.detectors.attempt`.

It reads a request from standard input and prints what each run violates first, both as JSON.
The simulator judges with its own invariants; the checker of traces with the local properties of the model, which then
has to be broken in the same way, or else the line would differ before it violates anything.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec

from kraft_dev.child import run_child
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.violation import Violation
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios import ScenarioFailure
from kraft_reference.scenarios import scenario as find_scenario
from kraft_reference.scenarios.director import Director
from kraft_spec.edits import edited_packages
from kraft_spec.mutants import Mutant, model_edits, reference_edits

Judge = Literal["simulator", "line"]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of the simulator, without the mutant; or a scenario's variant."""

    workload: str = ""
    seed: int = 0
    replicas: int = 3
    steps: int = 400
    scenario: str = ""
    """"name/variant": what its script makes happen, up to where it no longer holds."""

    def __str__(self) -> str:
        """In words."""
        if self.scenario:
            return f"scenario {self.scenario}"
        return f"{self.workload}, seed {self.seed}, {self.replicas} voters"


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run violates."""

    run: Run
    properties: tuple[str, ...]
    """What is violated first; empty if nothing is.  The simulator names one, the checker all of the same line."""
    sequence: int
    """Of the event that does it."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a process is asked."""

    judge: Judge
    runs: tuple[Run, ...]


def judged(mutant: Mutant, judge: Judge, runs: Sequence[Run]) -> tuple[Seen, ...]:
    """What runs of the mutant violate, by a process of its own.

    Raises:
        EditError: An edit does not fit.
        ChildError: The process failed; the message is its last words.
    """
    edits: Mapping[str, Any] = {"kraft_reference": reference_edits(mutant)}
    if judge == "line":
        edits = {**edits, "kraft_spec": model_edits(mutant)}
    request = Request(judge, tuple(runs))
    with edited_packages(edits) as environment:
        asked = msgspec.json.encode(request).decode()
        said = run_child("kraft_dev.detectors.attempt", environment=environment, standard_input=asked)
    return msgspec.json.decode(said, type=tuple[Seen, ...])


def _seen(request: Request) -> Iterator[Seen]:
    for run in request.runs:
        if run.scenario:
            configuration, occurrences, violation = _of_scenario(run.scenario)
        else:
            plan = RunPlan(
                run.seed,
                replicas=run.replicas,
                steps=run.steps,
                workload=run.workload,
            )
            simulation = plan.simulation()
            occurrences = tuple(simulation.run())
            configuration, violation = simulation.configuration, simulation.violation
        if violation is None and (request.judge == "simulator" or not run.scenario):
            yield Seen(run, (), 0)
        elif violation is not None and request.judge == "simulator":
            yield Seen(run, (violation.property_name,), violation.sequence)
        else:
            yield _judged_by_line(run, occurrences, configuration)


def _judged_by_line(run: Run, occurrences: Sequence[Occurrence], configuration: Configuration) -> Seen:
    # Late, because the simulator's judgement needs no JVM.
    from kraft_traces.check.run import check_occurrences

    rejection = check_occurrences(occurrences, configuration, str(run)).rejection
    return Seen(run, (), 0) if rejection is None else Seen(run, rejection.properties, rejection.sequence)


def _of_scenario(name: str) -> tuple[Configuration, tuple[Occurrence, ...], Violation | None]:
    """What happens in a variant, and the first property that its watch finds violated."""
    scenario_name, _, variant_name = name.partition("/")
    variant = find_scenario(scenario_name).variant(variant_name)
    director = Director(name, variant.configuration)
    # The script expects an unbroken reference; what it made happen until then is the run.
    with suppress(ScenarioFailure):
        variant.script(director)
    violated = [Violation(name, at, None, "") for name, at in director.watch.violated.items() if at is not None]
    first = min(violated, key=lambda one: one.sequence, default=None)
    return director.world.configuration, tuple(director.occurrences), first


def main() -> None:
    """Judge, and print what was seen."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    documents = [msgspec.to_builtins(seen) for seen in _seen(request)]
    print(json.dumps(documents))


if __name__ == "__main__":
    main()

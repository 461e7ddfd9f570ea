"""Tools that run inside the mutant's process: play scenarios, simulate, replay edges, check traces."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from kraft_dev.edges import load_edges, replay
from kraft_dev.mutants.tool import Look, Tally
from kraft_dev.partition_workload import random_configuration, random_run
from kraft_mutants.playing import play, play_partitions
from kraft_partitions.decisions import PROFILES
from kraft_partitions.scenarios import PARTITION_SCENARIOS
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import SCENARIOS, ScenarioFailure
from kraft_simulation.scenarios.director import Director
from kraft_simulation.workload import WORKLOADS
from kraft_spec.edits import EditError

if TYPE_CHECKING:
    from kraft_traces.check import Rejection

VOTERS = (3, 4, 5, 2)
"""Numbers of voters. Half of an even number is no majority, which three and five voters would not reveal."""
INVARIANT_SEEDS = range(20)
INVARIANT_STEPS = 600
TRACE_SEEDS = range(4)
TRACE_STEPS = 400
PARTITION_SEEDS = range(6)
PARTITION_EVENTS = 300

_NAMED_MAX = 3
"""Number of differing fields named in a finding."""


def play_scenarios(tally: Tally) -> str:
    """Run every variant of every scenario: the script's assertions, and the properties that it must violate."""
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            tally.where = f"{scenario.name}/{variant.name}"
            directors: list[Director] = []
            try:
                play(scenario, replace(variant, script=_kept(variant.script, directors)))
            except EditError:
                # The scenario's own omitted rule is already broken by the mutant.
                continue
            except ScenarioFailure as failure:
                return _expected(failure)
            finally:
                tally.amount += sum(len(director.occurrences) for director in directors)
    return ""


def _kept(script: Callable[[Director], None], directors: list[Director]) -> Callable[[Director], None]:
    """Wrap the script so that its director stays available to report progress."""

    def kept(director: Director) -> None:
        directors.append(director)
        script(director)

    return kept


def play_partition_scenarios(tally: Tally) -> str:
    """Run every variant of S25 to S29: its rows, and the properties that it must violate."""
    for scenario in PARTITION_SCENARIOS:
        for variant in scenario.variants:
            tally.where = f"{scenario.name}/{variant.name}"
            try:
                tally.amount += len(play_partitions(scenario, variant).occurrences)
            except EditError:
                continue
            except ScenarioFailure as failure:
                return _expected(failure)
    return ""


def _expected(failure: ScenarioFailure) -> str:
    return f"expected {failure.subject} {failure.expected}, got {failure.actual}"


def replay_edges(tally: Tally) -> str:
    """Replay the model's edges on the reference, up to the first difference."""
    assert tally.edges is not None, "the tool's row says that it needs them"
    tally.where = "edges"
    report = replay(load_edges(tally.edges), stop_at_first=True)
    tally.amount = report.replayed
    for differing in report.shown:
        tally.where = str(differing.edge)
        return ", ".join(
            f"raises {difference.actual}" if difference.field == "raises" else f"differs in {difference.field}"
            for difference in differing.differences[:_NAMED_MAX]
        )
    return ""


def _plans(seeds: range, steps: int, tally: Tally) -> Iterator[RunPlan]:
    """Yield the runs of a tool: seed after seed, each with all workloads and another number of voters."""
    for seed, workload in product(seeds, WORKLOADS):
        tally.where = f"{workload}, seed {seed}"
        yield RunPlan(seed, replicas=VOTERS[seed % len(VOTERS)], steps=steps, workload=workload)


def _counted(occurrences: Iterable[Occurrence], tally: Tally) -> Iterator[Occurrence]:
    for occurrence in occurrences:
        tally.amount += 1
        yield occurrence


def simulate(tally: Tally) -> str:
    """Simulate with faults and then without: check invariants on each event, progress at the end."""
    for plan in _plans(INVARIANT_SEEDS, INVARIANT_STEPS, tally):
        simulation = plan.simulation()
        for _ in _counted(simulation.run(), tally):
            pass
        violation = simulation.violation
        if violation is not None:
            if violation.property_name == "Assertion":
                return f"raises {violation.message}"
            tally.where += f", event {violation.sequence}"
            return violation.property_name
    return ""


def check_traces(tally: Tally) -> str:
    """Simulate, and let TLC judge each line; the model has all rules in force."""
    # Imported late: most mutants need neither the checker nor the bridge to Java.
    from kraft_traces.check import VerdictKind, check_occurrences

    for plan in _plans(TRACE_SEEDS, TRACE_STEPS, tally):
        simulation = plan.simulation()
        verdict = check_occurrences(_counted(simulation.run(), tally), simulation.configuration, tally.where)
        if verdict.rejection is not None:
            return _rejected(verdict.rejection, tally)
        if verdict.kind is VerdictKind.INCONCLUSIVE:
            return f"inconclusive: {verdict.reason}"
        violation = simulation.violation
        if violation is not None and violation.property_name == "Assertion":
            return f"raises {violation.message}"
    return ""


def check_partition_traces(tally: Tally) -> str:
    """Run partition reassignment at random under every profile, and have TLC check each line."""
    from kraft_traces.partitions.checker import check_partition_occurrences

    for seed, profile in product(PARTITION_SEEDS, PROFILES.values()):
        tally.where = f"{profile.name}, seed {seed}"
        configuration = random_configuration(seed, profile)
        run = random_run(configuration, seed, PARTITION_EVENTS)
        verdict = check_partition_occurrences(run, configuration, tally.where)
        tally.amount += verdict.events
        if verdict.rejection is not None:
            return _rejected(verdict.rejection, tally)
    return ""


def _rejected(rejection: "Rejection", tally: Tally) -> str:
    """Describe a rejection of the trace checker in a few words."""
    tally.where += f", event {rejection.sequence}"
    fields = list(dict.fromkeys(difference.field for difference in rejection.differences))
    more = len(fields) - _NAMED_MAX
    if rejection.properties:
        words = f"violates {', '.join(rejection.properties)}"
    elif fields:
        words = f"{rejection.event} differs in {', '.join(fields[:_NAMED_MAX])}" + (f" and {more} more" * (more > 0))
    else:
        words = f"{rejection.event} is not possible"
    if rejection.explained_by:
        return f"{words}; explained by breaking {', '.join(rejection.explained_by[:2])}"
    return f"{words}; rules {', '.join(rejection.rules[:2])}" if rejection.rules else words


LOOKS: Mapping[str, Look] = {
    "scenarios": play_scenarios,
    "partitions": play_partition_scenarios,
    "edges": replay_edges,
    "invariants": simulate,
    "traces": check_traces,
    "partition-traces": check_partition_traces,
}
"""Tools by name."""

"""The tools of the suite, from the cheapest to the dearest: each looks for what is wrong with the reference it imports.

A tool counts in its tally as it goes, and returns the first thing that it finds wrong, or None.
An exception out of the reference is left to the caller, for whom it is a sighting like any other.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from kraft_dev.mutation.edge_replay import replay_edges
from kraft_dev.mutation.partition_tools import check_partition_traces, play_partition_scenarios
from kraft_dev.mutation.sighting import Sighting, Tally, Target
from kraft_dev.mutation.unit_tests import run_unit_tests, why_no_unit_tests
from kraft_dev.mutation.vector_tool import replay_vectors
from kraft_dev.probes.hand import told
from kraft_dev.probes.schedules import BY_HAND
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.effects import StartTimer
from kraft_reference.outcome import Refusal
from kraft_reference.scenarios import SCENARIOS, ScenarioFailure
from kraft_reference.scenarios.director import Director
from kraft_spec.edits import EditError
from kraft_spec.experiments.playing import play


@dataclass(frozen=True, slots=True)
class Tool:
    """One way to find a broken reference.

    Attributes:
        name: As `--tool` takes it.
        does: In a sentence.
        unit: What its tally counts.
        attack: Looks for something wrong.
        needs_java: Whether its process starts a JVM.
        why_not: Says why it cannot be used here; empty if it can.
    """

    name: str
    does: str
    unit: str
    attack: Callable[[Target, Tally], Sighting | None]
    needs_java: bool = False
    why_not: Callable[[], str] = str


def play_scenarios(_target: Target, tally: Tally) -> Sighting | None:
    """Run every variant of every scenario: its script's assertions, and the properties it is to violate."""
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            tally.where = f"{scenario.name}/{variant.name}"
            directors: list[Director] = []
            try:
                play(scenario, replace(variant, script=_kept(variant.script, directors)))
            except EditError:
                # The rule that the variant does without is broken already.
                continue
            except ScenarioFailure as failure:
                return Sighting(f"expected {failure.subject} {failure.expected}, got {failure.actual}", tally.where)
            finally:
                tally.amount += sum(len(director.occurrences) for director in directors)
    return None


def _kept(script: Callable[[Director], None], directors: list[Director]) -> Callable[[Director], None]:
    """The script, which leaves its director where it can be asked how far it came."""

    def kept(director: Director) -> None:
        directors.append(director)
        script(director)

    return kept


def play_by_hand(target: Target, tally: Tally) -> Sighting | None:
    """Play the schedules that no scenario and no simulated run has: what each is told, and how it ends."""
    for schedule in BY_HAND:
        tally.where = schedule.name
        came_to = told(_counted(schedule.occurrences(), tally))
        if came_to.refusals != schedule.refusals:
            return Sighting(f"expected {_listed(schedule.refusals)}, got {_listed(came_to.refusals)}", tally.where)
        if came_to.ends != schedule.ends:
            return Sighting(f"expected {schedule.ends}, got {came_to.ends}", tally.where)
        if came_to.starts != schedule.starts:
            expected, got = _timers(schedule.starts), _timers(came_to.starts)
            return Sighting(f"expected {expected} at its end, got {got}", tally.where)
    return None


def _listed(refusals: tuple[Refusal, ...]) -> str:
    return ", ".join(refusals) or "no refusal"


def _timers(started: tuple[StartTimer, ...]) -> str:
    return ", ".join(f"{one.timer} timer of {one.duration_ms} ms" for one in started) or "no timer"


VOTERS = (3, 4, 5, 2)
"""Numbers of voters; half of an even number is no majority, which three and five would not show."""
INVARIANT_SEEDS = range(20)
INVARIANT_STEPS = 600
TRACE_SEEDS = range(4)
TRACE_STEPS = 400
BOTH_WAYS_STEPS = 120


def _plans(seeds: range, steps: int, tally: Tally) -> Iterator[RunPlan]:
    """The runs of a tool: one seed after the other, each with all workloads and another number of voters."""
    for seed, workload in product(seeds, WORKLOADS):
        tally.where = f"{workload}, seed {seed}"
        replicas = VOTERS[seed % len(VOTERS)]
        yield RunPlan(seed, replicas=replicas, steps=steps, workload=workload)


def _counted(occurrences: Iterable[Occurrence], tally: Tally) -> Iterator[Occurrence]:
    for occurrence in occurrences:
        tally.amount += 1
        yield occurrence


def simulate(_target: Target, tally: Tally) -> Sighting | None:
    """Simulate with faults and then without: the invariants on each event, progress at the end."""
    for plan in _plans(INVARIANT_SEEDS, INVARIANT_STEPS, tally):
        simulation = plan.simulation()
        for _ in _counted(simulation.run(), tally):
            pass
        violation = simulation.violation
        if violation is not None:
            if violation.property_name == "Assertion":
                return Sighting(f"raises {violation.message}", tally.where)
            return Sighting(violation.property_name, f"{tally.where}, event {violation.sequence}")
    return None


def check_traces(_target: Target, tally: Tally) -> Sighting | None:
    """Simulate, and let TLC judge each line; the model has all rules in force."""
    # Late: most mutants meet tools only that need neither the checker nor the bridge to Java.
    from kraft_dev.mutation.rejected import why_rejected
    from kraft_traces.check import VerdictKind, check_occurrences

    for plan in _plans(TRACE_SEEDS, TRACE_STEPS, tally):
        simulation = plan.simulation()
        verdict = check_occurrences(_counted(simulation.run(), tally), simulation.configuration, tally.where)
        violation = simulation.violation
        if verdict.rejection is not None:
            return Sighting(why_rejected(verdict.rejection), f"{tally.where}, event {verdict.rejection.sequence}")
        if verdict.kind is VerdictKind.INCONCLUSIVE:
            return Sighting(f"inconclusive: {verdict.reason}", tally.where)
        if violation is not None and violation.property_name == "Assertion":
            return Sighting(f"raises {violation.message}", tally.where)
    return None


def judge_both_ways(_target: Target, tally: Tally) -> Sighting | None:
    """Simulate, and compare the verdict of the compiled model with TLC's."""
    from kraft_traces.check import check_occurrences
    from kraft_traces.check.fast_path import INTERPRETED, Sample, Way

    def judged(plan: RunPlan, way: Way) -> object:
        simulation = plan.simulation()
        try:
            verdict = check_occurrences(simulation.run(), simulation.configuration, tally.where, way=way)
            return replace(verdict, compiled=0, both=0)
        except Exception as error:  # a broken reference may raise anything
            return f"{type(error).__name__}: {error}"

    for plan in _plans(range(1), BOTH_WAYS_STEPS, tally):
        compiled, interpreted = judged(plan, Way(Sample(BOTH_WAYS_STEPS, BOTH_WAYS_STEPS))), judged(plan, INTERPRETED)
        tally.amount += getattr(interpreted, "events", 0)
        if compiled != interpreted:
            return Sighting(f"compiled: {compiled}; TLC: {interpreted}"[:500], tally.where)
    return None


TOOLS: tuple[Tool, ...] = (
    Tool("scenarios", "the scripts of the named scenarios and the properties they state", "events", play_scenarios),
    Tool("by-hand", "short schedules of what no cluster does that keeps the rules", "events", play_by_hand),
    Tool("partitions", "the scenarios of partition reassignment", "events", play_partition_scenarios),
    Tool("vectors", "the conformance vectors of a replica, as the runner judges them", "steps", replay_vectors),
    Tool("edges", "the model's state graph replayed on the reference", "edges", replay_edges),
    Tool("invariants", "simulated runs with their invariants and the progress they owe", "events", simulate),
    Tool("traces", "simulated runs, each line judged by TLC", "events", check_traces, needs_java=True),
    Tool(
        "partition-traces",
        "random runs of partition reassignment, each line judged by TLC",
        "events",
        check_partition_traces,
        needs_java=True,
    ),
)
"""The suite, cheapest first."""

BOTH_WAYS = Tool(
    "both-ways", "simulated runs, judged by the compiled model and by TLC alone", "events", judge_both_ways, True
)
"""Kills no mutant unless the two disagree: for `python -m kraft_dev agreement`."""

UNIT_TESTS = Tool(
    "tests",
    "the unit tests of the reference, up to the first failure",
    "tests",
    run_unit_tests,
    False,
    why_no_unit_tests,
)
"""The last resort, for machine-made mutants, reported apart."""

ALL_TOOLS = {tool.name: tool for tool in (*TOOLS, UNIT_TESTS, BOTH_WAYS)}

"""The parts of a night that are about the reference, and about the checks themselves."""

from time import monotonic

from kraft_conformance.findings.finding import find_finding
from kraft_conformance.findings.showing import show
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import load_evidence, problem_of
from kraft_dev.detectors.fields import lies_of_traces, wanted_fields
from kraft_dev.detectors.table import check_rows, field_rows
from kraft_dev.edges import replay
from kraft_dev.edges.enumeration import enumerate_edges
from kraft_dev.findings import counterexample_of
from kraft_dev.grading.campaign import GradingPlan, grade
from kraft_dev.grading.random_part import RandomRuns
from kraft_dev.grading.subjects import graded_mutants
from kraft_dev.grading.table import TARGET, Row, score
from kraft_dev.mutation import machine_made
from kraft_dev.mutation.results import Results
from kraft_dev.mutation.sighting import Outcome
from kraft_dev.mutation.suite import SuitePlan, try_all
from kraft_dev.mutation.tools import TOOLS, UNIT_TESTS
from kraft_dev.nightly.means import Means
from kraft_dev.nightly.record import Fact, Item
from kraft_dev.probes import simulated, walk
from kraft_dev.probes.report import load_unreached, rows
from kraft_dev.probes.simulated import Amount, probe_reference
from kraft_dev.probes.walk import probe_model
from kraft_spec.mutants import load_catalogue, seeded

MUTANT_SETS = ("seeded", "machine-made")

MACHINE_MADE = 200
"""Sample of machine-made mutants."""
SEED = 1
"""Of that sample: fixed, so that nights can be compared."""


def edges_item(name: str, means: Means) -> Item:
    """Every edge of the model on the reference."""
    graph = enumerate_edges(lambda explored, known: means.say(f"{explored} of {known} states"))
    report = replay(graph.edges)
    facts: dict[str, Fact] = {"states": graph.states, "edges that change a replica": graph.changing}
    facts |= {f"differing: {action}": number for action, number in report.differing.items() if number}
    reached = f"{graph.changing} edges change a replica, {sum(report.differing.values())} differ"
    return Item("edges", name, report.agrees, True, facts, reached, round(graph.seconds + report.seconds, 1))


def mutants_item(name: str, means: Means) -> Item:
    """The seeded mutants against every tool, or the machine-made ones up to their first kill."""
    began = monotonic()

    def done(outcome: Outcome) -> None:
        means.say(f"{outcome.name}: {'survives' if outcome.first is None else outcome.first.tool}")

    if name == "seeded":
        plan = SuitePlan("python -m kraft_dev nightly", TOOLS, seeded(load_catalogue(), ()), jobs=means.workers)
        return _seeded_item(try_all(plan, means.say, done), monotonic() - began)
    if not machine_made.is_available():
        reached = "not run: Cosmic Ray is not installed (the extra `mutation`)"
        return Item("mutants", name, False, False, {}, reached, 0.0)
    plan = SuitePlan(
        "python -m kraft_dev nightly", (*TOOLS, UNIT_TESTS), (), machine=MACHINE_MADE, seed=SEED, jobs=means.workers
    )
    return _machine_item(try_all(plan, means.say, done), monotonic() - began)


def _seeded_item(results: Results, seconds: float) -> Item:
    facts: dict[str, Fact] = {
        outcome.name: ", ".join(attack.tool for attack in outcome.attacks if attack.killed) or "survives"
        for outcome in results.outcomes
    }
    reached = f"{len(results.outcomes) - len(results.unkilled)} of {len(results.outcomes)} killed"
    return Item("mutants", "seeded", results.holds, True, facts, reached, round(seconds, 1))


def _machine_item(results: Results, seconds: float) -> Item:
    machine = results.machine
    assert machine is not None, "a sample was asked for"
    facts: dict[str, Fact] = {
        "population": machine.population,
        "kill rate": f"{machine.rate.of_all:.4f}",
        "kill rate without unit tests": f"{machine.rate.of_tools:.4f}",
    }
    facts |= {f"survives: {made.key.describe()}": known is not None for made, known in machine.survivors}
    reached = f"kill rate {machine.rate.of_all:.1%}, without the unit tests {machine.rate.of_tools:.1%}"
    return Item("mutants", "machine-made", results.holds, True, facts, reached, round(seconds, 1))


def grading_item(name: str, means: Means) -> Item:
    """The named mutants behind the adapter: which vector catches each, and what the random mode adds."""
    began = monotonic()

    def done(row: Row) -> None:
        means.say(f"{row.mutant}: {row.first or 'no vector'}")

    graded = grade(GradingPlan(graded_mutants(), random=RandomRuns(), jobs=means.workers), done, means.say)
    counted = score(graded.seeded)
    facts: dict[str, Fact] = {row.mutant: row.first or ("random mode" if row.random else None) for row in graded.seeded}
    good = counted.share >= TARGET and counted.together == counted.mutants
    reached = f"{counted.vectors} of {counted.mutants} caught by vectors, {counted.together} with the random mode"
    return Item("grading", name, good, True, facts, reached, round(monotonic() - began, 1))


def probes_item(name: str, means: Means) -> Item:
    """Everything that can happen is reached, by the reference and by the model, or has a reason."""
    began = monotonic()
    reference = probe_reference(Amount(seeds=simulated.SEEDS), means.say)
    model = probe_model(walk.STEPS)
    probed = rows(reference, model, load_unreached())
    wrong = [row for row in probed if row.problems]
    facts: dict[str, Fact] = {"things to reach": len(probed)}
    facts |= {f"{row.kind} {row.name}": "; ".join(row.problems) for row in wrong}
    reached = f"{len(probed)} things, {len(wrong)} with a problem"
    return Item("probes", name, not wrong, True, facts, reached, round(monotonic() - began, 1))


def detectors_item(name: str, means: Means) -> Item:
    """Every check detects a mutant, run again; every field of a trace that lies is seen."""
    began = monotonic()
    evidence = load_evidence()
    checks = check_rows(all_checks(), load_catalogue(), evidence)
    fields = field_rows(wanted_fields(), lies_of_traces(lambda lie: means.say(lie.field)), evidence.blind)
    problems = {f"{row.check.layer} {row.check.name}": row.problem for row in checks if row.problem}
    problems |= {row.field: row.problem for row in fields if row.problem}
    for one in evidence.detected:
        means.say(f"{one.layer} {one.check}")
        if problem := problem_of(one):
            problems[f"{one.layer} {one.check}"] = problem
    facts: dict[str, Fact] = {"checks": len(checks), "fields": len(fields), **problems}
    reached = f"{len(checks)} checks, {len(fields)} fields, {len(problems)} with a problem"
    return Item("detectors", name, not problems, True, facts, reached, round(monotonic() - began, 1))


def finding_item(name: str, means: Means) -> Item:
    """One finding shown again."""
    began = monotonic()
    finding = find_finding(name)
    shown = show(finding)
    counterexample, otherwise = counterexample_of(finding, lambda at: means.say(f"{at.states_distinct} states"))
    problem = shown.problem or otherwise
    rejection = shown.verdict.rejection
    said = shown.verdict.kind.value if rejection is None else ", ".join(rejection.properties)
    facts: dict[str, Fact] = {"schedule": said, "counterexample": counterexample.splitlines()[0]}
    reached = problem or facts["counterexample"]
    return Item("findings", name, not problem, True, facts, str(reached), round(monotonic() - began, 1))

"""`kraft-spec run`: the main job, in one command."""

import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from kraft_cli.commands.options import Json
from kraft_cli.commands.scenario import verdict_agrees
from kraft_cli.commands.signals import ended_by_signals
from kraft_cli.verdicts import show_rejection
from kraft_conformance.console import Advance, print_json, progress, say, show_table, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, UnavailableError
from kraft_mutants.playing import play, simulation_of
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import SCENARIOS, ScenarioFailure
from kraft_simulation.workload import WORKLOADS
from kraft_spec.models import CheckReport, find_check, run_check
from kraft_traces.check import Rejection, VerdictKind, check_occurrences

if TYPE_CHECKING:
    from kraft_kafka.jars import Kafka

Runs = Annotated[int, typer.Option(min=1, help="Simulated runs of each workload.")]
Steps = Annotated[int, typer.Option(min=1, help="Events of each run before it is healed.")]

MUTANTS: tuple[tuple[str, str, int], ...] = (
    ("prevote.follower.rejects-after-fetch", "elections", 1),
    ("state.resigned.timeout", "storm", 1),
    ("hw.own-epoch", "crashes", 1),
    ("vote.voter-key", "crashes", 1),
    ("check-quorum.resign", "storm", 1),
)
"""Mutants of the reference that the trace does not name: the omitted rule, a workload and a seed."""


NAMED_AMONG = 3
"""The broken rule must be among this many first rules of the rejection."""
KAFKA = "4.3.1"
"""Apache Kafka release of the controllers."""
_MAVEN_S = 60.0
"""Time limit for Maven to fetch it, from the start of the run."""


@dataclass(frozen=True, slots=True)
class Part:
    """A row of the summary."""

    name: str
    done: str
    holds: bool
    seconds: float
    detail: str = ""


def run(runs: Runs = 3, steps: Steps = 400, as_json: Json = False) -> int:
    """Run the scenarios and simulations on the reference, check every trace, and model-check the smoke slice.

    Last come processes over TCP that elect a leader, add a voter and lose the leader: controllers of Apache Kafka with
    the agent, if their jars are in the cache or Maven fetches them within a minute, else nodes.
    """
    began = monotonic()
    parts: list[Part] = []
    rejected: list[Rejection] = []
    of_mutants: list[Rejection] = []
    with ThreadPoolExecutor(max_workers=2) as workers:
        smoke = workers.submit(run_check, find_check("smoke"))
        kafka = workers.submit(_fetch_kafka) if find_spec("kio") is not None else None
        variants = sum(len(scenario.variants) for scenario in SCENARIOS)
        with progress("scenarios on the reference, traces against the model", variants) as advance:
            parts.append(_check_scenarios(advance, rejected))
        with progress("simulated runs, traces against the model", runs * len(WORKLOADS)) as advance:
            parts.append(_check_simulations(runs, steps, advance, rejected))
        with progress("mutants", len(MUTANTS)) as advance:
            parts.append(_check_mutants(advance, of_mutants))
        with progress("model check: smoke"):
            parts.append(_report_smoke(smoke))
        if kafka is None:
            say("not run: processes over TCP, which need kraft-spec with the extra `conformance`", console=stderr)
        else:
            parts.append(_processes(kafka, rejected))
    holds = all(part.holds for part in parts)
    if as_json:
        print_json(
            {
                "holds": holds,
                "seconds": round(monotonic() - began, 1),
                "parts": [asdict(part) for part in parts],
                "rejected": [asdict(rejection) for rejection in rejected],
                "planted": [asdict(rejection) for rejection in of_mutants],
            }
        )
        return ExitCode.CONFORMANT if holds else ExitCode.VIOLATION
    for rejection in rejected:
        show_rejection(stdout, rejection)
    if of_mutants:
        stdout.print("A mutant, as the checker reports it:", style="bold")
        show_rejection(stdout, of_mutants[0])
    rows = [
        (it.name, it.done, "[green]yes[/green]" if it.holds else "[red]no[/red]", f"{it.seconds:.1f}", it.detail)
        for it in parts
    ]
    show_table("kraft-spec run", ("part", "what was done", "holds", "seconds", "detail"), rows)
    stdout.print(f"{'All of it holds' if holds else 'Something does not hold'}; {monotonic() - began:.0f} s.")
    return ExitCode.CONFORMANT if holds else ExitCode.VIOLATION


def _check_scenarios(advance: Advance, rejected: list[Rejection]) -> Part:
    """Check every variant of every scenario: it goes as scripted, and the model accepts it or names its violation."""
    began = monotonic()
    events = 0
    variants = 0
    wrong: list[str] = []
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            name = f"{scenario.number}. {scenario.name}/{variant.name}"
            try:
                outcome = play(scenario, variant)
            except ScenarioFailure as failure:
                wrong.append(str(failure))
                continue
            verdict = check_occurrences(outcome.occurrences, outcome.configuration, name, switched_off=variant.mutants)
            if not verdict_agrees(outcome, verdict):
                wrong.append(name)
                if verdict.rejection is not None:
                    rejected.append(verdict.rejection)
            events += verdict.events
            variants += 1
            advance(what=f"scenario {name}")
    done = f"{len(SCENARIOS)} scenarios, {variants} variants, {events} events checked"
    return Part("scenarios", done, not wrong, monotonic() - began, "; ".join(wrong))


def _check_simulations(seeds: int, steps: int, advance: Advance, rejected: list[Rejection]) -> Part:
    """Check seeded runs with faults: invariants and progress in the simulator, every line with the model."""
    began = monotonic()
    events = 0
    runs = 0
    wrong: list[str] = []
    for workload, seed in product(WORKLOADS, range(seeds)):
        plan = RunPlan(seed=seed, replicas=3 + 2 * (seed % 2), steps=steps, workload=workload)
        simulation = plan.simulation()
        verdict = check_occurrences(simulation.run(), simulation.configuration, plan.command_line())
        if simulation.violation is not None:
            wrong.append(f"{simulation.violation} ({plan.command_line()})")
        elif verdict.kind is not VerdictKind.ACCEPTED:
            wrong.append(plan.command_line())
        if verdict.rejection is not None:
            rejected.append(verdict.rejection)
        events += verdict.events
        runs += 1
        advance(what=f"workload {plan.workload}, seed {plan.seed}")
    done = f"{runs} runs of {len(WORKLOADS)} workloads, {events} events checked"
    return Part("simulations", done, not wrong, monotonic() - began, "; ".join(wrong))


def _check_mutants(advance: Advance, rejections: list[Rejection]) -> Part:
    """Check that the checker rejects each mutant's run and names the broken rule."""
    began = monotonic()
    missed: list[str] = []
    for rule, workload, seed in MUTANTS:
        broken = simulation_of(RunPlan(seed=seed, steps=1500, workload=workload, mutants=(rule,)))
        verdict = check_occurrences(broken.run(), broken.configuration, f"mutant: without {rule}")
        rejection = verdict.rejection
        if rejection is None or rule not in rejection.rules[:NAMED_AMONG]:
            missed.append(rule)
        else:
            rejections.append(rejection)
        advance()
    done = f"{len(rejections)} of {len(MUTANTS)} rejected with the rule named"
    return Part("mutants", done, not missed, monotonic() - began, "; ".join(missed))


def _report_smoke(check: "Future[CheckReport]") -> Part:
    report = check.result()
    done = f"{report.report.progress.states_distinct} states, depth {report.report.progress.depth}"
    detail = "" if report.as_expected else f"{report.report.outcome.value} {report.report.violated}"
    return Part("model check: smoke", done, report.as_expected, report.report.seconds, detail)


def _fetch_kafka() -> "tuple[Kafka, Path]":
    """Return Kafka's controller and the agent's jar, whose jars are fetched into the cache if it lacks them.

    Raises:
        UnavailableError, OSError: they are not available.
    """
    from kraft_kafka.agent.building import agent_jar
    from kraft_kafka.controllers import controller, jars_of
    from kraft_kafka.jars import fetched
    from kraft_kafka.patching.patches import javassist_jars

    # All at once, under one time limit.
    fetched((*jars_of(KAFKA), *javassist_jars()), _MAVEN_S)
    return controller(KAFKA), agent_jar()


def _processes(kafka: "Future[tuple[Kafka, Path]]", rejected: list[Rejection]) -> Part:
    """Check one trace of processes that elect a leader, add a voter and lose the leader: Kafka's, or nodes."""
    if not kafka.done():
        say(f"waiting for Apache Kafka {KAFKA} and the agent's jar", console=stderr)
    try:
        release, agent = kafka.result()
    except (UnavailableError, OSError) as error:
        say(f"nodes alone, without Apache Kafka: {str(error).splitlines()[0]}", console=stderr)
        return _nodes(rejected)
    return _controllers(release, agent, rejected)


def _controllers(release: "Kafka", agent: Path, rejected: list[Rejection]) -> Part:
    from kraft_kafka.agent.joining import join
    from kraft_kafka.agent.reading import read_raw
    from kraft_kafka.agent.unread_voters import UNREAD_VOTERS, has_unread_voters
    from kraft_kafka.whole.cluster import NotReachedError
    from kraft_kafka.whole.under_agent import record_controllers
    from kraft_traces.check.run import check_reader
    from kraft_traces.reader import trace_of_bytes

    began = monotonic()
    name, done = "Kafka with the agent", f"{KAFKA}: 3 controllers elect, add a 4th, lose the leader"
    try:
        with tempfile.TemporaryDirectory(prefix="kraft-spec-run-") as folder, ended_by_signals():
            traces = record_controllers(release, agent, Path(folder), lambda text: say(text, console=stderr))
            trace = b"".join(join(read_raw(sorted(traces.rglob("*.raw.jsonl"))), None))
    except (CommandError, NotReachedError) as error:
        return Part(name, done, False, monotonic() - began, str(error))
    verdict = check_reader(trace_of_bytes(trace, "the controllers' trace"))
    rejection = verdict.rejection
    # Without any fault a start may show it.
    is_finding = rejection is not None and has_unread_voters(rejection)
    if rejection is not None and not is_finding:
        rejected.append(rejection)
    is_accepted = verdict.kind is VerdictKind.ACCEPTED
    detail = UNREAD_VOTERS if is_finding else "" if is_accepted else str(verdict.kind)
    return Part(name, done, is_accepted or is_finding, monotonic() - began, detail)


def _nodes(rejected: list[Rejection]) -> Part:
    from kraft_cli.commands.live_quorum import judged_run
    from kraft_kafka.live.faults import LEADER, Fault, FaultKind
    from kraft_kafka.live.quorum import Plan

    began = monotonic()
    faults = (Fault(200, FaultKind.VOTERS, LEADER), Fault(2000, FaultKind.KILL, LEADER, 2500))
    with tempfile.TemporaryDirectory(prefix="kraft-spec-run-") as folder:
        judged = judged_run(Plan((1, 2, 3), (4,), {}, "kip", faults, 4.5, 1), Path(folder))
    if judged.verdict.rejection is not None:
        rejected.append(judged.verdict.rejection)
    is_added = any(line.event == "AddVoter" for line in judged.lines)
    has_two = len({leader for _, leader in judged.leaders}) > 1
    holds = judged.is_accepted and is_added and has_two
    done = "3 nodes elect, add a voter, lose the leader: one trace"
    detail = "" if holds else "kraft-spec live quorum keeps all"
    return Part("processes over TCP", done, holds, monotonic() - began, detail)

"""The parts of a night, and how an item of each is run.  One entry of `PARTS` is one part."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from time import monotonic

from kraft_conformance.findings.finding import find_finding, load_findings
from kraft_conformance.findings.showing import show
from kraft_conformance.kafka.jars import KafkaUnavailableError
from kraft_conformance.kafka.patching.patches import bugs, patches
from kraft_conformance.kafka.releases import newest
from kraft_dev.child import ChildError, run_child
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import check_problems, check_rows, load_evidence, run_again
from kraft_dev.edges import replay
from kraft_dev.edges.enumeration import enumerate_edges
from kraft_dev.edges.explaining import Explaining
from kraft_dev.edges.slices import slices
from kraft_dev.findings import counterexample_of
from kraft_dev.kafka_bugs import NAMED, VECTORS, bugs_of
from kraft_dev.kafka_seeds import counted, runs_of, workloads_of
from kraft_dev.load_bearing.evidence import not_as_recorded, run_evidence
from kraft_dev.load_bearing.searching import leaves_open
from kraft_dev.matrix import machine_made
from kraft_dev.matrix.measuring import Plan, measure, problems
from kraft_dev.matrix.subjects import seeded_subjects
from kraft_dev.nightly.record import Item
from kraft_dev.results import Row, commit_now, undetected
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.profile import KAFKA_4, KAFKA_PROFILES, KIP
from kraft_spec.models import CHECKS, find_check, run_check, takes_profile, under_profile
from kraft_spec.mutants import load_catalogue
from kraft_spec.mutants.load_bearing import with_evidence
from kraft_spec.proofs.induction.explaining import explain, of_plan
from kraft_spec.proofs.translation.acting import ACTIONS
from kraft_spec.proofs.translation.proving import OTHERS, prove_action, specification
from kraft_spec.tlc.model_report import Outcome, Progress

FIRST_DAY = date(2026, 11, 25)
"""The night of seed 0."""
WEEK = 7
"""Nights."""
SEEDS_A_NIGHT = 15
"""Of each workload."""
MACHINE_MADE = "machine-made"
_MACHINE_MADE_NUMBER = 200
_COMMAND = "python -m kraft_dev nightly"
_SLICE_SECONDS = 1800.0
_REFINED_SEEDS, _REFINED_EVENTS = 1000, 800
OTHERWISE_UNDER_KAFKA = {
    "voters-known-leader.kafka-4": "ElectionSafety",
    "voters-known-leader.kafka-4.1": "ElectionSafety",
    "voters-known-leader.kafka-4.0": "ElectionSafety",
    "voters-upgraded-is-reached.kafka-4.0": "",
}
"""The checks that find another property violated than under `kip`, or none: docs/kafka.md says why."""


@dataclass(frozen=True, slots=True)
class Means:
    """What an item may use.

    Attributes:
        day: The night's.
        checkpoints: Folder for checkpoints of model checks; they belong to one text of the model.
        resume: Go on from checkpoints.
        workers: Threads of TLC, and processes elsewhere.
        time_limit_seconds: Replaces the limit of every check that has one; None to keep them.
        say: Shows how far the item is.
    """

    day: date
    checkpoints: Path
    resume: bool
    workers: int
    time_limit_seconds: float | None
    say: Callable[[str], None]

    def say_row(self, row: Row) -> None:
        """Show a row of a matrix."""
        self.say(f"{row.name}: {row.first.detector if row.first is not None else 'nothing'}")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a night.

    Attributes:
        name: Name on the command line and in the record.
        what: What it checks.
        items: Names of its items, in their order.
        run: Runs one.
        nights: So many nights share the items out among them, because they are too many or too slow for one.
    """

    name: str
    what: str
    items: Callable[[], tuple[str, ...]]
    run: Callable[[str, Means], Item]
    nights: int = 1

    def due(self, day: date) -> tuple[str, ...]:
        """Those of the night of that day: each is due once in `nights` nights."""
        return self.items()[day.toordinal() % self.nights :: self.nights]


def edges_item(name: str, means: Means) -> Item:
    """Every edge of the model on the reference, and as steps of the inductive proof."""
    explaining = Explaining(invariants=True)
    graph = enumerate_edges(lambda explored, known: means.say(f"{explored} of {known} states"), explaining=explaining)
    report = replay(graph.edges)
    found = [f"{number} edges of {action} differ" for action, number in report.differing.items() if number]
    found += [] if explaining.agrees else [explaining.verdict]
    reached = f"{graph.states} states, {graph.changing} edges change a replica, {explaining.edges} explained"
    return Item("edges", name, reached, round(graph.seconds + report.seconds, 1), tuple(found))


def slice_item(name: str, means: Means) -> Item:
    """Each step of a slice as steps of the inductive proof, and its invariants in each state; a process of its own."""
    began = monotonic()
    seconds = means.time_limit_seconds or _SLICE_SECONDS
    try:
        said = run_child("kraft_dev", "edges", "--slice", name, "--time-limit", f"{seconds:.0f}")
    except ChildError as error:
        return _item("slices", name, "not explained", began, (str(error),))
    return _item("slices", name, said.splitlines()[0].removeprefix(f"{name}: "), began, ())


def actions_item(name: str, means: Means) -> Item:
    """An action of the model's text is steps of the inductive proof."""
    began = monotonic()
    found = prove_action(specification(), name)
    problems = tuple(one.obligation.name for one in found.failing) or (
        () if found.is_possible else ("it cannot happen",)
    )
    return _item("actions", name, f"{len(found.answers)} obligations", began, problems)


def refinement_item(name: str, means: Means) -> Item:
    """A thousand runs of a workload as steps of the inductive proof."""
    began = monotonic()
    plans = (RunPlan(seed, steps=_REFINED_EVENTS, workload=name) for seed in range(_REFINED_SEEDS))
    found = explain(map(of_plan, plans), means.say, invariants_every=_REFINED_EVENTS)
    return _item("refinement", name, f"{found.events.total()} events explained", began, found.problems)


def load_bearing_item(name: str, means: Means) -> Item:
    """The evidence of one mutant, under the profile that its name ends with; else the recorded counterexample."""
    mutant_name, _, profile = name.partition(".")
    mutant = load_catalogue()[mutant_name]

    def show_progress(reached: Progress) -> None:
        means.say(f"{reached.states_distinct} states, depth {reached.depth}")

    found = run_evidence(mutant, show_progress, profile=profile or KIP.name, workers=means.workers)
    problem = found.problem or ("" if profile else not_as_recorded(mutant, found))
    reached = f"{found.violated} after {found.length} in {found.where}" if found.violated else "no counterexample"
    return Item("load-bearing", name, reached, round(found.seconds, 1), (problem,) if problem else ())


def matrix_item(name: str, means: Means) -> Item:
    """The seeded mutants, or machine-made ones, up to the first tool that detects each."""
    began = monotonic()
    if name == MACHINE_MADE and not machine_made.is_available():
        return _not_run("matrix", name, "Cosmic Ray is not installed (the extra `mutation`)")
    machine = _MACHINE_MADE_NUMBER if name == MACHINE_MADE else 0
    plan = Plan("mutants", _COMMAND, () if machine else seeded_subjects(), machine=machine, jobs=means.workers)
    found = measure(plan, means.say, means.say_row)
    every = (*found.rows, *found.drawn)
    reached = f"{len(every) - len(undetected(every))} of {len(every)} detected, or cannot be"
    return _item("matrix", name, reached, began, problems(found))


def checks_item(name: str, means: Means) -> Item:
    """Every check detects a mutant, and its recorded run, run again, shows it."""
    began = monotonic()
    evidence, catalogue = load_evidence(), load_catalogue()
    rows = check_rows(all_checks(), catalogue, evidence)
    found = (*check_problems(rows, catalogue, evidence), *run_again(evidence.detected, means.say))
    return _item("detectors", name, f"{len(rows)} checks", began, found)


def _item(part: str, name: str, reached: str, began: float, found: Iterable[str]) -> Item:
    return Item(part, name, reached, round(monotonic() - began, 1), tuple(found))


def _not_run(part: str, name: str, why: object) -> Item:
    return Item(part, name, "not run", 0.0, (str(why),), finished=False)


def finding_item(name: str, means: Means) -> Item:
    """One finding shown again."""
    began = monotonic()
    finding = find_finding(name)
    shown = show(finding)
    counterexample, otherwise = counterexample_of(finding, lambda at: means.say(f"{at.states_distinct} states"))
    return _item("findings", name, counterexample.splitlines()[0], began, filter(None, (shown.problem, otherwise)))


def kafka_bugs_item(name: str, means: Means) -> Item:
    """A bug planted in Apache Kafka makes a vector fail, which names its rule; nothing where Kafka cannot be run."""
    began = monotonic()
    try:
        row = bugs_of(newest(), means.say_row, (patches()[name],)).rows[0]
    except KafkaUnavailableError as missing:
        return _not_run("kafka-bugs", name, missing)
    failing, naming = (cell for one in (VECTORS, NAMED) if (cell := row.by(one)) is not None)
    found = () if naming.detects else (f"no vector that fails names {row.breaks[0]}",)
    reached = f"{failing.amount} vectors fail, {naming.amount} name {row.breaks[0]}"
    return _item("kafka-bugs", name, reached, began, found)


def kafka_seeds_item(name: str, means: Means) -> Item:
    """Random schedules of one workload on the newest release, other seeds each night."""
    began = monotonic()
    first = (means.day - FIRST_DAY).days * SEEDS_A_NIGHT
    try:
        seeds = range(first, first + SEEDS_A_NIGHT)
        outcomes = runs_of(newest(), None, (name,), seeds, lambda one: means.say(one.outcome.id))
    except KafkaUnavailableError as missing:
        return _not_run("kafka-seeds", name, missing)
    found = counted(newest(), None, name, first, outcomes, commit_now())
    reached = f"seeds {found.first} to {found.end - 1}, {found.events} events"
    return _item("kafka-seeds", name, reached, began, found.failures)


def model_item(name: str, means: Means) -> Item:
    """One model check, under the profile that its name ends with, if it does."""
    slice_name, _, profile = name.partition(".")
    check = under_profile(find_check(slice_name), profile or KIP.name)
    if name in OTHERWISE_UNDER_KAFKA:
        check = replace(check, violates=OTHERWISE_UNDER_KAFKA[name], fires=frozenset())

    def show_progress(reached: Progress) -> None:
        means.say(f"{reached.states_distinct} states, depth {reached.depth}, {reached.queue_left} in the queue")

    limit = means.time_limit_seconds if check.time_limit_seconds is not None else None
    report = run_check(
        check,
        show_progress,
        workers=means.workers,
        checkpoint_directory=means.checkpoints if "nightly" in check.groups else None,
        resume=means.resume,
        time_limit_seconds=limit,
        coverage=True,
    )
    found = report.report
    finished = found.outcome is not Outcome.TIME_LIMIT or check.simulation is not None
    outcome = " ".join(filter(None, (found.outcome.value, found.violated)))
    problem = outcome + (f", never fired: {', '.join(report.never_fired)}" if report.never_fired else "")
    reached = f"{found.progress.states_distinct or found.progress.states_generated} states"
    if found.progress.queue_left:
        reached += f", {found.progress.queue_left} in the queue"
    return Item("models", name, reached, round(found.seconds, 1), () if report.as_expected else (problem,), finished)


def _under_kafka() -> tuple[str, ...]:
    """The checks that leave something open, under each profile of Apache Kafka; those of an hour under the newest."""
    return tuple(
        under_profile(check, profile.name).name
        for profile in KAFKA_PROFILES
        for check in CHECKS
        if takes_profile(check) and (check.time_limit_seconds is None or profile == KAFKA_4)
    )


def _broken_under_kafka() -> tuple[str, ...]:
    """The mutants whose searches leave something open, under each profile of Apache Kafka."""
    broken = [mutant.name for mutant in with_evidence(load_catalogue()) if leaves_open(mutant)]
    return tuple(f"{mutant}.{profile.name}" for profile in KAFKA_PROFILES for mutant in broken)


def _checks(*, limited: bool) -> tuple[str, ...]:
    """The model checks that have a time limit, or those that have none."""
    return tuple(check.name for check in CHECKS if (check.time_limit_seconds is not None) == limited)


PARTS: tuple[Part, ...] = (
    Part("edges", "every edge of the model, on the reference and in the proof", lambda: ("every edge",), edges_item),
    Part(
        "actions",
        "each action of the model that is translated is steps of the inductive proof",
        lambda: (*ACTIONS, OTHERS),
        actions_item,
    ),
    Part(
        "slices",
        "each step of a slice is steps of the inductive proof, whose invariants hold in each of its states",
        lambda: tuple(slices()),
        slice_item,
        nights=WEEK,
    ),
    Part(
        "refinement",
        "each step of runs is steps of the inductive proof",
        lambda: tuple(WORKLOADS),
        refinement_item,
        nights=WEEK,
    ),
    Part(
        "load-bearing",
        "each safety rule taken out of the model: what TLC finds violated",
        lambda: tuple(mutant.name for mutant in with_evidence(load_catalogue())),
        load_bearing_item,
    ),
    Part(
        "matrix",
        "broken references: seeded ones, and machine-made ones",
        lambda: ("mutants", MACHINE_MADE),
        matrix_item,
    ),
    Part("detectors", "every check detects a mutant", lambda: ("checks",), checks_item),
    Part(
        "kafka-bugs",
        "bugs planted in Apache Kafka are seen, and their rule is named",
        lambda: tuple(bug.name for bug in bugs()),
        kafka_bugs_item,
    ),
    Part(
        "kafka-seeds",
        "random schedules on Apache Kafka, going on from the seeds of the night before",
        lambda: workloads_of(newest()),
        kafka_seeds_item,
    ),
    Part(
        "findings",
        "what was found wrong in the texts still shows",
        lambda: tuple(finding.name for finding in load_findings()),
        finding_item,
    ),
    Part("models", "every model check that has an end", lambda: _checks(limited=False), model_item),
    Part(
        "long-models",
        "the model checks that go on from checkpoints",
        lambda: _checks(limited=True),
        model_item,
        nights=WEEK,
    ),
    Part("kafka-models", "the model checks where Apache Kafka decides", _under_kafka, model_item, nights=WEEK),
    Part(
        "kafka-load-bearing",
        "what TLC finds violated without a safety rule where Apache Kafka decides",
        _broken_under_kafka,
        load_bearing_item,
        nights=WEEK,
    ),
)


def find_part(name: str) -> Part:
    """The part of that name.

    Raises:
        KeyError: There is none.
    """
    for part in PARTS:
        if part.name == name:
            return part
    raise KeyError(f"no part {name!r} of a night; there are {', '.join(part.name for part in PARTS)}")

"""Parts of a night: each item is a command that can run by itself, each entry of `PARTS` a part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from kraft_dev.edges.slices import slices
from kraft_dev.kafka_seeds import workloads_of
from kraft_dev.mutants.searching import leaves_open
from kraft_dev.starts import first_checks
from kraft_kafka.findings.finding import load_findings
from kraft_kafka.patching.patches import mutants
from kraft_kafka.releases import newest
from kraft_mutants import load_catalogue
from kraft_mutants.evidence import with_evidence
from kraft_proofs.translation.acting import ACTIONS
from kraft_proofs.translation.proving import OTHERS
from kraft_reference.profile import KAFKA_4, KAFKA_PROFILES, PROFILES
from kraft_simulation.workload import WORKLOADS
from kraft_spec.models import CHECKS, checks_of, find_check, takes_profile, under_profile

FIRST_DAY = date(2026, 11, 25)
"""Night of seed 0."""
WEEK = 7
"""Number of nights."""
SEEDS_A_NIGHT = 15
"""Seeds of each workload."""
_MACHINE_MADE, _MACHINE_MADE_NUMBER = "machine-made", 200
_CHECKS = "checks"
_SLICE_SECONDS = 1800.0
_OWN_SEEDS, _OWN_EVENTS = 10, 400
_REFINED_SEEDS, _REFINED_EVENTS, _INVARIANTS_EVERY = 1000, 800, 100
OTHERWISE_UNDER_KAFKA = {
    "voters-known-leader.kafka-4": "violates ElectionSafety",
    "voters-known-leader.kafka-4.1": "violates ElectionSafety",
    "voters-known-leader.kafka-4.0": "violates ElectionSafety",
    "voters-upgraded-is-reached.kafka-4.0": "ok",
}
"""Checks that violate another property than under `kip`, or none; the reasons are in docs/kafka.md."""
HARMLESS_UNDER_KAFKA = {
    **{
        f"restart-as-follower-of-itself.{profile.name}": "expected a violation of NotFollowerOfSelf, found ok"
        for profile in KAFKA_PROFILES
    },
    **{
        f"reports-keep-the-leader.{profile.name}": "expected a violation of IdentityBinding, found ok"
        for profile in KAFKA_PROFILES
        if profile.update_voter_credit == "fetch"
    },
}
"""Mutants that break nothing under this profile: a leader restarts by its own vote before it considers whom it
followed, and a report counts in check quorum.
"""
NOT_COMPILED = {"forgetting": "SubstInNode"} | {
    check.name: r"the recursive operator \w+" for check in CHECKS if check.name.startswith("partition-reassignment")
}
"""Exhaustive checks that cannot be compiled, and the reason: `forgetting` has two histories as one module,
and the model of partitions orders sets by recursion.
"""


@dataclass(frozen=True, slots=True)
class Means:
    """Resources of an item.

    Attributes:
        day: Date of the night.
        checkpoints: Folder for checkpoints of model checks; valid for one text of the model.
        resume: True to resume from checkpoints.
        workers: Number of TLC threads, or of processes elsewhere, per item.
        time_limit_seconds: Replaces the limit of every check that has one; None to keep them.
    """

    day: date
    checkpoints: Path
    resume: bool = True
    workers: int = 1
    time_limit_seconds: float | None = None


Words = tuple[str, ...]
"""A command-line module and its arguments."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a night.

    Attributes:
        name: Name on the command line and in the record.
        what: Description of the check.
        items: Names of its items, in their order.
        command: Function that returns the command of an item.
        nights: Number of nights over which the items are distributed.
        otherwise: Results of items that their command does not expect, by item name.
    """

    name: str
    what: str
    items: Callable[[], tuple[str, ...]]
    command: Callable[[str, Means], Words]
    nights: int = 1
    otherwise: Mapping[str, str] = field(default_factory=dict)

    def due(self, day: date) -> tuple[str, ...]:
        """Return the items due on a day: each is due once in `nights` nights."""
        return self.items()[day.toordinal() % self.nights :: self.nights]


def _developer(*words: object) -> Words:
    return ("kraft_dev", *map(str, words))


def _user(*words: object) -> Words:
    return ("kraft_cli.cli", *map(str, words))


def _of_profile(profile: str) -> Words:
    return ("--profile", profile) if profile else ()


def _explained_slice(name: str, means: Means) -> Words:
    return _developer("edges", "--slice", name, "--time-limit", means.time_limit_seconds or _SLICE_SECONDS)


def _own_traces(name: str, means: Means) -> Words:
    """Return the command with other seeds each night."""
    workload, _, profile = name.partition(".")
    first = (means.day - FIRST_DAY).days * _OWN_SEEDS
    seeds = ("--seeds", f"{first}:{first + _OWN_SEEDS}", "--steps", _OWN_EVENTS)
    return _developer("own-traces", "--workload", workload, "--profile", profile, *seeds)


def _refinement(name: str, _means: Means) -> Words:
    runs = ("--workload", name, "--seeds", f"0:{_REFINED_SEEDS}", "--steps", _REFINED_EVENTS)
    return _user("prove", "refinement", *runs, "--invariants-every", _INVARIANTS_EVERY)


def _evidence(name: str, means: Means) -> Words:
    """Return the command for a mutant's evidence, under the profile that the item's name ends with."""
    mutant, _, profile = name.partition(".")
    return _developer("mutants", mutant, "--tool", "evidence", "--jobs", means.workers, *_of_profile(profile))


def _mutants(name: str, means: Means) -> Words:
    subjects = {
        _MACHINE_MADE: ("--no-seeded", "--machine", _MACHINE_MADE_NUMBER),
        _CHECKS: ("--tool", _CHECKS),
    }
    return _developer("mutants", *subjects.get(name, ()), "--jobs", means.workers)


def _kafka_seeds(name: str, means: Means) -> Words:
    """Return the command with other seeds each night."""
    first = (means.day - FIRST_DAY).days * SEEDS_A_NIGHT
    return _developer("kafka-seeds", "--workload", name, "--seeds", f"{first}:{first + SEEDS_A_NIGHT}")


def _model(name: str, means: Means) -> Words:
    """Return the command of a model check, under the profile that the item's name ends with, if any."""
    slice_name, _, profile = name.partition(".")
    check = find_check(slice_name)
    more: list[object] = []
    if "nightly" in check.groups:
        more += ["--checkpoints", means.checkpoints, *(["--resume"] if means.resume else [])]
    if means.time_limit_seconds is not None and check.time_limit_seconds is not None:
        more += ["--time-limit", means.time_limit_seconds]
    return _user("model", slice_name, "--workers", means.workers, *more, *_of_profile(profile))


def _under_kafka() -> tuple[str, ...]:
    """Return the checks with open decisions, under each profile of Kafka; hour-long ones only under the newest."""
    return tuple(
        under_profile(check, profile.name).name
        for profile in KAFKA_PROFILES
        for check in CHECKS
        if takes_profile(check) and (check.time_limit_seconds is None or profile == KAFKA_4)
    )


def _broken_under_kafka() -> tuple[str, ...]:
    """Return the mutants whose searches have open decisions, under each profile of Apache Kafka."""
    broken = [mutant.name for mutant in with_evidence(load_catalogue()) if leaves_open(mutant)]
    return tuple(f"{mutant}.{profile.name}" for profile in KAFKA_PROFILES for mutant in broken)


def _compiled() -> tuple[str, ...]:
    """Return the exhaustive checks of the groups `ci` and `long` that are compiled."""
    checks = (*checks_of("ci"), *checks_of("long"))
    whole = [check for check in checks if not (check.violates or check.configuration.specification)]
    return tuple(check.name for check in whole if check.name not in NOT_COMPILED)


def _checks(*, limited: bool) -> tuple[str, ...]:
    """Return the model checks that have a time limit, or those that have none."""
    return tuple(check.name for check in CHECKS if (check.time_limit_seconds is not None) == limited)


PARTS: tuple[Part, ...] = (
    Part(
        "edges",
        "every edge of the model, on the reference and in the proof",
        lambda: ("every-edge",),
        lambda name, means: _developer("edges", "--refinement"),
    ),
    Part(
        "actions",
        "each action of the model that is translated is steps of the inductive proof",
        lambda: (*ACTIONS, OTHERS),
        lambda name, means: _user("prove", "actions", name),
    ),
    Part(
        "slices",
        "each step of a model check is steps of the inductive proof, whose invariants hold in each of its states",
        lambda: tuple(slices()),
        _explained_slice,
        nights=WEEK,
    ),
    Part(
        "own-traces",
        "the model accepts the reference's own traces: every workload under every profile with 3, 5 and 7 voters",
        lambda: tuple(f"{workload}.{profile}" for profile in PROFILES for workload in WORKLOADS),
        _own_traces,
        nights=WEEK,
    ),
    Part(
        "refinement",
        "each step of runs is steps of the inductive proof",
        lambda: tuple(WORKLOADS),
        _refinement,
        nights=WEEK,
    ),
    Part(
        "evidence",
        "violations with each safety rule broken in the model",
        lambda: tuple(mutant.name for mutant in with_evidence(load_catalogue())),
        _evidence,
    ),
    Part(
        "mutants",
        "seeded and machine-made mutants of the reference are detected, and every check detects one",
        lambda: ("seeded", _MACHINE_MADE, _CHECKS),
        _mutants,
    ),
    Part(
        "kafka-bugs",
        "mutants of Apache Kafka are detected, and their rule is named",
        lambda: tuple(mutants()),
        lambda name, means: _developer("kafka-bugs", name),
    ),
    Part(
        "kafka-seeds",
        "random schedules on Apache Kafka, with new seeds each night",
        lambda: workloads_of(newest()),
        _kafka_seeds,
    ),
    Part(
        "findings",
        "findings about the texts are reproduced",
        lambda: tuple(finding.name for finding in load_findings()),
        lambda name, means: ("kraft_dev.findings", name),
    ),
    Part("models", "every model check without a time limit", lambda: _checks(limited=False), _model),
    Part(
        "compiled-models",
        "the compiled model and TLC agree on each step and property of a model check",
        _compiled,
        lambda name, means: _user("model", name, "--both"),
        nights=WEEK,
    ),
    Part(
        "explored-models",
        "the explorer and TLC agree on each state of a model check",
        _compiled,
        lambda name, means: _user("model", name, "--explore", "--both"),
        nights=WEEK,
    ),
    Part(
        "starts",
        "a path of the protocol leads to each start of a model check in the middle",
        lambda: tuple(first_checks()),
        lambda name, means: _developer("starts", name),
        nights=WEEK,
    ),
    Part(
        "long-models",
        "the model checks with a time limit, resumed from checkpoints",
        lambda: _checks(limited=True),
        _model,
        nights=WEEK,
    ),
    Part(
        "kafka-models",
        "the model checks under the profiles of Apache Kafka",
        _under_kafka,
        _model,
        nights=WEEK,
        otherwise=OTHERWISE_UNDER_KAFKA,
    ),
    Part(
        "kafka-evidence",
        "violations without a safety rule under the profiles of Apache Kafka",
        _broken_under_kafka,
        _evidence,
        nights=WEEK,
        otherwise=HARMLESS_UNDER_KAFKA,
    ),
)

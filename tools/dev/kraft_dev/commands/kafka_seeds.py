"""`python -m kraft_dev kafka-seeds`: run many random schedules on releases of Apache Kafka."""

from itertools import chain
from typing import Annotated

import typer

from kraft_cli.commands.conformance_report import show_failure
from kraft_cli.commands.options import seeds_of
from kraft_conformance.console import progress
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.reports import details
from kraft_conformance.random_runs.seats import REFERENCE
from kraft_conformance.runner.outcome import FAILING
from kraft_dev.commands.options import Record
from kraft_dev.kafka_seeds import Campaign, count_campaign, make_runs, record, sections_of, workloads_of
from kraft_dev.markdown import show
from kraft_dev.results import commit_now
from kraft_kafka.patching.patches import Patch, mutants
from kraft_kafka.releases import newest
from kraft_kafka.unpinned import is_version

Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="RELEASE[,RELEASE|,reference]...",
        help="Implementations of the replicas, separated by commas; repeatable; default: the newest release.",
    ),
]
Workloads = Annotated[
    list[str] | None, typer.Option("--workload", help="Workload; repeatable; default: all that the releases support.")
]
Seeds = Annotated[str, typer.Option("--seeds", help="FIRST:END.")]
Mutant = Annotated[str | None, typer.Option("--mutant", help="A mutant of Kafka, as `kraft-spec kafka mutants` lists.")]

KEPT_AFTER = 20
"""Number of runs of a workload after which the campaign is recorded, so that an interrupted command keeps them."""


def kafka_seeds(
    clusters: Clusters = None,
    workloads: Workloads = None,
    seeds: Seeds = "0:20",
    mutant: Mutant = None,
    save: Record = False,
) -> int:
    """Run random schedules on releases of Apache Kafka, or on a mutant until the first failure.

    Exit code 1 if a run does something that neither the profile nor the table of known differences describes.
    """
    numbers, bug = seeds_of(seeds), None if mutant is None else mutants().get(mutant)
    if mutant is not None and bug is None:
        raise usage_error(f"no mutant {mutant!r}; there are {', '.join(mutants())}")
    # Read the commit once: recording the first workload makes the tree dirty for the next one.
    campaigns: list[Campaign] = []
    commit = commit_now()
    for cluster in clusters or [newest()]:
        if cluster == REFERENCE or not all(name == REFERENCE or is_version(name) for name in cluster.split(",")):
            raise usage_error(f"--cluster {cluster}: expected releases (such as {newest()}) and {REFERENCE}")
        campaigns += _made(cluster, bug, tuple(workloads or workloads_of(cluster)), numbers, commit, save=save)
    show(sections_of(campaigns))
    return ExitCode.VIOLATION if any(campaign.failures for campaign in campaigns) else ExitCode.CONFORMANT


def _made(
    cluster: str, patch: Patch | None, workloads: tuple[str, ...], seeds: range, commit: str, *, save: bool
) -> list[Campaign]:
    """Make the runs of a cluster, report the unexplained ones, and with `save` record the campaign as it grows."""
    made: dict[str, list[RandomOutcome]] = {}

    def campaign(workload: str) -> Campaign:
        return count_campaign(cluster, patch, workload, seeds.start, made[workload], commit)

    def on_run(outcome: RandomOutcome) -> None:
        runs = made.setdefault(outcome.workload, [])
        runs.append(outcome)
        advance(1, f"{outcome.outcome.id} {outcome.outcome.status}")
        is_last = len(runs) == len(seeds) or (patch is not None and outcome.outcome.status in FAILING)
        if save and (is_last or len(runs) % KEPT_AFTER == 0):
            record(campaign(outcome.workload))

    with progress(cluster, len(seeds) * len(workloads)) as advance:
        make_runs(cluster, patch, workloads, seeds, on_run)
    for outcome in chain.from_iterable(made.values()):
        if outcome.outcome.status in FAILING:
            show_failure(outcome.outcome, details(outcome))
    return [campaign(workload) for workload in made]

"""`kraft-spec conformance random`: clusters of adapters under random workloads and faults."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.conformance_report import counts_in_words, show_failure, suite_errors
from kraft_cli.commands.options import Replicas, Seeds, Steps, StopAtFirst, TimeoutS, one_of, seeds_of
from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import progress, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.plan import SHRINK_RUNS_MAX, RandomPlan
from kraft_conformance.random_runs.reports import details, json_lines
from kraft_conformance.random_runs.seats import seat_of
from kraft_conformance.runner.outcome import FAILING, Status
from kraft_conformance.runner.reports import exit_code
from kraft_reference.profile import PROFILES
from kraft_simulation.workload import WORKLOADS

Adapters = Annotated[
    list[str],
    typer.Option(
        "--adapter",
        help="The command line of an adapter, or `reference`; repeatable: the replicas are dealt out in turn.",
    ),
]
Workloads = Annotated[
    list[str] | None, typer.Option("--workload", help=f"Named mixes, repeatable: {', '.join(WORKLOADS)}.")
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help=f"{', '.join(PROFILES)}; default: the one that the first adapter names.")
]
Differential = Annotated[
    bool, typer.Option(help="Fail at the first step that differs from the reference, even if nothing follows from it.")
]
Save = Annotated[Path | None, typer.Option(help="A folder for failing traces, and vectors that fail in the same way.")]
ShrinkRuns = Annotated[int, typer.Option(min=0, help="Runs to spend on shrinking a failure (0: do not shrink).")]
JsonLines = Annotated[bool, typer.Option("--json", help="JSON lines: one for each run, then a summary.")]


def random(
    adapters: Adapters,
    seeds: Seeds = "0:20",
    workloads: Workloads = None,
    steps: Steps = 1000,
    replicas: Replicas = 3,
    profile: ProfileName = None,
    differential: Differential = False,
    save: Save = None,
    shrink_runs: ShrinkRuns = SHRINK_RUNS_MAX,
    stops_at_first: StopAtFirst = False,
    timeout_s: TimeoutS = 10.0,
    as_json: JsonLines = False,
) -> int:
    """Run clusters of adapters under random workloads and faults; TLC checks each recorded trace."""
    workloads = workloads or ["chaos"]
    plan = RandomPlan(
        tuple(map(seat_of, adapters)),
        seeds_of(seeds),
        tuple(dict.fromkeys(one_of("workload", name, WORKLOADS) for name in workloads)),
        steps,
        replicas,
        None if profile is None else one_of("profile", profile, PROFILES),
        differential,
        shrinks=shrink_runs > 0,
        shrink_runs_max=shrink_runs,
        stops_at_first=stops_at_first,
        reply_timeout_s=timeout_s,
        save=save,
    )
    return run_random(plan, as_json)


def run_random(plan: RandomPlan, as_json: bool) -> int:
    """Make the runs and show their outcomes."""
    with ended_by_signals():
        outcomes = _make_runs(plan)
    if as_json:
        for line in json_lines(outcomes):
            print(line)
    else:
        _show(outcomes)
    return exit_code([run.outcome for run in outcomes])


def _make_runs(plan: RandomPlan) -> tuple[RandomOutcome, ...]:
    # Imported here, so that other commands do not load the model's libraries.
    from kraft_conformance.random_runs.campaign import random_campaign

    runs = len(plan.seeds) * len(plan.workloads)
    try:
        with suite_errors(), progress("random runs", runs) as advance:
            return random_campaign(plan, lambda run: advance(1, f"{run.outcome.id} {run.outcome.status}"))
    except OSError as error:
        where = error.filename or plan.save
        raise CommandError(f"{where}: cannot be written: {error.strerror}", ExitCode.CANNOT_WRITE) from error


def _show(outcomes: Sequence[RandomOutcome]) -> None:
    for run in outcomes:
        if run.outcome.status in FAILING:
            show_failure(run.outcome, details(run))
    remarks: Counter[tuple[str, str]] = Counter()
    """Text before and after the number of runs with the remark."""
    for run in outcomes:
        status, reason = run.outcome.status, run.outcome.reason
        if status not in (*FAILING, Status.PASS):
            remarks.update(("", f" {status}: {cause}") for cause in run.known or (reason,))
        remarks.update(("", f": {remark}") for remark in run.remarks if status is Status.PASS)
        if run.restricted:
            remarks["", f" of {run.workload} without {', '.join(run.restricted)}"] += 1
    for (before, after), number in remarks.items():
        say(f"{before}{number}{after}")
    events = sum(run.events for run in outcomes)
    if any(run.known for run in outcomes):
        until = sum(run.until_known if run.known else run.events for run in outcomes)
        ended = sum(run.is_whole for run in outcomes)
        say(f"{ended} runs reached their end; TLC checked the {until} events before the first known difference")
    say(f"{len(outcomes)} runs, {events} events: {counts_in_words([run.outcome for run in outcomes])}", "bold")

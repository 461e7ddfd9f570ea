"""`kraft-spec conformance random`: clusters of adapters under random workloads and faults."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Seeds, seeds_of
from kraft_conformance.commands.signals import ended_by_signals
from kraft_conformance.console import progress, shown, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.plan import SHRINK_RUNS_MAX, RandomPlan
from kraft_conformance.random_runs.reports import details, json_lines
from kraft_conformance.random_runs.seats import seat_of
from kraft_conformance.runner.faults import AdapterFault, CannotStart, OtherVersion, UnknownProfile
from kraft_conformance.runner.outcome import FAILING, Status
from kraft_conformance.runner.reports import counts, exit_code, headline
from kraft_conformance.vectors.catalogue import VectorFileError
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.profile import PROFILES

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
Steps = Annotated[int, typer.Option(min=1, help="Events before faults stop and the cluster must make progress.")]
Replicas = Annotated[int, typer.Option(min=1, max=9, help="Number of voters.")]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="kip or kafka-4; default: the one that the first adapter names.")
]
Differential = Annotated[
    bool, typer.Option(help="Fail at the first step that differs from the reference, whatever comes of it.")
]
Save = Annotated[Path | None, typer.Option(help="A folder for failing traces, and vectors that fail in the same way.")]
ShrinkRuns = Annotated[int, typer.Option(min=0, help="How many runs may go into making a failure shorter; 0: none.")]
StopAtFirst = Annotated[bool, typer.Option("-x", help="Stop at the first failure.")]
TimeoutS = Annotated[float, typer.Option("--timeout", min=0.01, max=86_400.0, help="Seconds that a reply may take.")]
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
    plan = RandomPlan(
        tuple(map(seat_of, adapters)),
        seeds_of(seeds),
        _workloads(workloads or ["chaos"]),
        steps,
        replicas,
        _profile(profile),
        differential,
        shrinks=shrink_runs > 0,
        shrink_runs_max=shrink_runs,
        stops_at_first=stops_at_first,
        reply_timeout_s=timeout_s,
        save=save,
    )
    with ended_by_signals():
        outcomes = _outcomes(plan)
    if as_json:
        for line in json_lines(outcomes):
            print(line)
    else:
        _show(outcomes)
    return exit_code([one.outcome for one in outcomes])


def _workloads(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in WORKLOADS:
            raise usage_error(f"no workload {name!r}; there are {', '.join(WORKLOADS)}")
    return tuple(dict.fromkeys(names))


def _profile(name: str | None) -> str | None:
    if name is not None and name not in PROFILES:
        raise usage_error(f"no profile {name!r}; there are {', '.join(PROFILES)}")
    return name


def _outcomes(plan: RandomPlan) -> tuple[RandomOutcome, ...]:
    # The model's libraries are not for the commands that do without them.
    from kraft_conformance.random_runs.campaign import random_campaign

    runs = len(plan.seeds) * len(plan.workloads)
    try:
        with progress("random runs", runs) as advance:
            return random_campaign(plan, lambda one: advance(1, f"{one.outcome.id} {one.outcome.status}"))
    except AdapterFault as fault:
        said = f"\nstandard error: {fault.stderr.rstrip()}" if fault.stderr else ""
        unavailable = isinstance(fault, CannotStart)
        text = f"the adapter cannot be started: {fault}" if unavailable else f"no hello: {fault}"
        if isinstance(fault, OtherVersion | UnknownProfile):
            text = str(fault)
        raise CommandError(text + said, ExitCode.UNAVAILABLE if unavailable else ExitCode.BAD_INPUT) from fault
    except VectorFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except OSError as error:
        where = error.filename or plan.save
        raise CommandError(f"{where}: cannot be written: {error.strerror}", ExitCode.CANNOT_WRITE) from error


def _show(outcomes: Sequence[RandomOutcome]) -> None:
    for one in outcomes:
        if one.outcome.status in FAILING:
            stdout.print(shown(headline(one.outcome)), style="bold red", soft_wrap=True)
            for line in details(one):
                stdout.print(shown(f"  {line}"), soft_wrap=True)
    reasons: dict[str, int] = {}
    for one in outcomes:
        status, reason = one.outcome.status, one.outcome.reason
        if status not in (*FAILING, Status.PASS):
            said = f"{status}: {{}}, {reason}"
            reasons[said] = reasons.get(said, 0) + 1
        for remark in one.remarks if status is Status.PASS else ():
            reasons[f"{{}}: {remark}"] = reasons.get(f"{{}}: {remark}", 0) + 1
        if one.restricted:
            without = f"{{}} of {one.workload} without {', '.join(one.restricted)}"
            reasons[without] = reasons.get(without, 0) + 1
    for text, number in reasons.items():
        stdout.print(shown(text.replace("{}", str(number), 1)), soft_wrap=True)
    plain = [one.outcome for one in outcomes]
    counted = ", ".join(f"{number} {status}" for status, number in counts(plain).items())
    events = sum(one.events for one in outcomes)
    stdout.print(shown(f"{len(outcomes)} runs, {events} events: {counted}"), style="bold", soft_wrap=True)

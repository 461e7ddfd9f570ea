"""`python -m kraft_dev own-traces`: check that the model accepts the reference's own traces under every profile."""

from typing import Annotated

import typer

from kraft_cli.commands.options import seeds_of
from kraft_conformance.console import progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_dev.own_traces import VOTERS, OwnTrace, check_own_traces, plans
from kraft_reference.profile import PROFILES
from kraft_simulation.workload import WORKLOADS

Workloads = Annotated[list[str] | None, typer.Option("--workload", help="Repeatable; default: all.")]
Profiles = Annotated[list[str] | None, typer.Option("--profile", help="Repeatable; default: all.")]
Voters = Annotated[
    list[int] | None,
    typer.Option("--replicas", min=1, max=9, help="Number of voters; repeatable; default: 3, 5 and 7."),
]
Seeds = Annotated[str, typer.Option("--seeds", help="FIRST:END.")]
Steps = Annotated[int, typer.Option("--steps", min=1, help="Events of each run before its faults stop.")]


def own_traces(
    workloads: Workloads = None,
    profiles: Profiles = None,
    voters: Voters = None,
    seeds: Seeds = "0:1",
    steps: Steps = 200,
) -> int:
    """Check the reference's own traces: each workload under each profile with 3, 5 and 7 voters.

    Exit code 1 if the model rejects a trace, or the simulator's invariants fail.
    """
    for names, table in ((workloads, WORKLOADS), (profiles, PROFILES)):
        unknown = next((name for name in names or () if name not in table), None)
        if unknown is not None:
            raise usage_error(f"no {unknown!r}; there are {', '.join(table)}")
    sizes = voters or list(VOTERS)
    runs = plans(workloads or WORKLOADS, profiles or PROFILES, sizes, seeds_of(seeds), steps)
    checked: list[OwnTrace] = []
    with progress("own traces", len(runs)) as advance:
        for trace in check_own_traces(runs):
            checked.append(trace)
            advance(1, trace.plan.command_line())
    rows = [
        (profile, workload, *(_cell(checked, profile, workload, size) for size in sizes))
        for profile, workload in dict.fromkeys((trace.plan.profile, trace.plan.workload) for trace in checked)
    ]
    heads = ("profile", "workload", *(f"{size} voters" for size in sizes))
    show_table("Own traces: events that the model accepted", heads, rows)
    problems = [trace for trace in checked if trace.problem]
    for trace in problems:
        say(f"{trace.plan.command_line()}: {trace.problem}", "bold red")
    if not problems:
        say(f"all {len(checked)} traces are accepted", "bold green")
    return ExitCode.VIOLATION if problems else ExitCode.CONFORMANT


def _cell(checked: list[OwnTrace], *of_cell: str | int) -> str:
    cell = [trace for trace in checked if (trace.plan.profile, trace.plan.workload, trace.plan.replicas) == of_cell]
    failed = sum(bool(trace.problem) for trace in cell)
    return f"{failed} of {len(cell)} rejected" if failed else f"{sum(trace.events for trace in cell):,}"

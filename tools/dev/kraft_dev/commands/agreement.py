"""`kraft_dev agreement`: the compiled model against TLC."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.agreement import in_altered_lines, in_graph, in_mutants, in_runs, in_slices, in_traces

Traces = Annotated[list[Path] | None, typer.Option("--traces", help="Recorded traces; repeatable.")]
Runs = Annotated[int, typer.Option("--runs", min=0, help="How many seeded runs.")]
Lines = Annotated[int, typer.Option("--lines", min=0, help="How many altered lines.")]
Mutants = Annotated[bool, typer.Option("--mutants", help="The seeded mutants of the reference, too.")]
Model = Annotated[bool, typer.Option("--model", help="Every step of the model's graph and slices, too.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of runs and altered lines.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Mutants at a time.")]


def agreement(
    traces: Traces = None,
    runs: Runs = 1000,
    lines: Lines = 100_000,
    mutants: Mutants = False,
    model: Model = False,
    seed: Seed = 1,
    jobs: Jobs = 2,
    as_json: Json = False,
) -> int:
    """Ask the compiled model and TLC the same, line by line and step by step: hours, as it is.

    Right lines must lead both to the same state, and a wrong line that TLC refuses the compiled model must not take.
    Exit code 1 if the two disagree.
    """
    found = []
    with progress("agreement", runs + lines // 40) as advance:
        if traces:
            found.append(in_traces(traces))
        if runs:
            found.append(in_runs(runs, seed, advance))
        if lines:
            found.append(in_altered_lines(lines, seed, advance))
        if model:
            found += [in_graph(), in_slices()]
        if mutants:
            found.append(in_mutants(jobs))
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        rows = ((one.name, f"{one.lines:,}", f"{one.taken:,}", f"{len(one.disagreements):,}") for one in found)
        show_table("The compiled model and TLC", ("lines or steps of", "asked", "taken", "disagree"), rows)
        for one in found:
            for text in one.disagreements:
                say(f"{one.name}: {text}", "red")
    return ExitCode.VIOLATION if any(one.disagreements for one in found) else ExitCode.CONFORMANT

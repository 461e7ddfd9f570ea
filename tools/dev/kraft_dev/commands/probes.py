"""`python -m kraft_dev probes`: is everything that can happen reached?"""

from dataclasses import asdict
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.probes import simulated, walk
from kraft_dev.probes.report import Probed, ProbeRow, load_unreached, rows
from kraft_dev.probes.simulated import SOURCES, Amount, probe_reference
from kraft_dev.probes.walk import probe_model
from kraft_dev.results import measured_now, result_bytes, result_file
from kraft_traces.streams import whole_file

Seeds = Annotated[int, typer.Option("--runs", min=1, help="Simulated runs of each workload.")]
Steps = Annotated[int, typer.Option(min=1, help="Steps of the random walks through the model.")]
Record = Annotated[bool, typer.Option("--record", help="Keep the result for the site, with the commit.")]


def probes(
    seeds: Seeds = simulated.SEEDS, walk_steps: Steps = walk.STEPS, record: Record = False, as_json: Json = False
) -> int:
    """Count how often each event, transition, refusal, error, message and fault is reached.

    Exit code 1 when something is never reached and no reason is listed, or a listed one is reached after all.
    """
    with progress("probing the reference") as advance:
        reference = probe_reference(Amount(seeds=seeds), lambda run: advance(0, run))
    with progress(f"probing the model in {walk_steps} steps"):
        model = probe_model(walk_steps)
    probed = rows(reference, model, load_unreached())
    if record:
        result = Probed(measured_now("probes"), seeds, simulated.STEPS, walk_steps, probed)
        with whole_file(result_file("probes")) as output:
            output.write(result_bytes(result))
    if as_json:
        print_json([asdict(row) for row in probed])
    else:
        _show(probed)
    return ExitCode.VIOLATION if any(row.problems for row in probed) else ExitCode.CONFORMANT


def _show(probed: tuple[ProbeRow, ...]) -> None:
    wrong = sum(bool(row.problems) for row in probed)
    title = f"{len(probed)} things to reach" + (f", {wrong} with a problem" if wrong else ", all reached or explained")
    drawn = table(title, "kind", "name", *SOURCES, "model", "")
    for row in probed:
        counts = [str(row.reference[source]) for source in SOURCES]
        counts.append("" if row.model is None else str(row.model))
        drawn.add_row(row.kind, row.name, *counts, "; ".join((*row.problems, *row.reasons)))
    stdout.print(drawn)

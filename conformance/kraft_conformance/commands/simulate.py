"""`kraft-spec simulate`: one run of the reference cluster."""

from typing import Annotated

import typer

from kraft_conformance.commands.options import Json, Profile, SwitchOff, known_rules
from kraft_conformance.console import print_json, progress, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.cluster.failure import Failure, shrink_failure
from kraft_reference.cluster.plan import RunPlan
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import write_trace

Seed = Annotated[int, typer.Option(min=0, help="Same seed, same bytes.")]
Replicas = Annotated[int, typer.Option(min=1, max=9, help="Number of voters.")]
Steps = Annotated[int, typer.Option(min=1, help="Events before faults stop and the cluster must make progress.")]
WorkloadName = Annotated[str, typer.Option(help="A named mix; see the list with --workload help.")]
Output = Annotated[str | None, typer.Option("-o", "--output", help="Write the trace: FILE, FILE.gz, - for stdout.")]
Shrink = Annotated[bool, typer.Option(help="Shrink a failing run to a shorter failing schedule.")]


def simulate(
    seed: Seed = 0,
    replicas: Replicas = 3,
    steps: Steps = 1000,
    workload: WorkloadName = "chaos",
    profile: Profile = "kip",
    switch_off: SwitchOff = None,
    output: Output = None,
    shrink: Shrink = True,
    as_json: Json = False,
) -> int:
    """Run a cluster of the reference in virtual time, with faults and then without, and check its invariants."""
    if output == "-" and as_json:
        raise usage_error("--json and the trace cannot both go to standard output")
    plan = RunPlan(
        seed=seed,
        replicas=replicas,
        steps=steps,
        workload=workload,
        profile=profile,
        switched_off=known_rules(switch_off),
    )
    try:
        simulation = plan.simulation(keeps_schedule=shrink)
    except ValueError as error:
        raise usage_error(str(error)) from error
    occurrences = simulation.run()
    with progress(f"simulating {workload}, seed {seed}", steps) as advance:
        if output is None:
            for _ in occurrences:
                advance()
        else:
            generator = own_generator(seed, workload)
            with write_trace(output, simulation.configuration, generator, spec_hash=spec_hash()) as writer:
                for occurrence in occurrences:
                    writer.write(occurrence)
                    advance()
                writer.end(complete=True)
    failure = None
    if simulation.violation is not None:
        with progress("shrinking the failing schedule"):
            failure = shrink_failure(plan, simulation) if shrink else Failure.of(plan, simulation)
    _report(plan, simulation, failure, output, as_json)
    return ExitCode.CONFORMANT if failure is None else ExitCode.VIOLATION

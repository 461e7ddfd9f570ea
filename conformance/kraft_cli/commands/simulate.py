"""`kraft-spec simulate`: one run of the reference cluster."""

from contextlib import AbstractContextManager, ExitStack
from typing import Annotated

import typer

from kraft_cli.commands.options import Json, OmittedRules, Profile, Replicas, Steps, known_mutants
from kraft_conformance.console import print_json, progress, say, stderr, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_kafka.findings.finding import Finding
from kraft_kafka.findings.recognising import findings_in
from kraft_mutants.playing import failure_of, simulation_of
from kraft_reference.metrics import current_state
from kraft_simulation.failure import Failure
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_simulation.workload import WORKLOADS
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import TraceWriter, write_trace

Seed = Annotated[int, typer.Option(min=0, help="Same seed, same bytes.")]
WorkloadName = Annotated[str, typer.Option(help=f"A named mix: {', '.join(WORKLOADS)}.")]
Output = Annotated[str | None, typer.Option("-o", "--output", help="Write the trace: FILE, FILE.gz, - for stdout.")]
CheckpointEvery = Annotated[
    int | None,
    typer.Option(min=1, help="Put a checkpoint after each so many events."),
]
Shrink = Annotated[bool, typer.Option(help="Shrink a failing run to a shorter failing schedule.")]


def simulate(
    seed: Seed = 0,
    replicas: Replicas = 3,
    steps: Steps = 1000,
    workload: WorkloadName = "chaos",
    profile: Profile = "kip",
    mutant: OmittedRules = None,
    output: Output = None,
    checkpoint_every: CheckpointEvery = None,
    shrink: Shrink = True,
    as_json: Json = False,
) -> int:
    """Run a cluster of the reference in virtual time, with faults and then without, and check its invariants."""
    if output == "-" and as_json:
        raise usage_error("--json and the trace cannot both go to standard output")
    if checkpoint_every is not None and output is None:
        raise usage_error("--checkpoint-every is about the trace, expected --output too")
    plan = RunPlan(
        seed=seed,
        replicas=replicas,
        steps=steps,
        workload=workload,
        profile=profile,
        mutants=known_mutants(mutant, in_trace=True),
    )
    try:
        simulation = simulation_of(plan)
    except ValueError as error:
        raise usage_error(str(error)) from error
    events = 0
    with progress(f"simulating {workload}, seed {seed}", steps) as advance, ExitStack() as stack:
        writer = None
        if output is not None:
            writer = stack.enter_context(_open_trace(output, simulation, plan, checkpoint_every))
        for occurrence in simulation.run():
            if writer is not None:
                writer.write(occurrence)
            events += 1
            advance()
    if simulation.violation is None:
        _report_success(plan, simulation, events, output, as_json)
        return ExitCode.CONFORMANT
    with progress("shrinking the failing schedule"):
        failure = failure_of(plan) if shrink else None
        recognised = () if failure is None else findings_in(failure)
    _report_failure(plan, simulation, failure, recognised, output, as_json)
    return ExitCode.VIOLATION


def _open_trace(
    target: str, simulation: Simulation, plan: RunPlan, checkpoint_every: int | None = None
) -> AbstractContextManager[TraceWriter]:
    return write_trace(
        target,
        simulation.configuration,
        own_generator(plan.seed, plan.workload),
        spec_hash=spec_hash(),
        checkpoint_every=checkpoint_every,
        switched_off=plan.mutants,
    )


def _report_success(plan: RunPlan, simulation: Simulation, events: int, output: str | None, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "command": plan.command_line(),
                "events": events,
                "healed_at_ms": simulation.healed_at_ms,
                "progress_at_ms": simulation.progress_at_ms,
                "violation": None,
                "trace": output,
            }
        )
        return
    console = stderr if output == "-" else stdout
    drawn = table(f"{plan.workload}, seed {plan.seed}: {events} events, all invariants hold", *_COLUMNS)
    for replica_id, replica in sorted(simulation.world.replicas.items()):
        state = replica.state
        drawn.add_row(
            str(replica_id),
            str(state.role),
            str(state.epoch),
            "" if state.leader_id is None else str(state.leader_id),
            str(state.log.end_offset),
            str(state.high_watermark),
            current_state(state, simulation.configuration),
        )
    console.print(drawn)
    if output not in (None, "-"):
        say(f"trace: {output}", console=console)


_COLUMNS = ("replica", "role", "epoch", "leader", "log end", "high watermark", "current-state")


def _report_failure(
    plan: RunPlan,
    simulation: Simulation,
    failure: Failure | None,
    recognised: tuple[Finding, ...],
    output: str | None,
    as_json: bool,
) -> None:
    shortest = None
    if failure is not None:
        shortest = f"seed-{plan.seed}-{failure.violation.property_name}.shrunk.jsonl"
        with _open_trace(shortest, simulation, plan) as writer:
            writer.write_all(failure.occurrences)
            writer.end(complete=False)
    if as_json:
        print_json(
            {
                "command": plan.command_line(),
                "violation": str(simulation.violation),
                "shrunk_moves": None if failure is None else len(failure.schedule),
                "shrunk_trace": shortest,
                "findings": [finding.name for finding in recognised],
                "trace": output,
            }
        )
        return
    console = stderr if output == "-" else stdout
    text = f"{simulation.violation}\nrepeat: {plan.command_line()}" if failure is None else failure.report()
    console.print(text, markup=False, soft_wrap=True)
    for finding in recognised:
        assert finding.decision is not None, "only those with a decision are recognised"
        statement = f"this is {finding.name} ({finding.title}): with {finding.decision.name} = {finding.decision.safe}"
        say(f"{statement} the same moves keep every property", console=console)
        say(f"see: kraft-spec findings {finding.name}", console=console)
    if shortest is not None:
        say(f"shrunk trace: {shortest}", console=console)

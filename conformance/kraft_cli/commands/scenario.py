"""`kraft-spec scenario`: named schedules of the KIPs."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_cli.commands.partition_scenario import named_partition_scenario, play_partition_variant
from kraft_cli.commands.scenario_names import show_scenarios, unknown_scenario
from kraft_cli.verdicts import show_rejection
from kraft_conformance.console import print_json, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_mutants.playing import play
from kraft_reference.records import SET_KINDS, RecordKind
from kraft_simulation.scenarios import SCENARIOS, Scenario, ScenarioFailure, ScenarioRun, Variant
from kraft_simulation.scenarios import scenario as named_scenario
from kraft_simulation.scenarios.schedule import AnyScenario, VariantT
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check import TRACE_PROPERTIES, Verdict, check_occurrences
from kraft_traces.own import own_generator
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.writer import write_trace

Name = Annotated[str | None, typer.Argument(help="A scenario by name or number; without one they are listed.")]
VariantName = Annotated[str | None, typer.Option("--variant", help="One variant; default: all of them.")]
Output = Annotated[str | None, typer.Option("-o", "--output", help="Write the trace of one variant: the first one.")]


def scenario(name: Name = None, variant: VariantName = None, output: Output = None, as_json: Json = False) -> int:
    """Run a named scenario on the reference, with the deciding rule and without it, and check its trace."""
    if name is None:
        show_scenarios(as_json)
        return ExitCode.CONFORMANT
    of_partitions = named_partition_scenario(name)
    if of_partitions is None:
        return _show_variants(_find_scenario(name), _play, variant, output, as_json)
    with PartitionProcess() as process:
        return _show_variants(of_partitions, partial(play_partition_variant, process), variant, output, as_json)


def _show_variants(
    chosen: AnyScenario[Any, VariantT],
    play_variant: Callable[[Any, VariantT, str | None], tuple[dict[str, Any], Callable[[], None]]],
    variant: str | None,
    output: str | None,
    as_json: bool,
) -> int:
    """Run the variants of a scenario of either protocol, check their traces, and show both."""
    variants = chosen.variants
    if variant is not None or output is not None:
        try:
            variants = (chosen.variants[0] if variant is None else chosen.variant(variant),)
        except KeyError as error:
            raise usage_error(str(error.args[0])) from error
    documents: list[dict[str, Any]] = []
    for played in variants:
        try:
            document, show = play_variant(chosen, played, output)
        except ScenarioFailure as failure:
            raise CommandError(str(failure), ExitCode.VIOLATION) from failure
        documents.append(document)
        if not as_json and output != "-":
            show()
    if as_json:
        print_json(documents)
    return ExitCode.CONFORMANT if all(document["agrees"] for document in documents) else ExitCode.VIOLATION


def _play(chosen: Scenario, played: Variant, output: str | None) -> tuple[dict[str, Any], Callable[[], None]]:
    """Run a variant, write its trace to `output` if any, and check it."""
    outcome = play(chosen, played)
    name = f"{chosen.name}/{played.name}"
    if output is not None:
        own = own_generator(workload=name)
        with write_trace(
            output, outcome.configuration, own, spec_hash=spec_hash(), switched_off=played.mutants
        ) as writer:
            writer.write_all(outcome.occurrences)
    verdict = check_occurrences(outcome.occurrences, outcome.configuration, name, switched_off=played.mutants)
    agrees = verdict_agrees(outcome, verdict)
    return _document(outcome, verdict, agrees), lambda: _show(outcome, verdict, agrees)


def verdict_agrees(outcome: ScenarioRun, verdict: Verdict) -> bool:
    """True if the model accepts the trace, or names a violated property, as the scenario says.

    The model does not judge properties about time and progress on a trace.
    """
    violated = set(outcome.violated) & TRACE_PROPERTIES
    if not violated or verdict.rejection is None:
        return not violated and verdict.rejection is None
    return bool(violated & set(verdict.rejection.properties))


def _find_scenario(name: str) -> Scenario:
    for candidate in SCENARIOS:
        if name == str(candidate.number):
            return candidate
    try:
        return named_scenario(name)
    except KeyError as error:
        raise unknown_scenario(name) from error


def _document(outcome: ScenarioRun, verdict: Verdict, agrees: bool) -> dict[str, Any]:
    records = assignments(outcome)
    return {
        "scenario": outcome.scenario.name,
        "variant": outcome.variant.name,
        "outcome": outcome.variant.outcome,
        "events": len(outcome.occurrences),
        "violated": dict(outcome.violated),
        "verdict": verdict.as_dict(),
        "agrees": agrees,
        **({"records": records} if records else {}),
    }


def _show(outcome: ScenarioRun, verdict: Verdict, agrees: bool) -> None:
    scenario_name = f"{outcome.scenario.number}. {outcome.scenario.name}/{outcome.variant.name}"
    stdout.print(f"[bold]{scenario_name}[/bold]", soft_wrap=True)
    stdout.print(f"  {outcome.variant.outcome}", markup=False)
    stdout.print(f"  {outcome.summary()}", markup=False, soft_wrap=True)
    if outcome.violated:
        stdout.print(f"  violates {', '.join(sorted(outcome.violated))}", markup=False)
    judgement = f"violates {', '.join(verdict.rejection.properties)}" if verdict.rejection else "accepted"
    summary = f"{len(outcome.occurrences)} events, {judgement} by the model"
    stdout.print(f"  {summary}{'' if agrees else ' [red](not what the scenario says)[/red]'}")
    for line in _format_table(assignments(outcome)):
        stdout.print(f"  {line}", markup=False, highlight=False)
    if verdict.rejection is not None:
        show_rejection(stdout, verdict.rejection)


def assignments(outcome: ScenarioRun) -> list[dict[str, Any]]:
    """Return the control records, with voters and targets, of the newest log if it has a quorum reassignment."""
    log = max((state.log for state in outcome.states.values()), key=lambda log: (log.last_epoch, log.end_offset))
    if all(record.kind is not RecordKind.VOTER_ASSIGNMENT for record in log.records):
        return []
    return [
        {
            "offset": offset,
            "epoch": record.epoch,
            "record": str(record.kind),
            "leader": record.value if record.kind is RecordKind.LEADER_CHANGE else None,
            "voters": sorted(voter.id for voter in record.voters) if record.kind in SET_KINDS else None,
            "target": None if record.target is None else sorted(record.target),
        }
        for offset, record in enumerate(log.records, log.start_offset)
        if record.kind is not RecordKind.DATA
    ]


def _format_table(records: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the records as lines of a table."""
    if records:
        yield f"{'@':>3}  epoch  {'record':<15}  {'voters':<9}  {'majority':<8}  target"
    for row in records:
        voters, size = row["voters"], len(row["voters"] or ())
        names = _join(voters) or f"leader {row['leader']}" if row["record"] != RecordKind.KRAFT_VERSION else ""
        majority = f"{size // 2 + 1} of {size}" if size else ""
        cells = f"{row['offset']:>3}  {row['epoch']:>5}  {row['record']:<15}  {names:<9}  {majority:<8}"
        yield f"{cells}  {_join(row['target'])}".rstrip()


def _join(ids: list[int] | None) -> str:
    return ",".join(str(id_) for id_ in ids or ())

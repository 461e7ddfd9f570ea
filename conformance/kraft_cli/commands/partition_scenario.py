"""`kraft-spec scenario s25` to `s29`: the scenarios of partition reassignment, which have their own model."""

from collections.abc import Callable
from typing import Any

from kraft_conformance.console import stdout
from kraft_conformance.failure import usage_error
from kraft_mutants.playing import play_partitions
from kraft_partitions.scenarios import (
    PartitionScenario,
    PartitionScenarioRun,
    PartitionVariant,
    partition_scenario,
)
from kraft_partitions.scenarios.stage import EVENTUALLY_COMPLETES
from kraft_spec.fingerprint import partition_spec_hash
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_occurrences
from kraft_traces.partitions.encode import encode_trace
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.streams import atomic_file


def named_partition_scenario(name: str) -> PartitionScenario | None:
    """Return the partition scenario with this name or label; None if there is none."""
    try:
        return partition_scenario(name)
    except KeyError:
        return None


def play_partition_variant(
    process: PartitionProcess, chosen: PartitionScenario, variant: PartitionVariant, output: str | None
) -> tuple[dict[str, Any], Callable[[], None]]:
    """Run a variant, write its trace to `output` if any, and check it; return its document and a function to print it.

    Raises:
        ScenarioFailure: the reference deviates from the scenario.
    """
    outcome = play_partitions(chosen, variant)
    if output is not None:
        _write(output, outcome)
    name = f"{chosen.name}/{variant.name}"
    verdict = process.ask(
        check_partition_occurrences, outcome.occurrences, variant.configuration, name, variant.mutants
    )
    agrees = _agrees(outcome, verdict)
    return _document(outcome, verdict, agrees), lambda: _show(outcome, verdict, agrees)


def _write(output: str, outcome: PartitionScenarioRun) -> None:
    try:
        lines = list(encode_trace(outcome.configuration, outcome.occurrences, spec_hash=partition_spec_hash()))
    except ValueError as error:
        raise usage_error(f"{outcome.scenario.name}/{outcome.variant.name}: {error}") from error
    with atomic_file(output) as stream:
        for line in lines:
            stream.write(line)


def _list_violations(verdict: PartitionVerdict) -> set[str]:
    return {*verdict.given_up, *(verdict.rejection.properties if verdict.rejection else ())}


def _agrees(outcome: PartitionScenarioRun, verdict: PartitionVerdict) -> bool:
    """True if the model agrees with the scenario; it judges no liveness, and stops at the first violation."""
    violated = set(outcome.violated) - {EVENTUALLY_COMPLETES}
    judged = _list_violations(verdict)
    return judged <= violated if judged else not violated and verdict.accepted


def _document(outcome: PartitionScenarioRun, verdict: PartitionVerdict, agrees: bool) -> dict[str, Any]:
    return {
        "scenario": outcome.scenario.name,
        "variant": outcome.variant.name,
        "outcome": outcome.variant.outcome,
        "events": len(outcome.occurrences),
        "violated": dict(outcome.violated),
        "judged": sorted(_list_violations(verdict)),
        "agrees": agrees,
        "steps": [
            {
                "event": type(occurrence.event).__name__,
                "partitions": {
                    str(name): {
                        "replicas": part.replicas,
                        "in_sync": sorted(part.in_sync),
                        "adding": part.adding,
                        "removing": part.removing,
                        "leader": part.leader,
                    }
                    for name, part in sorted(occurrence.state.partitions.items())
                },
            }
            for occurrence in outcome.occurrences
        ],
    }


def _show(outcome: PartitionScenarioRun, verdict: PartitionVerdict, agrees: bool) -> None:
    stdout.print(
        f"[bold]{outcome.scenario.number}. {outcome.scenario.name}/{outcome.variant.name}[/bold]", soft_wrap=True
    )
    stdout.print(f"  {outcome.variant.outcome}", markup=False)
    for step in outcome.occurrences:
        for partition, part in sorted(step.state.partitions.items()):
            lists = f"R {list(part.replicas)} I {sorted(part.in_sync)} AR {list(part.adding)} RR {list(part.removing)}"
            stdout.print(
                f"  {step.sequence}. {type(step.event).__name__}: {partition} {lists}", markup=False, soft_wrap=True
            )
    if outcome.violated:
        stdout.print(f"  violates {', '.join(sorted(outcome.violated))}", markup=False)
    judgement = f"violates {', '.join(sorted(_list_violations(verdict)))}" if _list_violations(verdict) else "accepted"
    summary = f"{len(outcome.occurrences)} events, {judgement} by the model"
    stdout.print(f"  {summary}{'' if agrees else ' [red](not what the scenario says)[/red]'}")

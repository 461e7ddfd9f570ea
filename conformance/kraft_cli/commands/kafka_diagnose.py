"""`kraft-spec kafka diagnose`: a diagnosis from controllers' files, without a running cluster."""

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.diagnosis.evidence import Controller, Evidence, Transition, VotersRead
from kraft_kafka.diagnosis.reading import read_evidence
from kraft_kafka.diagnosis.signatures import Diagnosis
from kraft_kafka.diagnosis.signatures import diagnose as diagnose_evidence
from kraft_kafka.findings.finding import FindingError, find_finding

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help="Folders or files of one cluster's controllers: logs, log.dirs, output of kafka-dump-log and of "
        "kafka-metadata-quorum.",
    ),
]


def diagnose(paths: Paths, as_json: Json = False) -> int:
    """Say which of Kafka's bugs the files of controllers show, and what in them contradicts itself.

    It reads server.log or controller.log, quorum-state, meta.properties, log segments and snapshots, and needs no
    running cluster.  Exit code 1: something is wrong; 4: there is no file that it knows.
    """
    try:
        with progress("reading the files of controllers"):
            evidence = read_evidence(paths)
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}", ExitCode.NO_INPUT) from error
    if not evidence.files:
        raise CommandError(
            f"{', '.join(map(str, paths))}: no log of a controller, no metadata log, no output of Kafka's tools",
            ExitCode.NOTHING_JUDGED,
        )
    diagnoses = diagnose_evidence(evidence)
    if as_json:
        print_json(_document(evidence, diagnoses))
    else:
        _show(evidence, diagnoses)
    return ExitCode.VIOLATION if diagnoses else ExitCode.CONFORMANT


def _show(evidence: Evidence, diagnoses: tuple[Diagnosis, ...]) -> None:
    show_table(
        "Controllers",
        ("controller", "last seen as", "goes by voters", "newest voters on disk"),
        map(_summarize, evidence.controllers),
    )
    for reason in evidence.skipped:
        say(f"not read: {reason}")
    for (finding, advice), group in groupby(sorted(diagnoses, key=_cause), key=_cause):
        say(f"{finding}: {_title(finding)}" if finding != "~" else "what no correct cluster leaves behind", "bold")
        for diagnosis in group:
            say(f"  controller {' and '.join(diagnosis.controllers)}: {diagnosis.text}")
            for place in diagnosis.places:
                say(f"    {place}\n      {place.text}")
        say(f"  to do: {advice}")
    if not diagnoses:
        say(f"no sign of a bug in {evidence.files} files")


def _cause(diagnosis: Diagnosis) -> tuple[str, str]:
    """Return a key that sorts findings first, each with its advice."""
    return (diagnosis.finding or "~", diagnosis.advice)


def _title(finding: str) -> str:
    try:
        return find_finding(finding).title
    except FindingError:
        return "see docs/kafka-findings.md"


def _summarize(controller: Controller) -> tuple[str, str, str, str]:
    transitions = [event for event in controller.events if isinstance(event, Transition)]
    read = [event for event in controller.events if isinstance(event, VotersRead)]
    stored = [voters for disk in controller.disks if (voters := disk.voters_before())]
    role = f"{transitions[-1].role} of epoch {transitions[-1].epoch}" if transitions else "-"
    newest = max(stored, key=lambda pair: pair[0], default=None)
    return (
        controller.name,
        role,
        f"{sorted(read[-1].voters)} at {read[-1].offset}" if read else "-",
        f"{sorted(newest[1])} at {newest[0]}" if newest else "-",
    )


def _document(evidence: Evidence, diagnoses: tuple[Diagnosis, ...]) -> dict[str, Any]:
    return {
        "files": evidence.files,
        "skipped": list(evidence.skipped),
        "controllers": [controller.name for controller in evidence.controllers],
        "diagnoses": [
            {
                "finding": diagnosis.finding,
                "controllers": list(diagnosis.controllers),
                "text": diagnosis.text,
                "places": [
                    {"file": str(place.path), "line": place.line, "text": place.text} for place in diagnosis.places
                ],
                "advice": diagnosis.advice,
            }
            for diagnosis in diagnoses
        ],
    }

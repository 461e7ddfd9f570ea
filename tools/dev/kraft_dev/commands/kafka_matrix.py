"""`python -m kraft_dev kafka-matrix`: run the vectors and the findings on every release of Apache Kafka."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

import kraft_kafka
from kraft_conformance.console import progress, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.runner.outcome import FAILING, Status
from kraft_dev.commands.options import Record
from kraft_dev.results import commit_now
from kraft_kafka.findings.finding import load_findings
from kraft_kafka.recorded import FILE_NAME, Recorded, RecordedRun, load_recorded, manifest_digest
from kraft_kafka.releases import number, releases
from kraft_traces.streams import atomic_file

FOLDER = Path(kraft_kafka.__path__[0])
LEFT_OUT = (Status.SKIPPED, Status.UNSUPPORTED)


Versions = Annotated[list[str] | None, typer.Argument(metavar="[VERSION]...", help="Pinned releases; default: all.")]


def kafka_matrix(versions: Versions = None, record: Record = False) -> int:
    """Run the vectors and play the findings on the pinned releases of Apache Kafka.

    Recorded runs of other releases are kept.
    Exit code 1 if a release does something that neither its profile nor the table of known differences describes.
    """
    wanted = versions or [*releases()]
    for version in wanted:
        if version not in releases():
            raise usage_error(f"{version} is not pinned, expected {', '.join(releases())}")
    recorded = () if versions is None else current_runs()
    runs = []
    with progress("releases", len(wanted)) as advance:
        for version in wanted:
            runs.append(run_release(version))
            advance(1, version)
    if record:
        with atomic_file(FOLDER / FILE_NAME) as output:
            output.write(merge_runs(recorded, runs))
    return show_runs(runs)


def current_runs() -> tuple[RecordedRun, ...]:
    """Return the recorded runs.

    Raises:
        CommandError: the vectors have changed since.
    """
    recorded = load_recorded()
    if not recorded.is_current:
        problem = f"{FILE_NAME} is older than the vectors: run kafka-matrix --record first"
        raise CommandError(problem, ExitCode.BAD_INPUT)
    return recorded.releases


def merge_runs(recorded: Sequence[RecordedRun], runs: Sequence[RecordedRun]) -> bytes:
    """Return the file of recorded runs, with new runs in place of those of the same release."""
    by_version = {run.version: run for run in (*recorded, *runs)}
    return encode_recorded(
        Recorded(manifest_digest(), tuple(by_version[version] for version in sorted(by_version, key=number)))
    )


def encode_recorded(recorded: Recorded) -> bytes:
    """Return the text of the file of recorded runs."""
    return msgspec.json.format(msgspec.json.encode(recorded), indent=1) + b"\n"


def show_runs(runs: Sequence[RecordedRun]) -> int:
    """Print a line for each run, and return the exit code."""
    rows = [(run.version, run.profile, _counted(run)) for run in runs]
    show_table("Apache Kafka", ("version", "profile", "vectors"), rows)
    failed = any(status in FAILING for run in runs for status in run.statuses.values())
    return ExitCode.VIOLATION if failed else ExitCode.CONFORMANT


def _counted(run: RecordedRun) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(Counter(run.statuses.values()).items()))


def run_release(version: str) -> RecordedRun:
    """Run the vectors and play the findings on a release, pinned or not.

    Raises:
        CommandError: it does not run.
    """
    words = ["kafka", "run", "--version", version]
    output = _ran(version, *words, "--json").stdout
    lines: list[dict[str, Any]] = [msgspec.json.decode(line) for line in output.splitlines()]
    about, *outcomes = lines
    statuses = {
        outcome["id"]: outcome["status"] for outcome in outcomes if outcome.get("status", LEFT_OUT[0]) not in LEFT_OUT
    }
    return RecordedRun(
        version,
        about["profile"],
        about["observability"],
        " ".join(("kraft-spec", *words)),
        datetime.now(UTC).date().isoformat(),
        commit_now(),
        tuple(finding.name for finding in load_findings() if finding.is_for_kafka and _shows(version, finding.name)),
        dict(sorted(statuses.items())),
    )


def _shows(version: str, finding: str) -> bool:
    return _ran(version, "kafka", "finding", finding, "--version", version).returncode == ExitCode.VIOLATION


def _ran(version: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kraft_cli.cli", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (ExitCode.CONFORMANT, ExitCode.VIOLATION, ExitCode.INCONCLUSIVE):
        raise CommandError(f"Kafka {version} does not run: {done.stderr.strip()}", ExitCode.UNAVAILABLE)
    return done

"""`python -m kraft_dev kafka-matrix`: the vectors and the findings on every release of Apache Kafka."""

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
    """Run the vectors and play the findings on the releases of Apache Kafka that are pinned.

    What is recorded of other releases stays.
    Exit code 1 when a release does something that neither its profile nor the table of known differences says.
    """
    wanted = versions or [*releases()]
    for version in wanted:
        if version not in releases():
            raise usage_error(f"{version} is not pinned, expected {', '.join(releases())}")
    others = () if versions is None else current_runs()
    runs = []
    with progress("releases", len(wanted)) as advance:
        for version in wanted:
            runs.append(run_release(version))
            advance(1, version)
    if record:
        with atomic_file(FOLDER / FILE_NAME) as output:
            output.write(with_runs(others, runs))
    return show_runs(runs)


def current_runs() -> tuple[RecordedRun, ...]:
    """The recorded runs.

    Raises:
        CommandError: the vectors have changed since.
    """
    recorded = load_recorded()
    if not recorded.is_current:
        problem = f"{FILE_NAME} is older than the vectors: run kafka-matrix --record first"
        raise CommandError(problem, ExitCode.BAD_INPUT)
    return recorded.releases


def with_runs(others: Sequence[RecordedRun], runs: Sequence[RecordedRun]) -> bytes:
    """The text of the file of recorded runs, with new ones in place of those of the same release."""
    by_version = {run.version: run for run in (*others, *runs)}
    return encoded(Recorded(manifest_digest(), tuple(by_version[one] for one in sorted(by_version, key=number))))


def encoded(recorded: Recorded) -> bytes:
    """The text of the file of recorded runs."""
    return msgspec.json.format(msgspec.json.encode(recorded), indent=1) + b"\n"


def show_runs(runs: Sequence[RecordedRun]) -> int:
    """Print a line for each run, and return the exit code."""
    rows = [(one.version, one.profile, _counted(one)) for one in runs]
    show_table("Apache Kafka", ("version", "profile", "vectors"), rows)
    failed = any(status in FAILING for one in runs for status in one.statuses.values())
    return ExitCode.VIOLATION if failed else ExitCode.CONFORMANT


def _counted(run: RecordedRun) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(Counter(run.statuses.values()).items()))


def run_release(version: str) -> RecordedRun:
    """Run the vectors and play the findings on a release, pinned or not.

    Raises:
        CommandError: it does not run.
    """
    words = ["kafka", "run", "--version", version]
    said = _ran(version, *words, "--json").stdout
    lines: list[dict[str, Any]] = [msgspec.json.decode(line) for line in said.splitlines()]
    about, *outcomes = lines
    statuses = {one["id"]: one["status"] for one in outcomes if one.get("status", LEFT_OUT[0]) not in LEFT_OUT}
    return RecordedRun(
        version,
        about["profile"],
        about["observability"],
        " ".join(("kraft-spec", *words)),
        datetime.now(UTC).date().isoformat(),
        commit_now(),
        tuple(one.name for one in load_findings() if one.is_for_kafka and _shows(version, one.name)),
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

"""`python -m kraft_dev kafka-matrix`: the vectors on every release of Apache Kafka."""

import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

import kraft_conformance.kafka
from kraft_conformance.console import progress, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.kafka.recorded import FILE_NAME, Recorded, RecordedRun, manifest_digest
from kraft_conformance.kafka.releases import releases
from kraft_conformance.runner.outcome import FAILING, Status
from kraft_dev.commands.options import Record
from kraft_dev.results import commit_now
from kraft_traces.streams import whole_file

LEFT_OUT = (Status.SKIPPED, Status.UNSUPPORTED)


def kafka_matrix(record: Record = False) -> int:
    """Run the vectors on every release of Apache Kafka that is pinned.

    Exit code 1 when a release does something that neither its profile nor the table of known differences says.
    """
    runs = []
    with progress("releases", len(releases())) as advance:
        for version in releases():
            runs.append(_run(version))
            advance(1, version)
    if record:
        date = datetime.now(UTC).date().isoformat()
        made = Recorded(date, commit_now(), manifest_digest(), tuple(runs))
        with whole_file(Path(kraft_conformance.kafka.__path__[0]) / FILE_NAME) as output:
            output.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    rows = [(one.version, one.profile, _counted(one)) for one in runs]
    show_table("Apache Kafka", ("version", "profile", "vectors"), rows)
    failed = any(status in FAILING for one in runs for status in one.statuses.values())
    return ExitCode.VIOLATION if failed else ExitCode.CONFORMANT


def _counted(run: RecordedRun) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(Counter(run.statuses.values()).items()))


def _run(version: str) -> RecordedRun:
    words = ["kafka", "run", "--version", version]
    done = subprocess.run(
        [sys.executable, "-m", "kraft_conformance.cli", *words, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode not in (ExitCode.CONFORMANT, ExitCode.VIOLATION, ExitCode.INCONCLUSIVE):
        raise CommandError(f"Kafka {version} does not run: {done.stderr.strip()}", ExitCode.UNAVAILABLE)
    lines: list[dict[str, Any]] = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    about, *outcomes = lines
    statuses = {one["id"]: one["status"] for one in outcomes if one.get("status", LEFT_OUT[0]) not in LEFT_OUT}
    return RecordedRun(
        version,
        about["profile"],
        about["observability"],
        " ".join(("kraft-spec", *words)),
        dict(sorted(statuses.items())),
    )

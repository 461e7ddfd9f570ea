"""`kraft-spec validate` on a trace of partitions, in a process of its own: TLC keeps one specification in a process."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from kraft_conformance.console import stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.verdicts import show_facts
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_trace
from kraft_traces.partitions.lines import SCHEMA
from kraft_traces.streams import LINE_BYTES_MAX, open_bytes, read_line, whole_file


class _Header(msgspec.Struct):
    schema: str


def is_partition_trace(path: str | Path, source: str) -> bool:
    """Does the first line of a file say so?  `source` is what messages call the file.

    Raises:
        TraceError: the file cannot be read.
    """
    with open_bytes(path) as stream:
        first = read_line(stream, LINE_BYTES_MAX, source, 1)
    try:
        return msgspec.json.decode(first, type=_Header).schema == SCHEMA
    except msgspec.DecodeError:
        return False


def partition_verdict(path: str, source: str) -> PartitionVerdict:
    """The verdict on a trace; `source` is what messages call it.

    Raises:
        TraceError: it is malformed.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_checked, path, source).result()


def _checked(path: str, source: str) -> PartitionVerdict:
    with open_bytes(path) as stream:
        return check_partition_trace(stream, source)


def verdict_code(verdict: PartitionVerdict) -> ExitCode:
    """The exit code of one trace."""
    return ExitCode.CONFORMANT if verdict.accepted else ExitCode.VIOLATION


def write_failing_lines(path: str | Path, verdict: PartitionVerdict, target: Path) -> None:
    """Write the lines up to the one that is not right.

    Raises:
        OSError: the operating system refuses.
    """
    assert verdict.rejection is not None, "only a rejected trace has them"
    with open_bytes(path) as stream, whole_file(target) as output:
        for _ in range(verdict.rejection.line):
            output.write(stream.readline())


def verdict_document(verdict: PartitionVerdict) -> dict[str, Any]:
    """The verdict as JSON values."""
    rejection = verdict.rejection
    return {
        "source": verdict.source,
        "kind": "accepted" if verdict.accepted else "rejected",
        "events": verdict.events,
        "given_up": list(verdict.given_up),
        "rejection": None
        if rejection is None
        else {
            "kind": str(rejection.kind),
            "line": rejection.line,
            "sequence": rejection.sequence,
            "event": rejection.event,
            "properties": list(rejection.properties),
            "explained_by": list(rejection.explained_by),
            "rules": list(rejection.rules),
            "differences": [
                {"field": one.field, "expected": one.expected, "actual": one.actual} for one in rejection.differences
            ],
        },
    }


def show_verdict(verdict: PartitionVerdict, prefix: Path | None) -> None:
    """Print the verdict."""
    kind = "accepted" if verdict.accepted else "rejected"
    given_up = f", without {', '.join(verdict.given_up)}" if verdict.given_up else ""
    stdout.print(f"{verdict.source}: {kind}, {verdict.events} events{given_up}", markup=False, soft_wrap=True)
    rejection = verdict.rejection
    if rejection is not None:
        show_facts(
            stdout,
            rejection.headline(),
            {
                "right without": ", ".join(rejection.explained_by),
                "rules": ", ".join(rejection.rules),
                "violates": ", ".join(rejection.properties),
                "prefix": "" if prefix is None else str(prefix),
            },
        )

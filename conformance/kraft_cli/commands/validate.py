"""`kraft-spec validate`: checks of traces against the model."""

import math
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Candidates, Every, Json
from kraft_cli.trace_files import lines_of
from kraft_cli.verdicts import (
    EXIT_CODES,
    judged_lines,
    lacking_text,
    partition_summary,
    show_rejection,
    shown_in_part,
    summary,
    way_text,
)
from kraft_conformance.console import print_json, progress, say, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, trace_error_code, usage_error
from kraft_kafka.diagnosis.names import is_of_kafka
from kraft_spec.tlc import jvm
from kraft_spec.tlc.jar import JarMismatch, JarMissing, JavaMissing
from kraft_traces.check import (
    CANDIDATES_MAX,
    EVERY,
    OtherModelError,
    Verdict,
    check_reader,
    write_failing_prefix,
)
from kraft_traces.check.compared import PROPERTIES, REQUIREMENTS
from kraft_traces.check.fast_path import BOTH, COMPILED, INTERPRETED, CompiledModelError, Way
from kraft_traces.errors import TraceError
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_file
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.partitions.reader import is_partition_trace
from kraft_traces.reader import open_trace
from kraft_traces.streams import SUFFIXES, trace_paths

Paths = Annotated[list[str], typer.Argument(help="Traces: files, .gz, .parquet, folders, or - for standard input.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a trace that was written for another model.")]
Prefixes = Annotated[
    Path | None, typer.Option("--prefixes", help="Folder for the failing prefix of a rejected trace; default: here.")
]

Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="<what>",
        help="What each event must show, else exit code 2: complete, effects, state or a property; repeatable.",
    ),
]


Both = Annotated[
    bool,
    typer.Option("--both", help="Ask TLC, too, about every event that the compiled model accepts: slow."),
]
Interpreted = Annotated[
    bool, typer.Option("--interpreted", help="Ask TLC alone, which interprets the model as it reads it: slow.")
]


_BRIEF_BYTES = 60_000_000
"""Up to this many bytes of traces, Java's second compiler costs more than its code saves."""

_GZIP_RATIO = 10
"""Approximate compression ratio of traces."""


def validate(
    paths: Paths,
    strict: Strict = False,
    every: Every = EVERY,
    candidates: Candidates = CANDIDATES_MAX,
    prefixes: Prefixes = None,
    require: Require = None,
    both: Both = False,
    interpreted: Interpreted = False,
    as_json: Json = False,
) -> int:
    """Check traces line by line against the TLA+ model: those of the quorum, and those of partition reassignment.

    A rejected line is named with the rules of its action and the fields or the condition that disagree; the trace up
    to it is written as NAME.failing.jsonl. Exit code: 1 if a trace is rejected, else 3 if the checker fails on one,
    else 65 if one is malformed, else 66 if one cannot be read, else 2 if one is inconclusive, or leaves out what
    --require names.
    """
    required = _check_names(require or [])
    if both and interpreted:
        raise usage_error("--both asks the compiled model and --interpreted does not: expected one of them")
    way = BOTH if both else INTERPRETED if interpreted else COMPILED
    if prefixes is not None and not prefixes.is_dir():
        raise CommandError(f"there is no folder {prefixes} to write failing prefixes to", ExitCode.CANNOT_WRITE)
    codes: set[ExitCode] = set()
    documents: list[dict[str, Any]] = []
    judged: list[Verdict] = []
    brief = way is COMPILED and _estimate_bytes(paths) <= _BRIEF_BYTES
    with PartitionProcess() as partitions:
        for file in _find_traces(paths, codes, documents):
            try:
                verdict, prefix = _check(
                    file, strict, every, candidates, prefixes or Path(), partitions, way, brief=brief
                )
            except TraceError as error:
                codes.add(_report_error(error, documents))
                continue
            except (CommandError, ModuleNotFoundError, OSError, JavaMissing, JarMissing, JarMismatch):
                # These errors concern the command, so every trace.
                raise
            except CompiledModelError as error:
                codes.add(_report_defect(file, f"{error}: `--interpreted` asks TLC alone", documents))
                continue
            except OtherModelError as error:
                say(error, console=stderr)
                documents.append({"source": file, "kind": "malformed", "code": "OTHER_MODEL", "message": str(error)})
                codes.add(ExitCode.BAD_INPUT)
                continue
            except Exception as error:
                # The other traces get their verdicts, even if this one makes the checker fail.
                stderr.print(traceback.format_exc(), markup=False)
                message = f"{file}: the checker fails: {type(error).__name__}: {error}"
                codes.add(_report_defect(file, message, documents))
                continue
            codes.add(EXIT_CODES[verdict.kind])
            if isinstance(verdict, Verdict):
                judged.append(verdict)
            lacking = {name: fields for name in required if (fields := verdict.compared.lacking(name))}
            document = {**verdict.as_dict(), "failing_prefix": None if prefix is None else str(prefix)}
            documents.append({**document, "lacking": {name: list(fields) for name, fields in lacking.items()}})
            if lacking:
                codes.add(ExitCode.INCONCLUSIVE)
            if not as_json:
                line = partition_summary(verdict) if isinstance(verdict, PartitionVerdict) else summary(verdict)
                say(line)
                for part in shown_in_part(verdict):
                    say(part)
                for judged_part in judged_lines(verdict):
                    say(f"  {judged_part}")
                for name, fields in lacking.items():
                    say(f"  {lacking_text(name, fields)}", "red")
                if verdict.rejection is not None:
                    show_rejection(stdout, verdict.rejection, prefix)
    if as_json:
        print_json(documents)
    elif judged:
        say(way_text(judged, way), console=stderr)
    order = (ExitCode.VIOLATION, ExitCode.INTERNAL_ERROR, ExitCode.BAD_INPUT, ExitCode.NO_INPUT, ExitCode.INCONCLUSIVE)
    return next((code for code in order if code in codes), ExitCode.CONFORMANT)


def _check_names(required: list[str]) -> tuple[str, ...]:
    """Return the distinct requirements on every trace.

    Raises:
        CommandError: a name is no requirement.
    """
    allowed = (*REQUIREMENTS, *PROPERTIES)
    for name in required:
        if name not in allowed:
            nearest = get_close_matches(name, allowed, 1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"expected one of {', '.join(allowed)}"
            raise usage_error(f"--require {name}: {hint}")
    return tuple(dict.fromkeys(required))


def _find_traces(paths: list[str], codes: set[ExitCode], documents: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the traces of the paths; report a path without any."""
    for path in paths:
        try:
            yield from trace_paths(path)
        except TraceError as error:
            codes.add(_report_error(error, documents))


def _estimate_bytes(paths: list[str]) -> float:
    """Return the size of all traces, as far as it is known before reading them."""
    total = 0.0
    for path in paths:
        try:
            files = [Path(file) for file in trace_paths(path)]
            if not all(file.is_file() for file in files):
                return math.inf
            total += sum(file.stat().st_size * (_GZIP_RATIO if file.suffix == ".gz" else 1) for file in files)
        except (TraceError, OSError):
            continue
    return total


def _check(
    file: str,
    strict: bool,
    every: int,
    candidates: int,
    prefixes: Path,
    partitions: PartitionProcess,
    way: Way,
    *,
    brief: bool,
) -> tuple[Verdict | PartitionVerdict, Path | None]:
    with tempfile.TemporaryDirectory() as folder, lines_of(file) as lines:
        source = _make_rereadable(lines, Path(folder))
        verdict: Verdict | PartitionVerdict
        if is_partition_trace(source, file):
            # TLC keeps one specification in a process, which is the quorum's in this one.
            with progress(f"checking {file}"):
                verdict = partitions.ask(check_partition_file, source, file, strict)
        else:
            with open_trace(source, source=file) as reader, progress(f"checking {file}") as advance:
                jvm.start(brief=brief)
                verdict = check_reader(
                    reader, every=every, candidates_max=candidates, strict=strict, on_events=advance, way=way
                )
        if verdict.rejection is None:
            return verdict, None
        # The name of the trace without the suffix of its format.
        suffix = next((end for end in sorted(SUFFIXES, key=len, reverse=True) if file.endswith(end)), ".gz")
        name = "stdin" if file == "-" else Path(file).name.removesuffix(suffix)
        prefix = prefixes / f"{name}.failing.jsonl"
        try:
            write_failing_prefix(source, verdict.rejection, prefix)
        except OSError as error:
            # The verdict does not need the prefix.
            say(f"{prefix}: {error.strerror}; --prefixes names another folder for it", console=stderr)
            return verdict, None
        return verdict, prefix


def _make_rereadable(file: str, folder: Path) -> Path:
    """Return a file that can be read twice: standard input and pipes are copied to a file."""
    if file != "-" and (Path(file).is_file() or not Path(file).exists()):
        return Path(file)
    copy = folder / "input"
    with copy.open("wb") as output, nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
        shutil.copyfileobj(stream, output)
    return copy


def _report_defect(file: str, message: str, documents: list[dict[str, Any]]) -> ExitCode:
    say(f"{message}; this is a defect of kraft-spec, please report it", "red", stderr)
    documents.append({"source": file, "kind": "undecided", "code": "INTERNAL_ERROR", "message": message})
    return ExitCode.INTERNAL_ERROR


def _report_error(error: TraceError, documents: list[dict[str, Any]]) -> ExitCode:
    say(error, console=stderr)
    if is_of_kafka(Path(error.source)):
        say(f"a file of Kafka's is no trace: kraft-spec kafka diagnose {error.source}", console=stderr)
    documents.append(
        {
            "source": error.source,
            "kind": "malformed",
            "code": error.code,
            "line": error.line_number,
            "field": error.field,
            "message": str(error),
        }
    )
    return trace_error_code(error)

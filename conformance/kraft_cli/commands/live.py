"""`kraft-spec live`: tests of a running implementation over Kafka's wire protocol."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple

import typer
from msgspec.structs import replace

from kraft_cli.commands import live_infer, live_quorum, live_record
from kraft_cli.commands.conformance_report import (
    Html,
    Junit,
    Sarif,
    counts_in_words,
    show_failure,
)
from kraft_cli.commands.options import one_of
from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import print_json, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.protocol.messages import Software
from kraft_conformance.runner.outcome import ExpectedFailure, Outcome, Status
from kraft_conformance.runner.output.files import Target as File
from kraft_conformance.runner.output.files import check_targets, targets_of, write_all
from kraft_conformance.runner.output.lines import lines_of
from kraft_conformance.runner.reports import details, exit_code
from kraft_kafka.live.adapter import LiveAdapter, serve
from kraft_kafka.live.bench import Setup
from kraft_kafka.live.cases import Case
from kraft_kafka.live.cases.catalogue import cases
from kraft_kafka.live.differences import expected_case_failures
from kraft_kafka.live.kafka import kafka_commands
from kraft_kafka.live.process import (
    CLUSTER_ID,
    DIRECTORIES,
    PLACEHOLDERS,
    REPLICA,
    Commands,
    free_ports,
)
from kraft_kafka.live.reports import LiveResults, listed, results_of
from kraft_kafka.live.running import ROUND, Endpoint, Target, run_cases
from kraft_kafka.releases import profile_of
from kraft_reference.profile import PROFILES

app = typer.Typer(
    help="Judge running implementations over the wire, or record what passes between them.", no_args_is_help=True
)
app.command()(live_record.record)
app.command()(live_infer.infer)
app.command()(live_quorum.quorum)

JsonLines = Annotated[bool, typer.Option("--json", help="JSON lines: the run, one for each case, then a summary.")]
Words = Annotated[list[str] | None, typer.Option("-k", help="Run the cases with this in their id; repeatable.")]
Repeat = Annotated[int, typer.Option("--repeat", min=1, help="Run all of them so many times.")]
Listed = Annotated[bool, typer.Option("--list", help="List the cases with their rules, and run none.")]
Start = Annotated[str | None, typer.Option("--start", metavar="CMD", help="Starts the implementation; see below.")]
Format = Annotated[str | None, typer.Option("--format", metavar="CMD", help="Formats its folder {data}.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Where the data folders are and stay: a new or empty folder."),
]
KafkaName = Annotated[
    str | None, typer.Option("--kafka", metavar="VERSION|DIR", help="Apache Kafka: a release, or a folder of jars.")
]
ProfileName = Annotated[str | None, typer.Option("--profile", help="Default: that of the release, or kip.")]
Address = Annotated[str, typer.Option("--endpoint", metavar="HOST:PORT", help="Where replica 1 listens.")]
ClusterId = Annotated[str, typer.Option("--cluster-id", help=f"Its cluster id, which is to be {CLUSTER_ID}.")]
Voters = Annotated[
    str, typer.Option("--voters", metavar="ID@HOST:PORT:DIRECTORY,...", help="What it was formatted with.")
]


@app.command()
def run(
    start: Start = None,
    format_: Format = None,
    data: Data = None,
    kafka: KafkaName = None,
    words: Words = None,
    repeat: Repeat = 1,
    as_json: JsonLines = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
    is_listed: Listed = False,
) -> int:
    """Start an implementation, act as its peers, and judge what it does.

    The words of --start and --format may have {properties} (a file of Kafka's form), {data} (a data folder), {id},
    {cluster_id} and {voters}; {initial} stands for --initial-controllers VOTERS, or --no-initial-controllers.
    """
    chosen = _select(words)
    if is_listed:
        return _list(chosen, as_json)
    if (kafka is None) == (start is None) or (start is None) != (format_ is None):
        raise usage_error("expected --kafka, or --start and --format")
    judging = _Judging(chosen, repeat, as_json, targets_of(junit=junit, sarif=sarif, html=html), _make_empty(data))
    if start is not None and format_ is not None:
        named = ("--start", start, "--format", format_)
        return _judge(judging, _make_commands(start, format_), named, Software("process", ""))
    name = kafka or ""
    software = Software("apache-kafka", Path(name).name)
    return _judge(judging, kafka_commands(name), ("--kafka", name), software, expected_case_failures())


def _make_empty(folder: Path | None) -> Path | None:
    """Create the folder if needed, and return it as an absolute path."""
    if folder is None:
        return None
    if folder.exists() and not folder.is_dir():
        raise usage_error(f"--data {folder}: it is a file, expected a folder that is empty or not there yet")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise usage_error(f"--data {folder}: it is not empty, expected a folder that is empty or not there yet")
    return folder.resolve()


def _make_commands(start: str, format_: str) -> Commands:
    commands = Commands(start, format_)
    if unknown := commands.unknown:
        placeholders = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise usage_error(f"{unknown[0]} is none of {placeholders}; {{initial}} is a word of its own")
    return commands


@app.command()
def adapter(start: Start = None, kafka: KafkaName = None, profile: ProfileName = None) -> int:
    """Speak kraft-adapter/1 on standard input and output, with a process as the replica: for `conformance run`.

    Its disk is written in Kafka's formats, so that nothing is needed to format it; --start is as for `live run`.
    A JVM takes longer than the runner waits for a reply: give that --timeout 60.
    """
    if (kafka is None) == (start is None):
        raise usage_error("expected --kafka or --start")
    if profile is not None:
        one_of("profile", profile, PROFILES)
    commands = _make_commands(start, "") if start is not None else kafka_commands(kafka or "")
    software = Software(*("apache-kafka", Path(kafka).name) if kafka is not None else ("process", ""))
    home = Path(tempfile.mkdtemp(prefix="kraft-spec-live-"))
    try:
        with ended_by_signals():
            served = LiveAdapter(commands, home, software, profile or ("kip" if kafka is None else profile_of(kafka)))
            asyncio.run(serve(served, sys.stdin.buffer, sys.stdout.buffer))
    except KeyboardInterrupt:
        return ExitCode.CONFORMANT
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return ExitCode.CONFORMANT


@app.command()
def attach(
    endpoint: Address,
    cluster_id: ClusterId,
    voters: Voters,
    words: Words = None,
    repeat: Repeat = 1,
    as_json: JsonLines = False,
    junit: Junit = None,
    sarif: Sarif = None,
    html: Html = None,
) -> int:
    """Judge an implementation that runs already, as far as no process and no file is needed for it.

    It is to run as replica 1 of three voters, with timeouts of a minute or more; its peers are acted at the endpoints
    of 2 and 3, and replica 4 beside them.
    """
    if cluster_id != CLUSTER_ID:
        raise usage_error(f"--cluster-id {cluster_id}: expected {CLUSTER_ID}, which the acted peers have")
    host, _, port = endpoint.rpartition(":")
    ports = _parse_ports(voters)
    if host != "127.0.0.1" or not port.isdecimal():
        raise usage_error(f"--endpoint {endpoint}: expected 127.0.0.1:PORT: peers are acted on the loopback alone")
    target = Endpoint((host, int(port)), ports | {4: free_ports(1)[0]})
    chosen = [case for case in _select(words) if case.setup == Setup() and not case.is_fresh]
    judging = _Judging(chosen, repeat, as_json, targets_of(junit=junit, sarif=sarif, html=html))
    named = ("--endpoint", endpoint, "--cluster-id", cluster_id, "--voters", voters)
    return _judge(judging, target, named, Software("process", ""))


def _parse_ports(voters: str) -> dict[int, int]:
    ports: dict[int, int] = {}
    for entry in voters.split(","):
        id_, _, address = entry.partition("@")
        parts = address.split(":")
        if len(parts) != 3 or not id_.isdecimal() or not parts[1].isdecimal():
            raise usage_error(f"--voters {entry}: expected ID@HOST:PORT:DIRECTORY")
        if DIRECTORIES.get(int(id_)) != parts[2]:
            raise usage_error(f"--voters {entry}: expected the directory {DIRECTORIES.get(int(id_))}")
        ports[int(id_)] = int(parts[1])
    if set(ports) != {REPLICA, 2, 3}:
        raise usage_error(f"--voters has {sorted(ports)}, expected 1, 2 and 3")
    return ports


def _select(words: Sequence[str] | None) -> list[Case]:
    chosen = [case for case in cases().values() if not words or any(word in case.id for word in words)]
    if not chosen:
        raise usage_error(f"no case has {' or '.join(words or [])} in its id; --list shows them")
    return chosen


def _list(chosen: Sequence[Case], as_json: bool) -> int:
    if as_json:
        print_json([{"case": case.id, "title": case.title, "rules": list(case.rules)} for case in chosen])
    else:
        for case in chosen:
            say("\n".join(listed(case)))
    return ExitCode.CONFORMANT


class _Judging(NamedTuple):
    """The cases to run, and the outputs."""

    cases: Sequence[Case]
    rounds: int
    as_json: bool
    files: Sequence[File]
    kept: Path | None = None
    """Folder that keeps the data folders."""


def _judge(
    judging: _Judging,
    target: Target,
    named: tuple[str, ...],
    software: Software,
    expected: Mapping[str, ExpectedFailure] = MappingProxyType({}),
) -> int:
    check_targets(judging.files, judging.as_json)
    is_shown = not judging.as_json and not any(file.is_standard_output for file in judging.files)
    command = "run" if isinstance(target, Commands) else "attach"
    results = results_of(("kraft-spec", "live", command, *named), named[1], software)

    async def judge() -> None:
        nonlocal results
        for number in range(1, judging.rounds + 1):
            async for outcome in run_cases(judging.cases, target, expected, judging.kept):
                numbered = outcome if number == 1 else replace(outcome, id=f"{outcome.id}{ROUND}{number}")
                results = results.with_outcome(numbered)
                if is_shown:
                    _show(numbered, results)

    with ended_by_signals():
        asyncio.run(judge())
    write_all(judging.files, results)
    if judging.as_json:
        for line in lines_of(results):
            print(line)
    elif is_shown:
        say(f"{counts_in_words(results.outcomes)}; {len(results.judged)} rules judged")
    return exit_code(results.outcomes)


def _show(outcome: Outcome, results: LiveResults) -> None:
    if outcome.status is Status.FAIL:
        show_failure(outcome, details(outcome, results.repetition(outcome)).splitlines())
        return
    say(f"{outcome.status.upper()} {outcome.id}: {outcome.reason or results.asked(outcome.id).title}")
    if outcome.status is Status.INCONCLUSIVE:
        for line in outcome.wire_log.splitlines():
            say(f"  {line}")

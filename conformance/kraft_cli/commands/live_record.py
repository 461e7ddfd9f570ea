"""`kraft-spec live record`: a capture of the frames between processes."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from io import FileIO
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, UnavailableError, usage_error
from kraft_kafka.live.capture import (
    SCHEMA,
    CapturedNode,
    CapturedVoter,
    CaptureHeader,
    CaptureWriter,
)
from kraft_kafka.live.recording import Recorder, Route
from kraft_kafka.wire.disk_files import META, PARTITION

Nodes = Annotated[
    list[str],
    typer.Option(
        "--node", metavar="ID=HOST:PORT,HOST:PORT", help="Where the others reach it, and where it listens; repeatable."
    ),
]
Folders = Annotated[
    list[str] | None,
    typer.Option("--data", metavar="ID=DIR", help="Its folder, with meta.properties and the metadata log; repeatable."),
]
Output = Annotated[Path, typer.Option("-o", "--output", help="The capture, a kraft-capture/1.")]
ClusterId = Annotated[str | None, typer.Option("--cluster-id", help="Where no folder says it.")]
Voters = Annotated[
    list[str] | None,
    typer.Option("--voter", metavar="ID:DIRECTORY", help="A voter, where no bootstrap checkpoint says it; repeatable."),
]
Seconds = Annotated[float | None, typer.Option("--for", min=0.1, help="Seconds; default: until it is interrupted.")]

_INSTEAD = "use `kraft-spec kafka attach PID`, or the flag of `kraft-spec kafka agent`, which record inside Kafka"


def record(
    node: Nodes,
    output: Output,
    data: Folders = None,
    cluster_id: ClusterId = None,
    voter: Voters = None,
    seconds: Seconds = None,
) -> int:
    """Pass on what processes send each other, and write it down: start it before them.

    Each process must advertise the address at which this listens for it.
    """
    routes = tuple(_parse_route(text) for text in node)
    folders = dict(_parse_folder(text) for text in data or ())
    facts = {id_: _read_properties(folder / META) for id_, folder in folders.items()}
    clusters = {cluster_id, *(properties.get("cluster.id") for properties in facts.values())} - {None}
    if len(clusters) > 1:
        raise usage_error(f"more than one cluster id: {', '.join(sorted(map(str, clusters)))}")
    listed = dict(_parse_voter(text) for text in voter or ())
    nodes = tuple(
        CapturedNode(
            id=route.node,
            endpoint=f"{route.listen[0]}:{route.listen[1]}",
            directory_id=facts.get(route.node, {}).get("directory.id", listed.get(route.node)),
        )
        for route in routes
    )
    header = CaptureHeader(
        schema=SCHEMA,
        generator=f"kraft-spec {version('kraft-spec')}",
        nodes=nodes,
        cluster_id=next(iter(clusters), None),
        voters=tuple(CapturedVoter(*item) for item in sorted(listed.items())),
    )
    logs = {id_: folder / PARTITION for id_, folder in folders.items()}
    _check_routes(routes, folders, facts)
    # A new file only, because another recording may still be writing an existing one.
    with ended_by_signals(), _new_file(output) as stream:

        def report_failure(error: OSError) -> None:
            detail = "nothing more is written, and everything is still passed on"
            say(f"{output}: {error.strerror}: {detail}", "red", console=stderr)

        def report_encrypted(node: int) -> None:
            say(f"node {node}: a client speaks TLS, which cannot be recorded: {_INSTEAD}", "red", console=stderr)

        writer = CaptureWriter(stream, header)
        recorder = Recorder(routes, writer, logs, on_failure=report_failure, on_encrypted=report_encrypted)
        interrupted = False
        try:
            asyncio.run(_record(recorder, seconds))
        except OSError as error:
            output.unlink()
            raise CommandError(f"--node: cannot listen: {error.strerror}", ExitCode.CANNOT_WRITE) from error
        except KeyboardInterrupt:
            interrupted = seconds is not None
        recorder.end()
    if recorder.failure is not None:
        detail = f"the capture ends before the recording, and is read up to there: {recorder.failure.strerror}"
        raise CommandError(f"{output}: {detail}", ExitCode.CANNOT_WRITE)
    if recorder.encrypted and recorder.frames == 0:
        raise UnavailableError(f"{output}: no frame was recorded, because all clients speak TLS: {_INSTEAD}")
    say(f"{output}: {recorder.frames} frames of {recorder.connections} connections")
    return ExitCode.INTERRUPTED if interrupted else ExitCode.CONFORMANT


def _new_file(output: Path) -> FileIO:
    try:
        return output.open("xb", buffering=0)
    except FileExistsError:
        raise CommandError(f"{output} is there already, expected a new file", ExitCode.CANNOT_WRITE) from None


def _check_routes(routes: Sequence[Route], folders: Mapping[int, Path], facts: Mapping[int, Mapping[str, str]]) -> None:
    """Check that the options about the nodes are consistent.

    Raises:
        CommandError: they are not.
    """
    nodes = {route.node for route in routes}
    for route in routes:
        if route.listen == route.forward or 0 in (route.listen[1], route.forward[1]):
            raise usage_error(f"--node {route.node}: expected two different addresses with ports")
    for number, folder in folders.items():
        if number not in nodes:
            raise usage_error(f"--data {number}={folder}: there is no --node {number}")
        if facts[number].get("node.id", str(number)) != str(number):
            raise usage_error(f"--data {number}={folder}: the folder is that of node {facts[number]['node.id']}")


async def _record(recorder: Recorder, seconds: float | None) -> None:
    await recorder.start()
    say("recording", console=stderr)
    try:
        await asyncio.sleep(seconds if seconds is not None else 1e9)
    finally:
        await recorder.stop()


def _parse_route(text: str) -> Route:
    match = re.fullmatch(r"(\d+)=([^,=]+):(\d{1,5}),([^,=]+):(\d{1,5})", text)
    if match is None:
        raise usage_error(f"--node {text}: expected ID=HOST:PORT,HOST:PORT")
    return Route(int(match[1]), (match[2], int(match[3])), (match[4], int(match[5])))


def _parse_folder(text: str) -> tuple[int, Path]:
    number, _, folder = text.partition("=")
    if not number.isdecimal() or not folder:
        raise usage_error(f"--data {text}: expected ID=DIR")
    if not (Path(folder) / META).is_file():
        raise CommandError(f"{folder}: no {META} in it, expected a folder that is formatted", ExitCode.NO_INPUT)
    return int(number), Path(folder)


def _parse_voter(text: str) -> tuple[int, str]:
    number, _, directory = text.partition(":")
    if not number.isdecimal() or not directory:
        raise usage_error(f"--voter {text}: expected ID:DIRECTORY")
    return int(number), directory


def _read_properties(path: Path) -> dict[str, str]:
    pairs = [line.partition("=") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return {name.strip(): value.strip() for name, mark, value in pairs if mark}

"""`kraft-spec kafka agent`, `attach` and `trace`: a trace from any Kafka, started with a flag or running already."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.options import one_of
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.agent.attaching import attach, check_process
from kraft_kafka.agent.building import agent_jar
from kraft_kafka.agent.joining import join
from kraft_kafka.agent.reading import read_raw
from kraft_reference.profile import PROFILES
from kraft_spec.tlc.jar import JavaMissing
from kraft_traces.streams import atomic_file

_FILES = "*.raw.jsonl"
_EVENT = b'{"kind":"event"'
_FOLDER = re.compile(r"(?P<folder>.*?)(?:,rotate=(?P<rotate>[1-9][0-9]{0,8}[kmg]?))?", re.DOTALL)

Pid = Annotated[int, typer.Argument(metavar="PID", min=1, help="Process id of a controller or broker.")]
Folder = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER[,rotate=SIZE]",
        help="Folder for the agent's files; another file begins when one has SIZE, such as 256m.",
    ),
]
Recorded = Annotated[
    list[Path], typer.Argument(metavar="RAW...", help=f"Files of the agent, or folders with {_FILES}.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The trace.")]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="Settings of open decisions; default: those of the recorded release.")
]


def print_agent() -> int:
    """Print the path of the agent's jar, for `java -javaagent:JAR=FOLDER`; it is built once."""
    print(_jar())
    return ExitCode.CONFORMANT


def attach_agent(pid: Pid, folder: Folder = ".") -> int:
    """Load the agent into a Kafka that runs already; its files begin with a checkpoint of the whole state.

    The process must be of the same user; it does not stop.  Exit code 69 where it cannot be attached to, or has the
    agent already: then nothing is changed.
    """
    match = _FOLDER.fullmatch(folder)
    assert match is not None, "each text matches"
    if ",rotate=" in match["folder"]:
        raise usage_error(f"{folder}: expected FOLDER,rotate=SIZE with a number of bytes such as 256m")
    files = Path(match["folder"] or ".").resolve()
    check_process(pid)
    try:
        status = attach(pid, _jar(), files, match["rotate"])
    except JavaMissing as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error
    say(f"process {pid}: {status}")
    say(f"then: kraft-spec kafka trace {shlex.quote(str(files))} -o trace.jsonl")
    return ExitCode.CONFORMANT


def _jar() -> Path:
    """Return the path of the agent's jar.

    Raises:
        CommandError: it cannot be built.
    """
    try:
        return agent_jar()
    except JavaMissing as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}", ExitCode.CANNOT_WRITE) from error


def join_files(recorded: Recorded, output: Output, profile: ProfileName = None) -> int:
    """Join the files of the agent, of one cluster, to a trace in causal order, for `kraft-spec validate`.

    Exit code 65 where a file is damaged, or causality is broken: the message names file, line and field.
    """
    chosen = None if profile is None else one_of("profile", profile, PROFILES)
    files = read_raw(_paths(recorded))
    lines = list(join(files, chosen))
    with atomic_file(output) as stream:
        stream.writelines(lines)
    events = sum(line.startswith(_EVENT) for line in lines)
    say(f"{output}: {events} events of {len(files)} files", console=stderr)
    return ExitCode.CONFORMANT


def _paths(recorded: Sequence[Path]) -> Iterator[Path]:
    for path in recorded:
        if not path.is_dir():
            yield path
            continue
        files = sorted(path.rglob(_FILES))
        if not files:
            raise CommandError(f"{path}: no {_FILES} in it or below, expected files of the agent", ExitCode.NO_INPUT)
        yield from files

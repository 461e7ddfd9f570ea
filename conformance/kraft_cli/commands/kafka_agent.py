"""`kraft-spec kafka agent` and `kraft-spec kafka trace`: a trace from any Kafka, by one flag of its JVM."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.options import one_of
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.building import agent_jar
from kraft_kafka.agent.joining import join
from kraft_kafka.agent.reading import read_raw
from kraft_reference.profile import PROFILES
from kraft_spec.tlc.jar import JavaMissing
from kraft_traces.streams import atomic_file

_FILES = "*.raw.jsonl"

Recorded = Annotated[
    list[Path], typer.Argument(metavar="RAW...", help=f"Files of the agent, or folders with {_FILES}.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The trace.")]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="Settings of open decisions; default: those of the recorded release.")
]


def print_agent() -> int:
    """Print the path of the agent's jar, for `java -javaagent:JAR=FOLDER`; it is built once."""
    try:
        print(agent_jar())
    except JavaMissing as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    return ExitCode.CONFORMANT


def join_files(recorded: Recorded, output: Output, profile: ProfileName = None) -> int:
    """Join the files of the agent, of one cluster, to a trace in causal order, for `kraft-spec validate`.

    Exit code 65 where a file is damaged, or causality is broken: the message names file, line and field.
    """
    chosen = None if profile is None else one_of("profile", profile, PROFILES)
    files = read_raw(_paths(recorded))
    lines = list(join(files, chosen))
    with atomic_file(output) as stream:
        stream.writelines(lines)
    say(f"{output}: {len(lines) - 2} events of {len(files)} files", console=stderr)
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

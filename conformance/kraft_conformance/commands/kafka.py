"""`kraft-spec kafka`: Apache Kafka itself under the suite."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands import conformance, conformance_random
from kraft_conformance.commands.conformance_report import Badge, Html, JsonLines, Junit, Markdown, Tap
from kraft_conformance.commands.options import Json, Steps, TimeoutS
from kraft_conformance.console import print_json, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.kafka.adapter import command_line
from kraft_conformance.kafka.differences import expected_failures as known_failures
from kraft_conformance.kafka.jars import KafkaUnavailableError, built, released
from kraft_conformance.kafka.releases import newest, releases
from kraft_conformance.runner.campaign import Plan
from kraft_conformance.runner.output.files import targets_of

app = typer.Typer(
    help="Run the suite on Apache Kafka's own KafkaRaftClient: a release, or a build of your own.", no_args_is_help=True
)

REPLY_S = 20.0
"""Seconds that a reply may take: the first one needs a JVM."""
SEEDS = "0:5"
WORKLOAD = "elections"


class ShownLevel(StrEnum):
    """How much the adapter shows: the levels of the suite."""

    WIRE = "wire"
    EFFECTS = "effects"
    STATE = "state"


Version = Annotated[
    str | None, typer.Option("--version", help="A release, as `kafka releases` lists them; default: the newest.")
]
Jars = Annotated[
    Path | None,
    typer.Option(
        "--jars", metavar="DIR", help="A build of your own in place of a release: a checkout of Kafka will do."
    ),
]
Sources = Annotated[
    Path | None,
    typer.Option("--sources", metavar="DIR", help="An adapter of your own, from `conformance template kafka DIR`."),
]
LevelName = Annotated[ShownLevel, typer.Option("--level", help="How much Kafka shows.")]
Log = Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Append what Kafka logs to this file.")]
Workloads = Annotated[
    list[str] | None, typer.Option("--workload", help=f"Random workloads, repeatable; default: {WORKLOAD}.")
]
RandomSeeds = Annotated[
    str | None,
    typer.Option(
        "--seeds", "--seed", help=f"Seeds of random schedules, FIRST:END; default: {SEEDS}; none with -k or --json."
    ),
]


@app.command("releases")
def list_releases(as_json: Json = False) -> int:
    """List the releases that can be run, and the random workloads that each has the features for."""
    if as_json:
        print_json([{"version": one.version, "workloads": list(one.workloads)} for one in releases().values()])
        return ExitCode.CONFORMANT
    rows = [(one.version, ", ".join(one.workloads)) for one in releases().values()]
    show_table("Releases of Apache Kafka", ("version", "random workloads"), rows)
    return ExitCode.CONFORMANT


@app.command()
def adapter(
    version: Version = None,
    jars: Jars = None,
    sources: Sources = None,
    level: LevelName = ShownLevel.STATE,
    log: Log = None,
) -> int:
    """Print the command line of Kafka's adapter, for the commands of `kraft-spec conformance`."""
    print(_command_line(version, jars, sources, level, log))
    return ExitCode.CONFORMANT


@app.command()
def run(
    version: Version = None,
    jars: Jars = None,
    sources: Sources = None,
    level: LevelName = ShownLevel.STATE,
    log: Log = None,
    words: conformance.Words = None,
    expected_failures: conformance.Expected = None,
    profile: conformance.ProfileName = None,
    jobs: conformance.Jobs = 1,
    seeds: RandomSeeds = None,
    workloads: Workloads = None,
    steps: Steps = 300,
    timeout_s: TimeoutS = REPLY_S,
    as_json: JsonLines = False,
    junit: Junit = None,
    tap: Tap = None,
    markdown: Markdown = None,
    badge: Badge = None,
    html: Html = None,
) -> int:
    """Run the vectors on Kafka, then random schedules of three replicas, which TLC checks."""
    command = _command_line(version, jars, sources, level, log)
    codes = [
        conformance.run_selected(
            # What is known differs from the release's own profile.
            Plan(
                command,
                (),
                timeout_s,
                profile,
                jobs,
                expected_failures={} if profile else known_failures(level is ShownLevel.STATE),
            ),
            words,
            expected_failures,
            as_json,
            targets_of(junit=junit, tap=tap, markdown=markdown, badge=badge, html=html),
        )
    ]
    if seeds or workloads or not (words or as_json):
        codes.append(
            conformance_random.random(
                [command],
                seeds=seeds or SEEDS,
                workloads=workloads or [WORKLOAD],
                steps=steps,
                profile=profile,
                timeout_s=timeout_s,
                as_json=as_json,
            )
        )
    return worst(codes)


def worst(codes: Sequence[int]) -> int:
    """The exit code of several runs: what one of them found, and otherwise what one of them could not see."""
    order = (ExitCode.VIOLATION, ExitCode.INCONCLUSIVE, ExitCode.CONFORMANT, ExitCode.NOTHING_JUDGED)
    return next(code for code in order if code in codes)


def _command_line(
    version: str | None, jars: Path | None, sources: Path | None, level: ShownLevel, log: Path | None
) -> str:
    name = version or newest()
    if name not in releases():
        raise usage_error(f"no release {name!r}, expected one of {', '.join(releases())}")
    with _unavailable():
        kafka = released(releases()[name]) if jars is None else built(jars, releases()[name])
        return command_line(kafka, level.value, log, sources)


@contextmanager
def _unavailable() -> Iterator[None]:
    try:
        yield
    except KafkaUnavailableError as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error

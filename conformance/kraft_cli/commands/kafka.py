"""`kraft-spec kafka`: the suite on Apache Kafka itself."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands import conformance
from kraft_cli.commands.conformance_random import run_random
from kraft_cli.commands.conformance_report import Html, JsonLines, Junit, Markdown
from kraft_cli.commands.kafka_agent import attach_agent, join_files, print_agent
from kraft_cli.commands.kafka_diagnose import diagnose
from kraft_cli.commands.kafka_finding import known_finding, report_finding, show_finding
from kraft_cli.commands.kafka_tests import judge_tests
from kraft_cli.commands.kafka_whole import show_whole
from kraft_cli.commands.options import Json, Steps, TimeoutS, at_most_one, one_of, seeds_of
from kraft_conformance.console import print_json, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.random_runs.plan import RandomPlan
from kraft_conformance.random_runs.seats import seat_of
from kraft_conformance.runner.campaign import Plan
from kraft_conformance.runner.output.files import targets_of
from kraft_kafka.adapter import command_line
from kraft_kafka.controllers import controller
from kraft_kafka.differences import expected_failures as known_failures
from kraft_kafka.differences import known_in_schedules
from kraft_kafka.jars import Kafka, built
from kraft_kafka.live.differences import expected_failures as known_live_failures
from kraft_kafka.patching.patches import Patch, fixes, mutants, patched, patches
from kraft_kafka.releases import nearest, newest, releases
from kraft_kafka.unpinned import known_release, release_of
from kraft_simulation.workload import WORKLOADS
from kraft_vectors.features import Subject

app = typer.Typer(
    help="Run the suite on Apache Kafka's own KafkaRaftClient: a release, or a build of your own.", no_args_is_help=True
)

app.command()(diagnose)
app.command("agent")(print_agent)
app.command("attach")(attach_agent)
app.command("trace")(join_files)
app.command("tests")(judge_tests)

REPLY_S = 20.0
"""Time limit for a reply, in seconds: the first one starts a JVM."""
LIVE_REPLY_S = 90.0
"""Time limit for a reply that starts a whole controller and waits for its timers."""
SEEDS = "0:5"
WORKLOAD = "elections"


class ShownLevel(StrEnum):
    """Observability level of the adapter."""

    WIRE = "wire"
    EFFECTS = "effects"
    STATE = "state"


Version = Annotated[
    str | None, typer.Option("--version", help="Any release; default: the newest that `kafka releases` lists.")
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
Fix = Annotated[
    str | None, typer.Option("--fix", metavar="NAME", help="Run Kafka with the fix of a finding: see `kafka mutants`.")
]
Mutant = Annotated[
    str | None,
    typer.Option("--mutant", metavar="NAME", help="Break a rule in Kafka on purpose: `kafka mutants` lists them."),
]
Live = Annotated[
    bool, typer.Option("--live", help="Run a whole controller as a process, over TCP, in place of its client alone.")
]
Partitions = Annotated[
    bool,
    typer.Option("--partitions", help="Run the controllers of partitions (KIP-455) in place of the quorum's client."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Write the trace that the model judges; with --whole keep disks and logs in this new folder.",
    ),
]
Whole = Annotated[bool, typer.Option("--whole", help="Run whole controllers: three processes, minutes.")]
UnitTests = Annotated[
    Path | None,
    typer.Option("--junit", metavar="DIR", help="Run nothing: write unit tests in Kafka's style below this folder."),
]
ForTracker = Annotated[
    bool, typer.Option("--jira", help="Run nothing: print the text of an issue for Kafka's tracker.")
]
Control = Annotated[
    bool, typer.Option("--control/--no-control", help="With --whole: run the schedule with the fix as well.")
]
FindingName = Annotated[str, typer.Argument(metavar="NAME", help="A finding, as `kraft-spec findings` lists them.")]
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
    """List the pinned releases, and the random workloads that each has the features for; any other runs, too."""
    if as_json:
        print_json([{"version": it.version, "workloads": list(it.workloads)} for it in releases().values()])
        return ExitCode.CONFORMANT
    rows = [(release.version, ", ".join(release.workloads)) for release in releases().values()]
    show_table("Releases of Apache Kafka", ("version", "random workloads"), rows)
    return ExitCode.CONFORMANT


@app.command("mutants")
def list_mutants(as_json: Json = False) -> int:
    """List what can be changed in Kafka: fixes of findings (--fix), and mutants that the suite detects (--mutant)."""
    if as_json:
        print_json([asdict(patch) for patch in patches().values()])
        return ExitCode.CONFORMANT
    rows = [(it.name, it.what, f"{it.type}.{it.method}", ", ".join(it.rules) or "a fix") for it in patches().values()]
    show_table("Fixes and mutants of Apache Kafka", ("name", "what Kafka does with it", "where", "breaks"), rows)
    return ExitCode.CONFORMANT


@app.command()
def adapter(
    version: Version = None,
    jars: Jars = None,
    sources: Sources = None,
    level: LevelName = ShownLevel.STATE,
    log: Log = None,
    fix: Fix = None,
    mutant: Mutant = None,
    of_partitions: Partitions = False,
) -> int:
    """Print the command line of Kafka's adapter, for the commands of `kraft-spec conformance`."""
    print(command_line(_kafka(version, jars, _patch(fix, mutant), of_partitions), level.value, log, sources))
    return ExitCode.CONFORMANT


@app.command()
def run(
    version: Version = None,
    jars: Jars = None,
    sources: Sources = None,
    level: LevelName = ShownLevel.STATE,
    log: Log = None,
    fix: Fix = None,
    mutant: Mutant = None,
    is_live: Live = False,
    of_partitions: Partitions = False,
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
    markdown: Markdown = None,
    html: Html = None,
) -> int:
    """Run the vectors on Kafka, then random schedules of three replicas, which TLC checks.

    With --live the vectors alone, as `live adapter` can play them: the others are unsupported.
    With --partitions the vectors of partitions alone.
    """
    if of_partitions and (is_live or seeds or workloads):
        raise usage_error("--partitions runs vectors alone, on a release or --jars: not live, no schedules")
    if is_live and (sources or log or fix or mutant or seeds or workloads or level is not ShownLevel.STATE):
        raise usage_error(
            "--live plays vectors alone, on a release or --jars: no sources, level, log, fix, mutant or schedules"
        )
    if is_live:
        name = str(jars) if jars is not None else version or newest()
        program = "kraft-spec" if shutil.which("kraft-spec") else f"{shlex.quote(sys.executable)} -m kraft_cli.cli"
        # Fetched before the reply timeout starts.
        controller(name)
        command, diffs = f"{program} live adapter --kafka {shlex.quote(name)}", known_live_failures()
        timeout_s = max(timeout_s, LIVE_REPLY_S)
    else:
        kafka = _kafka(version, jars, _patch(fix, mutant), of_partitions)
        command = command_line(kafka, level.value, log, sources)
        diffs = known_failures(level is ShownLevel.STATE, None if jars else known_release(version or newest()).version)
    codes = [
        conformance.run_selected(
            # Known differences are relative to the release's own profile.
            Plan(
                command,
                (),
                timeout_s,
                profile,
                jobs,
                expected_failures={} if profile else diffs,
            ),
            words,
            expected_failures,
            as_json,
            targets_of(junit=junit, markdown=markdown, html=html),
            subject="partitions" if of_partitions else None,
        )
    ]
    if not is_live and not of_partitions and (seeds or workloads or not (words or as_json)):
        codes.append(
            run_random(
                RandomPlan(
                    (seat_of(command),),
                    seeds_of(seeds or SEEDS),
                    tuple(one_of("workload", name, WORKLOADS) for name in workloads or [WORKLOAD]),
                    steps,
                    profile=profile,
                    reply_timeout_s=timeout_s,
                    known=() if profile else known_in_schedules(),
                ),
                as_json,
            )
        )
    return worst(codes)


@app.command()
def finding(
    name: FindingName,
    version: Version = None,
    jars: Jars = None,
    sources: Sources = None,
    log: Log = None,
    fix: Fix = None,
    output: Output = None,
    is_whole: Whole = False,
    has_control: Control = True,
    junit: UnitTests = None,
    is_for_tracker: ForTracker = False,
    timeout_s: TimeoutS = REPLY_S,
    as_json: Json = False,
) -> int:
    """Play the schedule of a finding with a process of Kafka as each replica, and have the model judge it.

    With --whole each replica is a whole controller with its disk, over TCP; links are cut and processes killed, and
    Kafka's AdminClient writes.  Exit code 1 when Kafka has the finding, 0 when it is safe, 2 when it deviates from the
    schedule.
    """
    chosen = known_finding(name)
    if junit is not None or is_for_tracker:
        return report_finding(chosen, junit)
    if is_whole:
        if sources or log:
            raise usage_error("--whole runs Kafka's own processes: no --sources, no --log")
        build = controller(str(jars or version or newest()))
        return show_whole(chosen, build, _patch(fix, None), has_control, output, as_json)
    if as_json:
        raise usage_error("--json is for --whole")
    command = command_line(_kafka(version, jars, _patch(fix, None)), ShownLevel.STATE.value, log, sources)
    return show_finding(chosen, command, timeout_s, output)


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several runs: a violation first, then an inconclusive run."""
    order = (ExitCode.VIOLATION, ExitCode.INCONCLUSIVE, ExitCode.CONFORMANT, ExitCode.NOTHING_JUDGED)
    return next(code for code in order if code in codes)


def _patch(fix: str | None, mutant: str | None) -> Patch | None:
    """Return the patch of Kafka that the options name."""
    at_most_one(fix=fix, mutant=mutant)
    if fix is not None:
        return fixes()[one_of("fix", fix, fixes())]
    return None if mutant is None else mutants()[one_of("mutant", mutant, mutants())]


def _kafka(version: str | None, jars: Path | None, patch: Patch | None, of_partitions: bool = False) -> Kafka:
    name = version or newest()
    if of_partitions and patch is not None:
        raise usage_error("--fix and --mutant change the quorum's client, which --partitions does not run")
    subject: Subject = "partitions" if of_partitions else "replica"
    kafka = release_of(name, subject) if jars is None else built(jars, nearest(name), subject)
    return kafka if patch is None else patched(kafka, patch)

"""`kraft-spec kafka tests`: Kafka's own raft tests with the agent, each judged by the model."""

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.options import Json, at_most_one, one_of, seeds_of
from kraft_conformance.console import print_json, progress, say, show_table, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.own_tests.judging import JudgedTest, Outcome, counts, judge
from kraft_kafka.own_tests.libraries import built_tests, jars_of_tests, published_tests
from kraft_kafka.own_tests.running import KafkaTest, run_simulations, run_tests
from kraft_kafka.patching.patches import mutants, patched
from kraft_spec.tlc import jvm
from kraft_spec.tlc.jar import JavaMissing

Version = Annotated[
    str | None, typer.Option("--version", help="A release whose tests are published; default: the newest of these.")
]
Jars = Annotated[
    Path | None,
    typer.Option("--jars", metavar="DIR", help="A build in place of a release: a checkout of Kafka will do."),
]
Pattern = Annotated[
    str | None, typer.Option("-k", metavar="PATTERN", help="Tests whose Class.method has a match of this pattern.")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds",
        "--seed",
        metavar="FIRST:END",
        help="Run RaftEventSimulationTest in their place: one of its simulated clusters for each seed.",
    ),
]
Mutant = Annotated[
    str | None,
    typer.Option("--mutant", metavar="NAME", help="Break a rule in Kafka on purpose: `kafka mutants` lists them."),
]
Kept = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="Keep the agent's files and the traces in a new folder."),
]


def judge_tests(
    version: Version = None,
    jars: Jars = None,
    pattern: Pattern = None,
    seeds: Seeds = None,
    mutant: Mutant = None,
    output: Kept = None,
    as_json: Json = False,
) -> int:
    """Run Kafka's own KafkaRaftClient tests with the agent, and judge the trace of each client.

    The test plays the peers, which are not observed. Exit code: 1 if a test fails, or is rejected without a known
    reason; else 2 if a trace is not judged, or not to its end.
    """
    at_most_one(version=version, jars=jars)
    if pattern is not None and seeds is not None:
        raise usage_error("-k and --seeds: expected one of them")
    simulated = None if seeds is None else seeds_of(seeds, "--seeds")
    chosen = one_of("release", version or [*jars_of_tests()][-1], jars_of_tests())
    patch = None if mutant is None else mutants()[one_of("mutant", mutant, mutants())]
    _check_pattern(pattern)
    try:
        with _folder(output) as folder:
            tested = published_tests(chosen) if jars is None else built_tests(jars)
            name = tested.kafka.version
            if patch is not None:
                tested = replace(tested, kafka=patched(tested.kafka, patch))
            if simulated is None:
                with progress(f"running Kafka's tests of {name}"):
                    tests: Iterable[KafkaTest] = run_tests(tested, pattern, folder)
            else:
                tests = run_simulations(tested, simulated, folder)
            jvm.start(brief=True)
            judged: list[JudgedTest] = []
            with progress("judging", len(tests) if isinstance(tests, tuple) else len(simulated or ())) as advance:
                for test in tests:
                    judged.append(judge(test))
                    advance(1)
    except JavaMissing as error:
        raise CommandError(str(error), ExitCode.UNAVAILABLE) from error
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    if as_json:
        print_json(
            {
                "version": name,
                "counts": counts(judged),
                "tests": [it.as_dict(keeps_traces=output is not None) for it in judged],
            }
        )
    else:
        _show(judged, name)
    return _exit_code(judged)


def _check_pattern(pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise usage_error(f"-k {pattern}: {error}, expected a regular expression") from error


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """Yield a folder for the files: a temporary one, or a new one that is kept."""
    if output is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    if output.exists():
        raise CommandError(f"{output} exists, expected a new folder", ExitCode.CANNOT_WRITE)
    output.mkdir(parents=True)
    yield output


def _show(judged: list[JudgedTest], version: str) -> None:
    for it in judged:
        events = sum(trace.events for trace in it.traces)
        reason = "" if it.reason is None else f": {it.reason}"
        style = "red" if it.outcome is Outcome.UNEXPLAINED else None
        say(f"{it.test.name} {it.test.parameters}: {it.outcome}, {events} events{reason}", style)
    for it in judged:
        if it.test.result != "successful":
            say(f"{it.test.name} {it.test.parameters}: {it.test.result} in JUnit: {it.test.detail}", "red")
    rows = [
        (outcome, number, sum(trace.events for it in judged if it.outcome is outcome for trace in it.traces))
        for outcome, number in counts(judged).items()
    ]
    show_table(f"{len(judged)} tests of Kafka {version}", ("verdict", "tests", "accepted events"), rows)
    if any(it.outcome is Outcome.UNEXPLAINED for it in judged):
        say("-o DIR keeps the traces for kraft-spec validate and kraft-spec view", console=stderr)


def _exit_code(judged: list[JudgedTest]) -> ExitCode:
    outcomes = {it.outcome for it in judged}
    if Outcome.UNEXPLAINED in outcomes or any(it.test.result == "failed" for it in judged):
        return ExitCode.VIOLATION
    return ExitCode.INCONCLUSIVE if outcomes & {Outcome.NOT_JUDGED, Outcome.IN_PART} else ExitCode.CONFORMANT

"""`kraft-spec model`: the named model checks."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, progress, say, show_table, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_mutants.models import mutated_model
from kraft_reference.profile import KIP, PROFILES
from kraft_spec.counterexamples import in_words, text_of
from kraft_spec.models import (
    CHECKS,
    GROUPS,
    CheckReport,
    ModelCheck,
    UnknownCheck,
    Way,
    checks_of,
    find_check,
    next_actions,
    run_check,
    takes_profile,
    under_profile,
    write_model,
)
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome
from kraft_spec.tlc.model_report import Progress as TlcProgress

Name = Annotated[str | None, typer.Argument(help=f"A check, or a group ({', '.join(GROUPS)}); without one: the list.")]
Workers = Annotated[int, typer.Option(min=1, help="Threads of TLC.")]
Jobs = Annotated[int, typer.Option(min=1, help="Checks of a group that run at the same time.")]
TimeLimit = Annotated[float | None, typer.Option(min=1, help="Seconds for each check; what was reached is reported.")]
CheckpointsAt = Annotated[Path | None, typer.Option("--checkpoints", help="Folder for checkpoints, to resume from.")]
Write = Annotated[Path | None, typer.Option("--write", help="Write a check's modules and .cfg there, and run nothing.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from the newest checkpoint.")]
OfProfile = Annotated[
    str, typer.Option("--profile", help="Who decides what the checks leave open; of a group those that leave it.")
]
Interpreted = Annotated[bool, typer.Option("--interpreted", help="Ask TLC alone, not the compiled model.")]
Explored = Annotated[bool, typer.Option("--explore", help="Search with the explorer; TLC judges a sample.")]
Both = Annotated[bool, typer.Option("--both", help="Ask the compiled model and TLC of every step.")]


def model(
    name: Name = None,
    workers: Workers = 2,
    jobs: Jobs = 1,
    time_limit: TimeLimit = None,
    checkpoints: CheckpointsAt = None,
    resume: Resume = False,
    write: Write = None,
    profile: OfProfile = KIP.name,
    interpreted: Interpreted = False,
    explore: Explored = False,
    both: Both = False,
    as_json: Json = False,
) -> int:
    """Model-check the specification with TLC: one named check, or a group of them.

    TLC asks the model in its compiled form where a check is long enough for that to pay, and interprets it otherwise.

    A check that is stopped by its time limit is not conclusive (exit code 2), except in the nightly group, where it
    counts as the outcome that it is and says how far it got.

    Under a profile of Apache Kafka a check may find what is expected of none: see docs/kafka.md.
    """
    if name is None:
        return _list(as_json)
    try:
        checks = checks_of(name) if name in GROUPS else (find_check(name),)
    except UnknownCheck as error:
        raise usage_error(str(error)) from error
    checks = _apply_profile(checks, profile)
    if write is not None:
        return _write(checks, write)
    if resume and checkpoints is None:
        raise usage_error("--resume needs --checkpoints FOLDER")
    if interpreted and (both or explore):
        raise usage_error(f"--interpreted and {'--both' if both else '--explore'} exclude each other")
    if explore:
        way = Way.JUDGED if both else Way.EXPLORED
    else:
        way = Way.BOTH if both else Way.INTERPRETED if interpreted else Way.COMPILED
    reports: list[CheckReport] = []

    def run(check: ModelCheck) -> CheckReport:
        return _run(check, workers, time_limit, checkpoints, resume, way)

    for report in map(run, checks) if jobs == 1 else _run_parallel(run, checks, jobs):
        reports.append(report)
        if not as_json and len(checks) > 1:
            say(one_line(reports[-1]))
    if as_json:
        print_json([_document(report) for report in reports])
    else:
        for report in reports:
            if len(checks) == 1 or not report.as_expected:
                show_report(report)
    return _exit_code(reports)


def _apply_profile(checks: tuple[ModelCheck, ...], profile: str) -> tuple[ModelCheck, ...]:
    """Return the checks that the profile affects, under this profile."""
    if profile not in PROFILES:
        raise usage_error(f"no profile {profile!r}, expected one of {', '.join(PROFILES)}")
    if profile == KIP.name:
        return checks
    taken = tuple(under_profile(check, profile) for check in checks if takes_profile(check))
    if not taken:
        raise usage_error(f"{checks[0].name} leaves nothing open that profile {profile} decides")
    return taken


def _write(checks: tuple[ModelCheck, ...], folder: Path) -> ExitCode:
    """Write TLC's input for a check, for users who run TLC themselves."""
    if len(checks) != 1:
        raise usage_error("--write is for one check, not for a group")
    [check] = checks
    try:
        with mutated_model(check.mutants) as directory:
            write_model(check, folder, directory)
    except OSError as error:
        raise CommandError(f"cannot write {folder}: {error.strerror or error}", ExitCode.CANNOT_WRITE) from error
    stdout.print(check.configuration.text, end="", markup=False, highlight=False)
    command = f"java -cp tla2tools.jar tlc2.TLC -deadlock -config {check.name}.cfg {check.configuration.module}"
    stdout.print(f"\\* in {folder}: {command}", markup=False, highlight=False, soft_wrap=True)
    return ExitCode.CONFORMANT


def _run_parallel(
    run: Callable[[ModelCheck], CheckReport], checks: tuple[ModelCheck, ...], jobs: int
) -> Iterator[CheckReport]:
    """Yield the reports in the order of the checks; several checks run at a time, each in its own process of TLC.

    Most checks are short, and half the time of a short check is the start of Java on one core.
    """
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(run, checks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(
    check: ModelCheck, workers: int, time_limit: float | None, checkpoints: Path | None, resume: bool, way: Way
) -> CheckReport:
    with progress(f"model check {check.name}") as advance, mutated_model(check.mutants) as directory:

        def show(reached: TlcProgress) -> None:
            states, left = reached.states_distinct, reached.queue_left
            about = f" of about {reached.states_estimated}" if reached.states_estimated else ""
            advance(0, f"model check {check.name}: {states}{about} states, depth {reached.depth}, {left} in the queue")

        return run_check(
            check,
            show,
            workers=workers,
            directory=directory,
            checkpoint_directory=checkpoints,
            resume=resume,
            time_limit_seconds=time_limit,
            way=way,
        )


def _exit_code(reports: list[CheckReport]) -> ExitCode:
    if any(report.report.outcome is Outcome.ERROR for report in reports):
        return ExitCode.INTERNAL_ERROR
    if not all(report.as_expected for report in reports):
        return ExitCode.VIOLATION
    stopped = any(
        report.report.outcome is Outcome.TIME_LIMIT and "nightly" not in report.check.groups for report in reports
    )
    return ExitCode.INCONCLUSIVE if stopped else ExitCode.CONFORMANT


def one_line(report: CheckReport) -> str:
    """Return a line with a check and its result."""
    run = report.report
    reached = run.progress
    text = run.outcome.value
    if run.violated:
        text = f"violates {run.violated} after {len(run.trace)} states"
        text += ", as it must" if report.as_expected else ""
    elif run.outcome is Outcome.TIME_LIMIT:
        text = f"stopped by the time limit with {reached.queue_left} states in the queue"
    counted = f"{reached.states_distinct or reached.states_generated} states, depth {reached.depth}"
    verdict = "stop" if run.outcome is Outcome.TIME_LIMIT else "ok  "
    return f"{verdict if report.as_expected else 'FAIL'} {report.check.name}: {text}; {counted}, {run.seconds:.0f} s"


def show_report(report: CheckReport) -> None:
    """Show all results of a check."""
    check, result = report.check, report.report
    say(one_line(report), "bold" if report.as_expected else "bold red")
    stdout.print(f"  bounds      {check.bounds}", markup=False)
    stdout.print(f"  leaves out  {check.leaves_out}", markup=False)
    stdout.print(f"  the model   {_FORMS[report.way]}", markup=False)
    if report.never_fired:
        stdout.print(f"  never fired {', '.join(report.never_fired)}", markup=False)
    if result.checkpoint is not None:
        stdout.print(f"  checkpoint  {result.checkpoint}", markup=False, soft_wrap=True)
    if result.outcome is Outcome.ERROR:
        stdout.print(result.message, markup=False)
    if result.trace and not (report.as_expected and len(result.trace) > _TRACE_SHOWN_MAX):
        _show_trace(result)


_TRACE_SHOWN_MAX = 60

_FORMS = {
    Way.COMPILED: "compiled",
    Way.EXPLORED: "compiled, searched by the explorer",
    Way.JUDGED: "compiled, searched by the explorer, and interpreted by TLC",
    Way.INTERPRETED: "interpreted by TLC",
    Way.BOTH: "compiled, and interpreted by TLC",
}


def _show_trace(result: ModelCheckReport) -> None:
    """Show an error trace by actions and their changes, or as TLC's states if TLC failed within an action."""
    if result.outcome is Outcome.ERROR:
        text = "\n".join(f"{state.number}. {state.action}\n{state.text}" for state in result.trace)
    else:
        text = text_of(in_words(result, next_actions()))
    for line in text.splitlines():
        stdout.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def _document(report: CheckReport) -> dict[str, Any]:
    check, result = report.check, report.report
    return {
        "name": check.name,
        "profile": check.profile,
        "groups": check.groups,
        "bounds": check.bounds,
        "leaves_out": check.leaves_out,
        "expected_violation": check.violates or None,
        "way": report.way.value,
        "outcome": result.outcome.value,
        "violated": result.violated or None,
        "as_expected": report.as_expected,
        "exhaustive": report.exhaustive,
        "states_generated": result.progress.states_generated,
        "states_distinct": result.progress.states_distinct,
        "queue_left": result.progress.queue_left,
        "depth": result.progress.depth,
        "seconds": round(result.seconds, 1),
        "never_fired": report.never_fired,
        "trace_length": len(result.trace),
        "checkpoint": result.checkpoint,
    }


def _list(as_json: bool) -> int:
    if as_json:
        print_json(
            [{name: getattr(check, name) for name in ("name", "groups", "bounds", "leaves_out")} for check in CHECKS]
        )
        return ExitCode.CONFORMANT
    rows = []
    for check in CHECKS:
        expected = f"violates {check.violates}" if check.violates else "holds"
        rows.append((check.name, ", ".join(check.groups), expected, check.bounds, check.leaves_out))
    show_table("Model checks", ("name", "groups", "expected", "bounds", "leaves out"), rows)
    return ExitCode.CONFORMANT

"""`kraft-spec conformance`: the vectors on an implementation of anybody's."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_conformance.commands import conformance_random
from kraft_conformance.commands.conformance_grade import grading
from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, shown, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.explanation import explained
from kraft_conformance.runner.faults import AdapterFault, CannotStart, OtherVersion
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.reports import counts, details, exit_code, json_lines, write_junit
from kraft_conformance.runner.selection import read_expected_failures, selected
from kraft_conformance.vectors.catalogue import Catalogue, VectorFileError
from kraft_conformance.vectors.format import ManifestEntry, Vector
from kraft_conformance.vectors.rule_coverage import rule_coverage
from kraft_conformance.vectors.smoke import SMOKE

app = typer.Typer(help="Run the conformance vectors on an implementation, through its adapter.", no_args_is_help=True)
app.command("random")(conformance_random.random)

app.command("grade")(grading)

Adapter = Annotated[
    str, typer.Option("--adapter", help="The command line of the adapter; it speaks kraft-adapter/1 on its pipes.")
]
Words = Annotated[
    list[str] | None,
    typer.Option("-k", help="Only vectors of this id or rule, or with this in one of them; repeatable: all must fit."),
]
StopAtFirst = Annotated[bool, typer.Option("-x", help="Stop at the first failure.")]
Expected = Annotated[
    Path | None, typer.Option("--expected-failures", help="A file of your own: `id  # reason` on each line.")
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="kip or kafka-4; default: the one that the adapter names.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=64, help="How many copies of the adapter run at a time.")]
TimeoutS = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds that a reply may take.")]
JsonLines = Annotated[bool, typer.Option("--json", help="JSON lines: one for each vector, then a summary.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]
Folder = Annotated[Path | None, typer.Option("--vectors", help="A folder of vectors; default: those of the package.")]
ByRule = Annotated[bool, typer.Option("--rules", help="By rule: its vectors, or why it has none.")]
VectorName = Annotated[str, typer.Argument(help="The id of a vector.")]


@app.command("list")
def list_vectors(words: Words = None, folder: Folder = None, by_rule: ByRule = False, as_json: Json = False) -> int:
    """List the vectors: what they are about, and at which level they say something."""
    with _vector_errors():
        entries = selected(Catalogue(folder), words or ())
    if by_rule:
        return _list_rules(entries, as_json)
    if as_json:
        fields = ("id", "level", "steps", "history")
        print_json([{name: getattr(one, name) for name in fields} | {"rules": list(one.rules)} for one in entries])
        return ExitCode.CONFORMANT
    drawn = table(f"{len(entries)} vectors", "id", "level", "steps", "rules")
    for one in entries:
        drawn.add_row(one.id, one.level, str(one.steps), ", ".join(one.rules))
    stdout.print(drawn)
    return ExitCode.CONFORMANT


def _list_rules(entries: Sequence[ManifestEntry], as_json: bool) -> int:
    covered = rule_coverage(entries)
    if as_json:
        print_json(
            [
                {"rule": one.rule.id, "level": one.rule.level, "vectors": list(one.vectors), "reason": one.reason}
                for one in covered
            ]
        )
        return ExitCode.CONFORMANT
    with_vector = sum(bool(one.vectors) for one in covered)
    drawn = table(
        f"{with_vector} of {len(covered)} rules have a vector", "rule", "level", "vectors", "first, or why none"
    )
    for one in covered:
        number, first = str(len(one.vectors) or ""), one.vectors[0] if one.vectors else one.reason
        drawn.add_row(one.rule.id, one.rule.level, number, first)
    stdout.print(drawn)
    return ExitCode.CONFORMANT


@app.command()
def run(
    adapter: Adapter,
    words: Words = None,
    stops_at_first: StopAtFirst = False,
    expected_failures: Expected = None,
    profile: ProfileName = None,
    jobs: Jobs = 1,
    timeout_s: TimeoutS = 10.0,
    as_json: JsonLines = False,
    junit: Junit = None,
    folder: Folder = None,
) -> int:
    """Run the vectors on an implementation."""
    with _vector_errors():
        catalogue = Catalogue(folder)
        ids = tuple([entry.id for entry in selected(catalogue, words or ())])
        expected = read_expected_failures(expected_failures, catalogue)
        plan = Plan(adapter, ids, timeout_s, profile, jobs, stops_at_first, expected)
        return _run(plan, catalogue, as_json, junit)


@app.command()
def smoke(adapter: Adapter, timeout_s: TimeoutS = 10.0, as_json: JsonLines = False) -> int:
    """Run a few short vectors in the order in which an adapter comes to pass them, up to the first failure."""
    with _vector_errors():
        plan = Plan(adapter, SMOKE, timeout_s, stops_at_first=True)
        return _run(plan, Catalogue(), as_json, None)


@app.command()
def replay(
    name: VectorName, adapter: Adapter, profile: ProfileName = None, timeout_s: TimeoutS = 10.0, folder: Folder = None
) -> int:
    """Run one vector and show what was said: `>` to the adapter, `<` from it."""

    def watch(direction: str, line: bytes) -> None:
        stdout.print(shown(f"{direction} {line.decode('utf-8', 'replace').rstrip()}"), soft_wrap=True)

    with _vector_errors(), _ended_by_signals():
        catalogue = Catalogue(folder)
        _known(catalogue, name)
        plan = Plan(adapter, (name,), timeout_s, profile)
        outcomes = _outcomes(Campaign(plan, catalogue, watch), plan, quiet=True)
    _show(outcomes, plan)
    return exit_code(outcomes)


@app.command()
def explain(name: VectorName, folder: Folder = None, as_json: Json = False) -> int:
    """Show one vector in words: its rules, how it begins, what happens, and what must come of it."""
    with _vector_errors():
        catalogue = Catalogue(folder)
        vector = _known(catalogue, name)
        if as_json:
            print((catalogue.folder / catalogue.entries[name].file).read_text(encoding="utf-8"), end="")
            return ExitCode.CONFORMANT
    for line in explained(vector):
        stdout.print(shown(line), soft_wrap=True)
    return ExitCode.CONFORMANT


# -------------------------------------------------------------------------------------------------------------
# Inside.
# -------------------------------------------------------------------------------------------------------------


def _known(catalogue: Catalogue, name: str) -> Vector:
    try:
        return catalogue.vector(name)
    except KeyError as error:
        near = [one for one in catalogue if name in one][:3]
        hint = f"; did you mean {' or '.join(near)}?" if near else "; kraft-spec conformance list shows all of them"
        raise usage_error(f"no vector has the id {name!r}{hint}") from error


def _run(plan: Plan, catalogue: Catalogue, as_json: bool, junit: Path | None) -> int:
    with _ended_by_signals():
        outcomes = _outcomes(Campaign(plan, catalogue), plan, quiet=False)
    if junit is not None:
        write_junit(junit, outcomes, plan.command, plan.profile)
    if as_json:
        for line in json_lines(outcomes, plan.command, plan.profile):
            print(line)
    else:
        _show(outcomes, plan)
    return exit_code(outcomes)


def _outcomes(campaign: Campaign, plan: Plan, *, quiet: bool) -> tuple[Outcome, ...]:
    try:
        if quiet:
            return campaign.run()
        with progress("vectors", len(plan.ids)) as advance:
            return campaign.run(lambda outcome: advance(1, outcome.id))
    except AdapterFault as fault:
        said = f"\nstandard error: {fault.stderr.rstrip()}" if fault.stderr else ""
        unavailable = isinstance(fault, CannotStart)
        text = f"the adapter cannot be started: {fault}" if unavailable else f"no hello: {fault}"
        if isinstance(fault, OtherVersion):
            text = str(fault)
        raise CommandError(text + said, ExitCode.UNAVAILABLE if unavailable else ExitCode.BAD_INPUT) from fault


def _show(outcomes: Sequence[Outcome], plan: Plan) -> None:
    for outcome in outcomes:
        if outcome.status in FAILING:
            stdout.print(shown(f"{outcome.status.upper()} {outcome.id}"), style="bold red", soft_wrap=True)
            for line in details(outcome, plan.command, plan.profile).splitlines():
                stdout.print(shown(f"  {line}"), soft_wrap=True)
    _show_reasons(outcomes)
    counted = ", ".join(f"{number} {status}" for status, number in counts(outcomes).items())
    stdout.print(shown(f"{len(outcomes)} vectors: {counted}"), style="bold", soft_wrap=True)


def _show_reasons(outcomes: Sequence[Outcome]) -> None:
    """Why vectors neither pass nor fail, each reason once."""
    reasons: dict[tuple[Status, str], int] = {}
    for outcome in outcomes:
        if outcome.status not in (*FAILING, Status.PASS):
            reason = (outcome.status, outcome.reason)
            reasons[reason] = reasons.get(reason, 0) + 1
    for (status, text), number in reasons.items():
        stdout.print(shown(f"{status}: {number}, {text}"), soft_wrap=True)


@contextmanager
def _vector_errors() -> Iterator[None]:
    try:
        yield
    except VectorFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a SIGTERM end the run as Ctrl-C does, so that the adapter ends with it."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

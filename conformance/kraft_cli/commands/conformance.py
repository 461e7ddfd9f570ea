"""`kraft-spec conformance`: the vectors on any implementation."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands import conformance_random
from kraft_cli.commands.conformance_profiles import profiles
from kraft_cli.commands.conformance_report import (
    Folder,
    Html,
    JsonLines,
    Junit,
    Markdown,
    Sarif,
    deliver,
    matrix,
    report,
    show_outcomes,
    suite_errors,
)
from kraft_cli.commands.conformance_template import template
from kraft_cli.commands.options import Json, StopAtFirst, TimeoutS
from kraft_cli.commands.signals import ended_by_signals
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.runner.campaign import REPLY_TIMEOUT_S, Campaign, Plan
from kraft_conformance.runner.explanation import explain_vector
from kraft_conformance.runner.output.files import Target, check_targets, targets_of
from kraft_conformance.runner.output.results import results_of, suite_version
from kraft_conformance.runner.reports import exit_code, repetition
from kraft_conformance.runner.selection import read_expected_failures, select_vectors
from kraft_reference.profile import PROFILES
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.features import SUBJECTS, Subject
from kraft_vectors.manifest import ManifestEntry
from kraft_vectors.profiles import provenance, shown_profile
from kraft_vectors.rule_coverage import rule_coverage
from kraft_vectors.smoke import SMOKE_OF

app = typer.Typer(help="Run the conformance vectors on an implementation, through its adapter.", no_args_is_help=True)
app.command()(profiles)
app.command("random")(conformance_random.random)


Adapter = Annotated[
    str, typer.Option("--adapter", help="The command line of the adapter; it speaks kraft-adapter/1 on its pipes.")
]
Words = Annotated[
    list[str] | None,
    typer.Option(
        "-k", help="Only vectors of this id, rule or KIP, or with this in an id or rule; repeatable: all must fit."
    ),
]
SuiteVersion = Annotated[
    str | None, typer.Option("--suite", help="Run only if this is the suite's version, as 0.2: for CI that pins it.")
]
MustOnly = Annotated[bool, typer.Option("--must-only", help="Leave out what only a SHOULD or a MAY decides.")]
Expected = Annotated[
    Path | None, typer.Option("--expected-failures", help="A file of your own: `id  # reason` on each line.")
]
ProfileName = Annotated[
    str | None,
    typer.Option("--profile", help=f"{', '.join(PROFILES)}; default: the one that the adapter names."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=64, help="How many copies of the adapter run at a time.")]
ByRule = Annotated[bool, typer.Option("--rules", help="By rule: its vectors, or why it has none.")]
SubjectName = Annotated[
    str, typer.Option("--subject", help="What is tested: replica, or partitions (the controllers of KIP-455).")
]
VectorName = Annotated[str, typer.Argument(help="The id of a vector.")]


@app.command("list")
def list_vectors(words: Words = None, folder: Folder = None, by_rule: ByRule = False, as_json: Json = False) -> int:
    """List the vectors: what they are about, and at which level they say something."""
    with suite_errors():
        catalogue = Catalogue(folder)
        entries = select_vectors(catalogue, words or ())
    if by_rule:
        return _list_rules(entries, as_json)
    if as_json:
        fields = ("id", "level", "steps", "history")
        with suite_errors():
            needs = {entry.id: catalogue.vector(entry.id).requires for entry in entries}
        print_json(
            [
                {name: getattr(entry, name) for name in fields}
                | {"rules": list(entry.rules), "profiles": list(entry.profiles), "provenance": provenance(entry.id)}
                | {"kips": list(needs[entry.id].kips), "features": list(needs[entry.id].features)}
                for entry in entries
            ]
        )
        return ExitCode.CONFORMANT
    rows = []
    for entry in entries:
        only = "" if set(entry.profiles) >= PROFILES.keys() else " ".join(map(shown_profile, entry.profiles))
        rows.append((entry.id, entry.level, only, entry.steps, ", ".join(entry.rules)))
    show_table(f"{len(entries)} vectors", ("id", "level", "profile", "steps", "rules"), rows)
    return ExitCode.CONFORMANT


def _list_rules(entries: Sequence[ManifestEntry], as_json: bool) -> int:
    covered = rule_coverage(entries)
    if as_json:
        print_json(
            [
                {"rule": row.rule.id, "level": row.rule.level, "vectors": list(row.vectors), "reason": row.reason}
                for row in covered
            ]
        )
        return ExitCode.CONFORMANT
    with_vector = sum(bool(row.vectors) for row in covered)
    show_table(
        f"{with_vector} of {len(covered)} rules have a vector",
        ("rule", "level", "vectors", "first, or why none"),
        [(row.rule.id, row.rule.level, len(row.vectors) or "", (*row.vectors, row.reason)[0]) for row in covered],
    )
    return ExitCode.CONFORMANT


@app.command()
def run(
    adapter: Adapter,
    words: Words = None,
    stops_at_first: StopAtFirst = False,
    suite: SuiteVersion = None,
    must_only: MustOnly = False,
    expected_failures: Expected = None,
    profile: ProfileName = None,
    jobs: Jobs = 1,
    timeout_s: TimeoutS = REPLY_TIMEOUT_S,
    as_json: JsonLines = False,
    junit: Junit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    html: Html = None,
    folder: Folder = None,
) -> int:
    """Run the vectors on an implementation."""
    _check_suite(suite, folder)
    plan = Plan(adapter, (), timeout_s, profile, jobs, stops_at_first, must_only)
    targets = targets_of(junit=junit, sarif=sarif, markdown=markdown, html=html)
    return run_selected(plan, words, expected_failures, as_json, targets, folder)


@app.command()
def smoke(
    adapter: Adapter,
    subject: SubjectName = "replica",
    timeout_s: TimeoutS = REPLY_TIMEOUT_S,
    as_json: JsonLines = False,
) -> int:
    """Run a few short vectors in the order in which an adapter comes to pass them, up to the first failure."""
    with suite_errors():
        if subject not in SUBJECTS:
            raise usage_error(f"no subject {subject!r}, expected one of {', '.join(SUBJECTS)}")
        plan = Plan(adapter, SMOKE_OF[subject], timeout_s, stops_at_first=True)
        return _run(plan, Catalogue(), as_json, ())


@app.command()
def replay(
    name: VectorName,
    adapter: Adapter,
    profile: ProfileName = None,
    timeout_s: TimeoutS = REPLY_TIMEOUT_S,
    folder: Folder = None,
) -> int:
    """Run one vector and show what was said: `>` to the adapter, `<` from it."""

    def watch(direction: str, line: bytes) -> None:
        say(f"{direction} {line.decode('utf-8', 'replace').rstrip()}")

    with suite_errors(), ended_by_signals():
        catalogue = Catalogue(folder)
        _find_vector(catalogue, name)
        _check_profile(profile, catalogue)
        plan = Plan(adapter, (name,), timeout_s, profile)
        outcomes = Campaign(plan, catalogue, watch).run()
    vectors = None if folder is None else str(folder)
    custom_s = _custom(timeout_s)
    show_outcomes(outcomes, lambda outcome: repetition(plan.command, outcome.id, plan.profile, vectors, custom_s))
    return exit_code(outcomes)


@app.command()
def explain(name: VectorName, folder: Folder = None, as_json: Json = False) -> int:
    """Show one vector in words: its rules, how it begins, what happens, and what must come of it."""
    with suite_errors():
        catalogue = Catalogue(folder)
        vector = _find_vector(catalogue, name)
        if as_json:
            print((catalogue.folder / catalogue.entries[name].file).read_text(encoding="utf-8"), end="")
            return ExitCode.CONFORMANT
    for line in explain_vector(vector):
        say(line)
    return ExitCode.CONFORMANT


app.command()(template)
app.command()(report)
app.command()(matrix)

# -------------------------------------------------------------------------------------------------------------
# Helpers.
# -------------------------------------------------------------------------------------------------------------


def run_selected(
    plan: Plan,
    words: Sequence[str] | None,
    expected_failures: Path | None,
    as_json: bool,
    targets: Sequence[Target],
    folder: Path | None = None,
    subject: Subject | None = None,
) -> int:
    """Run the subject's vectors that match the words; the file adds to the plan's expected failures."""
    check_targets(targets, as_json)
    with suite_errors():
        catalogue = Catalogue(folder)
        _check_profile(plan.profile, catalogue)
        entries = [entry for entry in select_vectors(catalogue, words or ()) if subject in (None, entry.subject)]
        ids = tuple([entry.id for entry in entries])
        expected = {**plan.expected_failures, **read_expected_failures(expected_failures, catalogue)}
        return _run(replace(plan, ids=ids, expected_failures=expected), catalogue, as_json, targets)


def _find_vector(catalogue: Catalogue, name: str) -> AnyVector:
    try:
        return catalogue.vector(name)
    except KeyError as error:
        near = [id_ for id_ in catalogue if name in id_][:3]
        hint = f"; did you mean {' or '.join(near)}?" if near else "; kraft-spec conformance list shows all of them"
        raise usage_error(f"no vector has the id {name!r}{hint}") from error


def _run(plan: Plan, catalogue: Catalogue, as_json: bool, targets: Sequence[Target]) -> int:
    try:
        plan.command.encode()
    except UnicodeEncodeError as error:
        raise usage_error("the command line of the adapter is not UTF-8, as every output is") from error
    campaign = Campaign(plan, catalogue)
    with ended_by_signals(), progress("vectors", len(plan.ids)) as advance:
        outcomes = campaign.run(lambda outcome: advance(1, outcome.id))
    assert campaign.hello is not None, "nothing runs without one"
    results = results_of(campaign.hello, plan.command, plan.profile, catalogue, outcomes, _custom(plan.reply_timeout_s))
    deliver(results, as_json, targets)
    return exit_code(outcomes)


def _custom(timeout_s: float) -> float | None:
    """Return the reply timeout in seconds, if it is not the default."""
    return None if timeout_s == REPLY_TIMEOUT_S else timeout_s


def _check_suite(required: str | None, folder: Path | None) -> None:
    if required is None:
        return
    if folder is not None:
        raise usage_error("--suite names a version of the package's vectors, --vectors other ones: give one of the two")
    if required != (here := suite_version()):
        wanted = f"pip install 'kraft-spec=={required}.*'"
        raise usage_error(f"--suite {required}: this kraft-spec has the suite {here}; for another one, {wanted}")


def _check_profile(profile: str | None, catalogue: Catalogue) -> None:
    names = sorted(catalogue.profiles)
    if profile is not None and profile not in names:
        raise usage_error(f"no profile {profile!r}, expected one of {', '.join(names)}")

"""`kraft-spec findings`: defects that the checks found in the texts, each with its schedule and counterexample."""

from dataclasses import asdict
from typing import Annotated

import msgspec
import typer
from rich.markdown import Markdown

from kraft_cli.commands.options import Json, one_of
from kraft_conformance.console import print_json, progress, say, show_table, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.findings.finding import Finding, FindingError, load_findings
from kraft_kafka.findings.showing import ReplayedFinding, counterexample_file, show

Name = Annotated[str | None, typer.Argument(help="A finding to show again; without one: the list.")]


def findings(name: Name = None, as_json: Json = False) -> int:
    """List the findings, or show one: its schedule played and checked again, and TLC's recorded counterexample.

    Exit code 1 when it no longer shows what it says.
    """
    try:
        by_name = {finding.name: finding for finding in load_findings()}
    except FindingError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    if name is None:
        return _list(tuple(by_name.values()), as_json)
    finding = by_name[one_of("finding", name, by_name)]
    with progress(f"finding {name}"):
        demonstration = show(finding)
    if as_json:
        print_json(
            {
                "name": name,
                "violates": finding.violates or None,
                "schedule": finding.schedule,
                "verdict": asdict(demonstration.verdict),
                "counterexample": demonstration.counterexample,
                "problem": demonstration.problem or None,
            }
        )
    else:
        _show(demonstration)
    return ExitCode.VIOLATION if demonstration.problem else ExitCode.CONFORMANT


def _list(listed: tuple[Finding, ...], as_json: bool) -> int:
    if as_json:
        print_json([msgspec.to_builtins(finding) for finding in listed])
        return ExitCode.CONFORMANT
    show_table(
        f"{len(listed)} findings",
        ("name", "what", "where", "violates", "schedule"),
        [(it.name, it.title, it.where, it.violates or "nothing", it.schedule) for it in listed],
    )
    return ExitCode.CONFORMANT


def _show(demonstration: ReplayedFinding) -> None:
    finding = demonstration.finding
    stdout.print(f"{finding.name}: {finding.title}", style="bold", markup=False)
    for name, text in (
        ("where", finding.where),
        ("the text", finding.says),
        ("what it shows", finding.shows),
        ("here", finding.resolution),
        ("who could be hit", finding.who),
        ("how likely", finding.likelihood),
        ("workaround", finding.workaround),
        ("releases", finding.release),
        ("rules", ", ".join(finding.rules)),
    ):
        stdout.print(f"\n[bold]{name}[/bold]")
        stdout.print(Markdown(text))
    rejection = demonstration.verdict.rejection
    outcome = f"{demonstration.verdict.events} lines accepted" if rejection is None else rejection.headline()
    stdout.print(f"\n[bold]schedule[/bold] {finding.schedule}")
    say(f"  TLC: {outcome}")
    scenario, _, variant = finding.schedule.partition("/")
    words = f"kraft-spec scenario {scenario} --variant {variant} -o {finding.name}.jsonl"
    stdout.print(f"  its trace: {words}", markup=False, soft_wrap=True)
    stdout.print(f"\n[bold]TLC's counterexample[/bold] (recorded as {counterexample_file(finding).name})")
    stdout.print(demonstration.counterexample, markup=False, soft_wrap=True)
    if demonstration.problem:
        stdout.print(demonstration.problem, style="bold red", markup=False)

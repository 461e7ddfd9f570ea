"""How `kraft-spec pipeline` shows what it has done."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kraft_conformance.console import print_json, shown, stdout, table
from kraft_conformance.exit_codes import ExitCode

_GROUPS_SHOWN = 10


def show_made(made: Mapping[str, int], output: Path, as_json: bool) -> ExitCode:
    """Numbers of rows, by name."""
    if as_json:
        print_json(dict(made))
        return ExitCode.CONFORMANT
    drawn = table(f"{output}", "", "rows")
    for name, rows in made.items():
        drawn.add_row(name, f"{rows:,}")
    stdout.print(drawn)
    return ExitCode.CONFORMANT


def show_account(account: Mapping[str, int]) -> None:
    """Both sides of the account."""
    lines = (account["other_lines"], account["events"], account["lines_quarantined"])
    traces = (account["accepted"], account["rejected"], account["inconclusive"], account["traces_quarantined"])
    stdout.print(
        f"{account['lines_in']:,} lines in {account['files']:,} files = "
        f"{lines[0]:,} headers, checkpoints and end lines + {lines[1]:,} events + {lines[2]:,} in quarantine",
        markup=False,
        soft_wrap=True,
    )
    stdout.print(
        f"{account['traces_in']:,} traces = {traces[0]:,} accepted + {traces[1]:,} rejected + "
        f"{traces[2]:,} inconclusive + {traces[3]:,} in quarantine",
        markup=False,
        soft_wrap=True,
    )


def show_report(document: Mapping[str, Any], output: Path) -> None:
    """The failures, and where the report is."""
    _show_failures(document)
    if document["quarantine"]:
        drawn = table("Quarantine", "reason", "traces", "example")
        for one in document["quarantine"]:
            example = one["example"]
            place = f"{example['source']}:{example['line']}" if example["line"] else example["source"]
            drawn.add_row(one["reason"], f"{one['traces']:,}", shown(place))
        stdout.print(drawn)
    for one in document["inconclusive"]:
        stdout.print(shown(f"inconclusive: {one['traces']:,} x {one['reason']}"), soft_wrap=True)
    compared: dict[str, int] = {}
    for one in document["compared"]:
        for word, traces in one["traces"].items():
            compared[word] = compared.get(word, 0) + traces
    said = ", ".join(f"{traces:,} {word}" for word, traces in compared.items())
    stdout.print(f"compared: {said or 'no trace'}", markup=False, soft_wrap=True)
    kinds = document["coverage"]["kinds"]
    seen = ", ".join(f"{kind['seen']} of {kind['names']} {name}s" for name, kind in kinds.items())
    stdout.print(f"seen: {seen}", markup=False, soft_wrap=True)
    stdout.print(f"report: {output}/report/report.html", markup=False, soft_wrap=True)


def _show_failures(document: Mapping[str, Any]) -> None:
    failures = document["failures"]
    if failures:
        drawn = table("Rejected traces", "rule", "event", "field", "traces", "shortest example")
        for one in failures[:_GROUPS_SHOWN]:
            example = one["example"]
            place = example["source"] if example["line"] is None else f"{example['source']}:{example['line']}"
            drawn.add_row(
                one["rule"] or "",
                one["event"] or one["kind"],
                shown(one["field"] or ""),
                f"{one['traces']:,}",
                shown(place),
            )
        stdout.print(drawn)
        if document["failure_groups"] > _GROUPS_SHOWN:
            stdout.print(f"and {document['failure_groups'] - _GROUPS_SHOWN} groups more", markup=False)
    for one in document["violations"]:
        # Of a broken reference there is no command.
        example = f": {one['command']}" if one["command"] else ""
        stdout.print(shown(f"{one['traces']:,} x {one['property']} is broken{example}"), style="red", soft_wrap=True)


def show_sweep(document: Mapping[str, Any], output: Path) -> None:
    """What a sweep has come to."""
    swept, account = document["sweep"], document["account"]
    stdout.print(
        f"{swept['schedules']:,} schedules, {account['events']:,} events: {account['accepted']:,} accepted, "
        f"{account['rejected']:,} rejected, {account['inconclusive']:,} inconclusive",
        markup=False,
        soft_wrap=True,
    )
    if swept["mutant"] is not None:
        what = f"found after {swept['first']:,} schedules" if swept["first"] else "NOT found"
        stdout.print(f"mutant {swept['mutant']}: {what}", markup=False, soft_wrap=True)
    show_report(document, output)

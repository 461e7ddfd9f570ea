"""How `kraft-spec pipeline` shows what it has done."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from kraft_conformance.console import print_json, say, show_table, shown
from kraft_conformance.exit_codes import ExitCode

_GROUPS_SHOWN = 10


def show_made(made: Mapping[str, int], output: Path, as_json: bool) -> ExitCode:
    """Numbers of rows, by name."""
    if as_json:
        print_json(dict(made))
    else:
        show_table(f"{output}", ("", "rows"), [(name, f"{rows:,}") for name, rows in made.items()])
    return ExitCode.CONFORMANT


def show_account(account: Mapping[str, int]) -> None:
    """Both sides of the account."""
    lines = "{lines_in:,} lines in {files:,} files = {other_lines:,} headers, checkpoints and end lines + "
    say((lines + "{events:,} events + {lines_quarantined:,} in quarantine").format_map(account))
    traces = "{traces_in:,} traces = {accepted:,} accepted + {rejected:,} rejected + {inconclusive:,} inconclusive + "
    say((traces + "{traces_quarantined:,} in quarantine").format_map(account))


def show_report(document: Mapping[str, Any], output: Path) -> None:
    """The failures, and where the report is."""
    _show_failures(document)
    if document["quarantine"]:
        rows = [(one["reason"], f"{one['traces']:,}", _place(one["example"])) for one in document["quarantine"]]
        show_table("Quarantine", ("reason", "traces", "example"), rows)
    for one in document["inconclusive"]:
        say(f"inconclusive: {one['traces']:,} x {one['reason']}")
    compared: Counter[str] = Counter()
    for one in document["compared"]:
        compared.update(one["traces"])
    said = ", ".join(f"{traces:,} {word}" for word, traces in compared.items())
    say(f"compared: {said or 'no trace'}")
    kinds = document["coverage"]["kinds"]
    say("seen: " + ", ".join(f"{kind['seen']} of {kind['names']} {name}s" for name, kind in kinds.items()))
    say(f"report: {output}/report/report.html")


def _show_failures(document: Mapping[str, Any]) -> None:
    failures = document["failures"]
    if failures:
        rows = []
        for one in failures[:_GROUPS_SHOWN]:
            event, field = one["event"] or one["kind"], shown(one["field"] or "")
            rows.append((one["rule"] or "", event, field, f"{one['traces']:,}", _place(one["example"])))
        show_table("Rejected traces", ("rule", "event", "field", "traces", "shortest example"), rows)
        if document["failure_groups"] > _GROUPS_SHOWN:
            say(f"and {document['failure_groups'] - _GROUPS_SHOWN} groups more")
    for one in document["violations"]:
        # Of a broken reference there is no command.
        example = f": {one['command']}" if one["command"] else ""
        say(f"{one['traces']:,} x {one['property']} is broken{example}", "red")


def _place(example: Mapping[str, Any]) -> Text:
    """Where an example stands; a file without lines has no line."""
    return shown(f"{example['source']}:{example['line']}" if example["line"] else example["source"])


def show_sweep(document: Mapping[str, Any], output: Path) -> None:
    """What a sweep has come to."""
    swept, account = document["sweep"], document["account"]
    verdicts = "{accepted:,} accepted, {rejected:,} rejected, {inconclusive:,} inconclusive".format_map(account)
    say(f"{swept['schedules']:,} schedules, {account['events']:,} events: {verdicts}")
    if swept["mutant"] is not None:
        what = f"found after {swept['first']:,} schedules" if swept["first"] else "NOT found"
        say(f"mutant {swept['mutant']}: {what}")
    show_report(document, output)

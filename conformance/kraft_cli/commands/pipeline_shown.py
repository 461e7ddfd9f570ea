"""How `kraft-spec pipeline` shows what it has done."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from kraft_conformance.console import print_json, say, show_table, shown

_GROUPS_SHOWN = 10
_COLUMNS_SHOWN = 6


def show_answer(answer: Any, as_json: bool) -> None:
    """The rows of a `query.Answer`; where they have more columns than a narrow screen, a table for each row."""
    columns, rows = answer.columns, answer.rows
    if as_json:
        print_json({"columns": columns, "rows": rows, "whole": answer.is_whole})
        return
    if len(columns) > _COLUMNS_SHOWN:
        for number, row in enumerate(rows, 1):
            show_table(f"row {number}", ("column", "value"), zip(columns, map(_cell, row), strict=True))
    else:
        show_table("", columns, [map(_cell, row) for row in rows])
    say(f"{len(rows):,} rows" if answer.is_whole else f"the first {len(rows):,} rows: --rows for more")


def _cell(value: Any) -> Text:
    """A number as it is, because it may be an offset; nothing for what is null."""
    return shown("" if value is None else value)


def show_account(account: Mapping[str, int]) -> None:
    """Both sides of the account."""
    lines = "{lines_in:,} lines in {files:,} files = {other_lines:,} headers, checkpoints and end lines + "
    say((lines + "{events:,} events + {lines_quarantined:,} in quarantine").format_map(account))
    traces = "{traces_in:,} traces = {accepted:,} accepted + {rejected:,} rejected + {inconclusive:,} inconclusive + "
    say((traces + "{traces_quarantined:,} in quarantine").format_map(account))


def show_report(document: Mapping[str, Any], output: Path) -> None:
    """The failures, and where the report is."""
    if (earlier := document["earlier"]) and earlier["runs"]:
        same = f"{earlier['same']:,} of the {earlier['runs']:,} runs in {earlier['archive']} had this model and options"
        say(f"{document['account']['taken_over']:,} verdicts are those of earlier runs: {same}")
    if worse := document["regressions"]:
        _show_regressions(worse)
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


def _show_regressions(worse: Mapping[str, Any]) -> None:
    """What is worse than in an earlier run."""
    say(f"against {worse['run']}:")
    for one in worse["failures"]:
        words = filter(None, (one["rule"], one["event"] or one["kind"], one["field"]))
        say(f"  new failure in {one['traces']:,} traces: {', '.join(words)}", "red")
    for name in worse["violations"]:
        say(f"  newly broken: {name}", "red")
    for kind, names in worse["coverage"].items():
        if names:
            say(f"  {kind}s not seen any more: {', '.join(names)}", "red")
    for one in worse["throughput"]:
        say(f"  {one['stage']}: {one['now']:,.0f} events a second, {one['before']:,.0f} before")


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
        say(f"{one['traces']:,} x {one['property']} is broken: {one['command']}", "red")


def _place(example: Mapping[str, Any]) -> Text:
    """Where an example stands; a file without lines has no line."""
    return shown(f"{example['source']}:{example['line']}" if example["line"] else example["source"])


def show_sweep(document: Mapping[str, Any], output: Path) -> None:
    """What a sweep has come to."""
    account = document["account"]
    schedules = sum(account[kind] for kind in ("accepted", "rejected", "inconclusive"))
    verdicts = "{accepted:,} accepted, {rejected:,} rejected, {inconclusive:,} inconclusive".format_map(account)
    say(f"{schedules:,} schedules, {account['events']:,} events: {verdicts}")
    show_report(document, output)

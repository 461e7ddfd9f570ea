"""Output of `kraft-spec pipeline`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from kraft_conformance.console import print_json, printable, say, show_table

_GROUPS_SHOWN = 10
_COLUMNS_SHOWN = 6


def show_answer(answer: Any, as_json: bool) -> None:
    """Show the rows of a `query.Answer`, or a table for each row if it has many columns."""
    columns, rows = answer.columns, answer.rows
    if as_json:
        print_json({"columns": columns, "rows": rows, "whole": answer.is_whole})
        return
    if len(columns) > _COLUMNS_SHOWN:
        for number, row in enumerate(rows, 1):
            show_table(f"row {number}", ("column", "value"), zip(columns, map(_format_cell, row), strict=True))
    else:
        show_table("", columns, [map(_format_cell, row) for row in rows])
    say(f"{len(rows):,} rows" if answer.is_whole else f"the first {len(rows):,} rows: --rows for more")


def _format_cell(value: Any) -> Text:
    """Return a value unformatted, because a number may be an offset; empty for null."""
    return printable("" if value is None else value)


def show_schemas(schemas: Iterable[Any], as_json: bool) -> None:
    """Show tables, `schemas.TableSchema`, and their columns."""
    tables = [
        {
            "table": each.name,
            "row": each.row,
            "columns": [
                {
                    "column": column.name,
                    "type": each.spark[column.name].dataType.simpleString(),
                    "nullable": column.nullable,
                    "meaning": column.meaning,
                }
                for column in each.columns
            ],
        }
        for each in schemas
    ]
    if as_json:
        print_json(tables)
        return
    for each in tables:
        rows = [
            (column["column"], column["type"], column["meaning"] + ("; may be null" if column["nullable"] else ""))
            for column in each["columns"]
        ]
        show_table(f"{each['table']}: a row is {each['row']}", ("column", "type", "meaning"), rows)


def show_account(account: Mapping[str, int]) -> None:
    """Show both sides of the account."""
    lines = "{lines_in:,} lines in {files:,} files = {other_lines:,} headers, checkpoints and end lines + "
    say((lines + "{events:,} events + {lines_quarantined:,} in quarantine").format_map(account))
    traces = "{traces_in:,} traces = {accepted:,} accepted + {rejected:,} rejected + {inconclusive:,} inconclusive + "
    say((traces + "{traces_quarantined:,} in quarantine").format_map(account))


def show_report(document: Mapping[str, Any], output: Path) -> None:
    """Show the failures, and the path of the report."""
    if (earlier := document["earlier"]) and earlier["runs"]:
        same = f"{earlier['same']:,} of the {earlier['runs']:,} runs in {earlier['archive']} had this model and options"
        say(f"{document['account']['taken_over']:,} verdicts are those of earlier runs: {same}")
    if worse := document["regressions"]:
        _show_regressions(worse)
    _show_failures(document)
    if document["quarantine"]:
        rows = [(row["reason"], f"{row['traces']:,}", _format_place(row["example"])) for row in document["quarantine"]]
        show_table("Quarantine", ("reason", "traces", "example"), rows)
    for group in document["inconclusive"]:
        say(f"inconclusive: {group['traces']:,} x {group['reason']}")
    compared: Counter[str] = Counter()
    for extent in document["compared"]:
        compared.update(extent["traces"])
    counts = ", ".join(f"{traces:,} {word}" for word, traces in compared.items())
    say(f"compared: {counts or 'no trace'}")
    kinds = document["coverage"]["kinds"]
    say("seen: " + ", ".join(f"{kind['seen']} of {kind['names']} {name}s" for name, kind in kinds.items()))
    say(f"report: {output}/report/report.html")


def _show_regressions(worse: Mapping[str, Any]) -> None:
    say(f"against {worse['run']}:")
    for group in worse["failures"]:
        words = filter(None, (group["rule"], group["event"] or group["kind"], group["field"]))
        say(f"  new failure in {group['traces']:,} traces: {', '.join(words)}", "red")
    for name in worse["violations"]:
        say(f"  newly broken: {name}", "red")
    for kind, names in worse["coverage"].items():
        if names:
            say(f"  {kind}s not seen any more: {', '.join(names)}", "red")
    for stage in worse["throughput"]:
        say(f"  {stage['stage']}: {stage['now']:,.0f} events a second, {stage['before']:,.0f} before")


def _show_failures(document: Mapping[str, Any]) -> None:
    failures = document["failures"]
    if failures:
        rows = []
        for group in failures[:_GROUPS_SHOWN]:
            event, field = group["event"] or group["kind"], printable(group["field"] or "")
            rows.append((group["rule"] or "", event, field, f"{group['traces']:,}", _format_place(group["example"])))
        show_table("Rejected traces", ("rule", "event", "field", "traces", "shortest example"), rows)
        if document["failure_groups"] > _GROUPS_SHOWN:
            say(f"and {document['failure_groups'] - _GROUPS_SHOWN} groups more")
    for group in document["violations"]:
        say(f"{group['traces']:,} x {group['property']} is broken: {group['command']}", "red")


def _format_place(example: Mapping[str, Any]) -> Text:
    """Return the place of an example: source and line, if it has lines."""
    return printable(f"{example['source']}:{example['line']}" if example["line"] else example["source"])


def show_sweep(document: Mapping[str, Any], output: Path) -> None:
    """Show the results of a sweep."""
    account = document["account"]
    schedules = sum(account[kind] for kind in ("accepted", "rejected", "inconclusive"))
    verdicts = "{accepted:,} accepted, {rejected:,} rejected, {inconclusive:,} inconclusive".format_map(account)
    say(f"{schedules:,} schedules, {account['events']:,} events: {verdicts}")
    show_report(document, output)

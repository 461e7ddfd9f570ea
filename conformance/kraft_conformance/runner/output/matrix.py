"""Table of rules by implementations, from the results of several runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import to_builtins

from kraft_conformance.runner.output.markdown import cell, in_line
from kraft_conformance.runner.output.results import About, Results, suite_of
from kraft_conformance.runner.output.rule_table import WORST_FIRST, RuleRow, Verdict, passes_of, rule_rows
from kraft_conformance.runner.output.wording import clip
from kraft_spec.rules import Rule
from kraft_vectors.catalogue import Catalogue

SCHEMA = "kraft-conformance-matrix/1"

MARKS = {
    Verdict.FAIL: "❌",
    Verdict.PASS: "✅",
    Verdict.UNOBSERVED: "👁️",
    Verdict.UNSUPPORTED: "🚫",
    Verdict.NOT_RUN: "⏭️",
    Verdict.NO_VECTOR: "·",
}


_NAME_MAX = 60
"""Maximum length of a name from an adapter."""


class Column(NamedTuple):
    """Column of an implementation."""

    label: str
    about: About
    passes: str
    verdicts: Counter[Verdict]


class MatrixRow(NamedTuple):
    """Row of a rule."""

    rule: Rule
    cells: tuple[RuleRow, ...]
    """Cells in the order of the columns."""
    note: str
    """Title of the rule, or the reason why no profile has a vector about it."""


class Matrix(NamedTuple):
    """The table."""

    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]
    notes: tuple[str, ...]
    """Notes about results of another version of the suite."""


def matrix_of(runs: Sequence[tuple[Path, Results]]) -> Matrix:
    """Return the table of these runs; columns in their order, rows in the order of the registry."""
    by_run = [rule_rows(results) for _, results in runs]
    labels = _labels(runs)
    columns = [
        Column(label, results.about, passes_of(results), Counter(row.verdict for row in rows))
        for label, (_, results), rows in zip(labels, runs, by_run, strict=True)
    ]
    rows = []
    for cells in zip(*by_run, strict=True):
        has_vector = any(row_cell.vectors for row_cell in cells)
        why_none = "" if has_vector else cells[0].reason
        rows.append(MatrixRow(cells[0].rule, cells, why_none or cells[0].rule.title))
    notes = [(label, results.other_suite) for label, (_, results) in zip(labels, runs, strict=True)]
    return Matrix(tuple(columns), tuple(rows), tuple([f"{label}: {note}" for label, note in notes if note]))


def _labels(runs: Sequence[tuple[Path, Results]]) -> list[str]:
    """Return name and version, with profile and observability if they differ, with the file if nothing else does."""
    names = [
        f"{clip(results.about.implementation.name, _NAME_MAX)} {clip(results.about.implementation.version, _NAME_MAX)}"
        for _, results in runs
    ]
    for parts in (
        [clip(results.about.profile, _NAME_MAX) for _, results in runs],
        [results.about.observability for _, results in runs],
    ):
        if len(set(parts)) > 1:
            names = [f"{name}, {part}" for name, part in zip(names, parts, strict=True)]
    often = Counter(names)
    return [f"{name} ({path})" if often[name] > 1 else name for name, (path, _) in zip(names, runs, strict=True)]


def matrix_document(matrix: Matrix, catalogue: Catalogue) -> dict[str, Any]:
    """Return the table as a JSON document."""
    return {
        "schema": SCHEMA,
        "suite": to_builtins(suite_of(catalogue)),
        "implementations": [
            {
                "label": column.label,
                "about": to_builtins(column.about),
                "rules": {str(each): column.verdicts[each] for each in WORST_FIRST if column.verdicts[each]},
            }
            for column in matrix.columns
        ],
        "rules": [
            {
                "rule": row.rule.id,
                "level": row.rule.level,
                "cells": [
                    {
                        "status": str(row_cell.verdict),
                        "vectors": row_cell.vectors,
                        "by_status": {str(status): number for status, number in sorted(row_cell.statuses.items())},
                    }
                    for row_cell in row.cells
                ],
            }
            for row in matrix.rows
        ],
        "notes": list(matrix.notes),
    }


def matrix_markdown(matrix: Matrix) -> bytes:
    """Return the table as Markdown."""
    return "\n".join([*_markdown(matrix), ""]).encode()


def _markdown(matrix: Matrix) -> Iterator[str]:
    yield from ("# KRaft conformance by rule and implementation", "")
    for note in matrix.notes:
        yield from ("> [!WARNING]", f"> {in_line(note, 1_000)}", "")
    heads = " | ".join(cell(column.label) for column in matrix.columns)
    yield f"| rule | level | {heads} |"
    yield f"|---|---|{'---|' * len(matrix.columns)}"
    for verdict in WORST_FIRST:
        numbers = " | ".join(str(column.verdicts[verdict]) for column in matrix.columns)
        yield f"| **{MARKS[verdict]} {verdict}** | | {numbers} |"
    for row in matrix.rows:
        cells = " | ".join(f"{MARKS[row_cell.verdict]} {row_cell.words}" for row_cell in row.cells)
        yield f"| `{row.rule.id}` | {row.rule.level} | {cells} |"


def matrix_page(matrix: Matrix) -> bytes:
    """Return the table as an HTML page; needs Jinja."""
    from kraft_conformance.runner.output.page import rendered

    verdicts = [verdict for verdict in WORST_FIRST if any(column.verdicts[verdict] for column in matrix.columns)]
    return rendered("matrix.html.j2", columns=matrix.columns, rows=matrix.rows, notes=matrix.notes, verdicts=verdicts)

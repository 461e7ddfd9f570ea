"""What a command shows: results on standard output, progress on standard error."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

_WIDTH = None if sys.stdout.isatty() else 120
"""Columns of a table that goes to a file or a pipe."""

stdout = Console(highlight=False, emoji=False, width=_WIDTH)
stderr = Console(stderr=True, highlight=False, emoji=False)


def print_json(document: Any) -> None:
    """Write a document for machines: one line of JSON with sorted keys."""
    print(json.dumps(document, sort_keys=True, ensure_ascii=False, default=str))


SHOWN_MAX = 4_000
"""Characters of a text from a trace that are shown; `--json` has all of them."""


def shown(text: object, most: int = SHOWN_MAX) -> Text:
    """A text from a trace or a user: no markup, control characters made visible, a very long one shortened."""
    whole = str(text)
    visible = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in whole[:most])
    return Text(visible if len(whole) <= most else f"{visible}... and {len(whole) - most:,} characters more")


def table(title: str, *columns: str) -> Table:
    """A table as all commands draw it."""
    drawn = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    return drawn


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator["Advance"]:
    """A progress bar on standard error: plain lines where that is no terminal."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    if not stderr.is_terminal:
        stderr.print(f"{description} ...")
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task(description, total=total)

        def advance(steps: int = 1, say: str | None = None) -> None:
            bar.update(task, advance=steps, description=say or description)

        yield Advance(advance)


class Advance:
    """Moves a progress bar on."""

    def __init__(self, move: Any) -> None:
        self._move = move

    def __call__(self, steps: int = 1, say: str | None = None) -> None:
        """`steps` more are done; `say` replaces the description."""
        self._move(steps, say)

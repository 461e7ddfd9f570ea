"""Output of commands: results on standard output, progress on standard error."""

import json
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text


def _replace_closed_streams() -> None:
    """Open the null device in place of standard streams that are closed: the next file would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode))


_replace_closed_streams()
_WIDTH = None if sys.stdout.isatty() else 120
"""Columns of a table that is written to a file or a pipe."""

stdout = Console(highlight=False, emoji=False, width=_WIDTH)
stderr = Console(stderr=True, highlight=False, emoji=False)


def print_json(document: Any) -> None:
    """Print a document as one line of JSON with sorted keys."""
    print(json.dumps(document, sort_keys=True, ensure_ascii=False, default=str))


SHOWN_MAX = 4_000
"""Maximum number of displayed characters of a text from a trace; `--json` has all of them."""


def printable(text: object, most: int = SHOWN_MAX) -> Text:
    """Return a text from a trace or a user without markup, with visible control characters, clipped at `most`."""
    whole = str(text)
    visible = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in whole[:most])
    return Text(visible if len(whole) <= most else f"{visible}... and {len(whole) - most:,} characters more")


def say(text: object, style: str | None = None, console: Console = stdout) -> None:
    """Print a text as `printable` returns it.

    Only on a terminal, long lines are broken between words, except lines to be copied.
    """
    visible = printable(text)
    if console.is_terminal:
        visible = Text("\n".join(_broken(line, console.width) for line in visible.plain.split("\n")))
    console.print(visible, style=style, soft_wrap=True)


_COPIED = re.compile(r"\bkraft-spec [a-z]|[<>] \{")
"""A command, or a line of the adapter protocol."""
_LABEL = re.compile(r" *(?:\S+(?: \S+)* {2,})?(?:- )?")
"""The part of a line whose width indents the lines after a break: `  rules        `, `KIP-853:    - `, or blanks."""


def _broken(line: str, width: int) -> str:
    if len(line) <= width or _COPIED.search(line):
        return line
    label = _LABEL.match(line)
    hanging = label.end() if label and label.end() < width // 2 else 0
    wrapped = textwrap.wrap(
        line, width, subsequent_indent=" " * (hanging or 2), break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped)


def show_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table of these rows on standard output."""
    drawn = table(title, *columns)
    for row in rows:
        drawn.add_row(*[cell if isinstance(cell, Text) else str(cell) for cell in row])
    stdout.print(drawn)


def table(title: str, *columns: str) -> Table:
    """Return an empty table in the style of all commands."""
    drawn = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    return drawn


class Advance(Protocol):
    """Advances a progress bar."""

    def __call__(self, steps: int = 1, what: str | None = None) -> None:
        """Count `steps` more as done; `what` replaces the description."""


Notice = Callable[[str, int, int], None]
"""Receives the current task, the number of finished steps, and their total (0 if unknown)."""


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Advance]:
    """Show a progress bar on standard error; without a terminal, print a line now and every `STEPS_SECONDS`."""
    if not stderr.is_terminal:
        say(f"{description} ...", console=stderr)
    done, said_at = 0, time.monotonic()
    with _bar() as bar:
        task = bar.add_task(description, total=total)

        def advance(steps: int = 1, what: str | None = None) -> None:
            nonlocal done, said_at
            done += steps
            bar.update(task, completed=done, description=what or description)
            if not stderr.is_terminal and time.monotonic() >= said_at + STEPS_SECONDS:
                said_at = time.monotonic()
                line = f"{description} ... {done} of {total}" if total else f"{what or description} ..."
                say(f"{line} {done}" if done and not total else line, console=stderr)

        yield advance


STEPS_SECONDS = 30.0
"""Seconds between lines about work in steps, without a terminal."""
LINE_SECONDS = 5.0
"""Seconds between lines about work in stages; the start of a stage is printed at once."""


@contextmanager
def stage_progress() -> Iterator[Notice]:
    """Show a progress bar for work whose total is not known in advance.

    Without a terminal, print a line for each stage that begins, and every `LINE_SECONDS`.
    """
    current, said_at = "", 0.0
    with _bar(TextColumn("tasks")) as bar:
        task = bar.add_task("", total=None)

        def move(what: str, done: int, total: int) -> None:
            nonlocal current, said_at
            bar.update(task, description=what, completed=done, total=total or None)
            if not stderr.is_terminal and (what != current or time.monotonic() >= said_at + LINE_SECONDS):
                current, said_at = what, time.monotonic()
                say(f"{what} ...{f' {done} of {total} tasks' if total else ''}", console=stderr)

        yield move


def _bar(*unit: TextColumn) -> Progress:
    description = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), description, BarColumn(), MofNCompleteColumn(), *unit)
    return Progress(*columns, TimeElapsedColumn(), console=stderr, transient=True, disable=not stderr.is_terminal)

"""Tables as Markdown for the site, and drawn on a terminal."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraft_conformance.console import printable, say, show_table


class Section(NamedTuple):
    """A table and the text before it."""

    title: str
    words: tuple[str, ...] = ()
    """Lines of Markdown."""
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells are Markdown; no table if there are none."""


def page(title: str, words: Iterable[str], sections: Iterable[Section]) -> str:
    """Return a page of the site."""
    lines = [f"# {title}", "", *words]
    for section in sections:
        lines += ["", f"## {section.title}", ""]
        lines += [*section.words, ""] if section.words else []
        lines += table(section.heads, section.rows) if section.rows else []
    return "\n".join(lines).rstrip() + "\n"


def show(sections: Iterable[Section]) -> None:
    """Print the sections on a terminal."""
    for section in sections:
        if section.rows:
            show_table(section.title, section.heads, ((printable(cell) for cell in row) for row in section.rows))
        for words in section.words:
            say(words)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the cells are Markdown."""
    head = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return head + [f"| {' | '.join(map(cell, row))} |" for row in rows]


def code(text: str) -> str:
    """Return a text as code; an empty text stays empty."""
    return f"`{text}`" if text else ""


def codes(names: Iterable[str]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(map(code, names))


def cell(markdown: str) -> str:
    """Return Markdown on one line, with the table's column mark escaped."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(markdown.split()))

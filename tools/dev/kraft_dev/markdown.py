"""Tables as Markdown."""

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the cells are Markdown."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return lines


def code(text: str) -> str:
    """A text as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def _cell(markdown: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(markdown.split()))

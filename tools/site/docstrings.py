"""Docstrings, which are written with the marks of Markdown, for a reader of reStructuredText."""

import re
from collections.abc import Container, Sequence

from kraft_spec.rules.rule_ids import dotted_words

_CODE = re.compile(r"(?<![`:\w])`([^`]+)`(?![`_])")
_LITERAL = re.compile(r"(``[^`]*``)")
_LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def as_restructured_text(lines: Sequence[str], names: Container[str]) -> list[str]:
    """The lines with code as literals, tables as they stand, and lists set off.

    Args:
        lines: of a docstring, without its indentation.
        names: rule ids; they become literals too, and so links.
    """
    made: list[str] = []
    in_list = False
    for line in lines:
        if line.startswith("|"):
            if not made or not made[-1].startswith("    |"):
                made += ["", "::", ""]
            made.append(f"    {line}")
            continue
        if made and made[-1].startswith("    |") and line.strip():
            made.append("")
        if not in_list and _LIST_ITEM.match(line) and made and made[-1].strip():
            made.append("")
        in_list = bool(_LIST_ITEM.match(line)) or (in_list and line.startswith(" "))
        made.append(_with_literals(line, names))
    return made


def _with_literals(line: str, names: Container[str]) -> str:
    """Code and names as literals; a letter right after code would hide its end."""
    coded = _CODE.sub(lambda code: f"``{code.group(1).strip()}``", line)
    parts = _LITERAL.split(coded)
    for position, part in enumerate(parts):
        if position % 2:
            if parts[position + 1][:1].isalnum():
                parts[position + 1] = "\\ " + parts[position + 1]
            continue
        for word in dict.fromkeys(word for word in dotted_words(part) if word in names):
            part = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", f"``{word}``", part)
        parts[position] = part
    return "".join(parts)

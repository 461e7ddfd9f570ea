"""Docstrings, which are written with the marks of Markdown, for a reader of reStructuredText."""

import builtins
import re
from collections.abc import Container, Mapping, Sequence

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


_RAISES = re.compile(r":raises ([^:]+):(.*)")
_NAMES = re.compile(r"[\w.]+(, [\w.]+)*")


def with_raised_in_full(lines: Sequence[str], known: Mapping[str, object]) -> list[str]:
    """The fields about exceptions with their whole names, which lead to one page; an unknown name stays a sentence.

    Args:
        lines: with fields, as napoleon makes them.
        known: what the module of the docstring calls by which name.
    """
    made: list[str] = []
    for line in lines:
        field = _RAISES.fullmatch(line)
        if field is None:
            made.append(line)
        elif _NAMES.fullmatch(field.group(1)) and all(_is_known(name, known) for name in field.group(1).split(", ")):
            names = ", ".join(_whole_name(name, known) for name in field.group(1).split(", "))
            made.append(f":raises {names}:{field.group(2)}")
        else:
            made += ["", f"Raises: {field.group(1)}{':' + field.group(2) if field.group(2).strip() else ''}"]
    return made


def _is_known(name: str, known: Mapping[str, object]) -> bool:
    """Whether a name says by itself which class it is: what passes through from another module does not."""
    return "." in name or name in known or hasattr(builtins, name)


def _whole_name(name: str, known: Mapping[str, object]) -> str:
    """The name with its module, if the docstring's module knows it as a class of this project."""
    found = known.get(name)
    if isinstance(found, type) and found.__module__.startswith("kraft_"):
        return f"~{found.__module__}.{found.__qualname__}"
    return name

"""Conversion of docstrings from Markdown to reStructuredText."""

import builtins
import re
from collections.abc import Container, Mapping, Sequence

from kraft_spec.rules.rule_ids import dotted_words

_CODE = re.compile(r"(?<![`:\w])`([^`]+)`(?![`_])")
_LITERAL = re.compile(r"(``[^`]*``)")
_LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def as_restructured_text(lines: Sequence[str], names: Container[str]) -> list[str]:
    """Return the lines with code as literals, tables unchanged, and lists separated by empty lines.

    Args:
        lines: Lines of a docstring, without its indentation.
        names: Rule ids; they become literals, too, and so links.
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
    """Return a line with code and names as literals, separated from an adjacent letter."""
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


def with_raised_in_full(lines: Sequence[str], namespace: Mapping[str, object]) -> list[str]:
    """Return exception fields with full names, so that they link to a page; an unknown name stays plain text.

    Args:
        lines: Lines with fields, as napoleon makes them.
        namespace: Objects of the docstring's module, by name.
    """
    made: list[str] = []
    for line in lines:
        field = _RAISES.fullmatch(line)
        if field is None:
            made.append(line)
        elif _NAMES.fullmatch(field.group(1)) and all(
            _is_known(name, namespace) for name in field.group(1).split(", ")
        ):
            names = ", ".join(_whole_name(name, namespace) for name in field.group(1).split(", "))
            made.append(f":raises {names}:{field.group(2)}")
        else:
            made += ["", f"Raises: {field.group(1)}{':' + field.group(2) if field.group(2).strip() else ''}"]
    return made


def _is_known(name: str, namespace: Mapping[str, object]) -> bool:
    """True if a name identifies a class in the docstring's module."""
    return "." in name or name in namespace or hasattr(builtins, name)


def _whole_name(name: str, namespace: Mapping[str, object]) -> str:
    """Return the name with its module, if the docstring's module knows it as a class of this project."""
    value = namespace.get(name)
    if isinstance(value, type) and value.__module__.startswith("kraft_"):
        return f"~{value.__module__}.{value.__qualname__}"
    return name

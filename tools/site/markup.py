"""Markdown that renders prose and tables as they were written."""

import re
from collections.abc import Collection

_SPECIAL = re.compile(r"([\\`*_\[\]<>{}#|~$])")
_LIST_MARK = re.compile(r"^(\d+)([.)]) ", re.MULTILINE)
_LEADING = re.compile(r"^([-+=:(]) ?", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+")


def prose(text: str, names: Collection[str] = ()) -> str:
    """Escape text for Markdown, on one line; names that have a page become code, and so links.

    Args:
        text: Text of a catalogue.
        names: Rule ids and names of properties.
    """
    line = " ".join(text.split())
    parts: list[str] = []
    position = 0
    for word in _WORD.finditer(line):
        if word.group() in names:
            parts += [_escaped(line[position : word.start()]), f"`{word.group()}`"]
            position = word.end()
    parts.append(_escaped(line[position:]))
    return _LEADING.sub(r"\\\1 ", _LIST_MARK.sub(r"\1\\\2 ", "".join(parts)))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def sentence(text: str) -> str:
    """Return the text with a full stop, unless it already ends a sentence."""
    return text if not text or text[-1] in ".!?:" else f"{text}."


def code_block(text: str, language: str = "text") -> str:
    """Return a block of code; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}{language}", text.rstrip("\n"), fence])


def figure(diagram: str) -> str:
    """Return a diagram as a block of HTML, without empty lines, which would end it."""
    element = "\n".join(line for line in diagram.splitlines() if line.strip())
    return "\n".join(["```{raw} html", '<figure class="diagram">', element, "</figure>", "```"])


def options_as_code(text: str) -> str:
    """Return prose with option names as code, because Sphinx would turn two hyphens into a dash."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"(?<![\w-])--[a-z][\w-]*", r"`\g<0>`", part) for part in parts[::2]]
    return "".join(parts)


_CODE = re.compile(r"\\`(.+?)\\`")
_ESCAPED = re.compile(r"\\(.)")


def with_code(escaped: str) -> str:
    """Turn the text between two escaped backticks into code, without escapes."""
    return _CODE.sub(lambda code: "`" + _ESCAPED.sub(r"\1", code.group(1)) + "`", escaped)


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return `1 vector`, `2 vectors`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


_RESOLUTION = re.compile(r";? ?\b(?:Resolution(?: here)?:|[Rr]ecommended:?|Read(?: it as)?:) ?")


def split_resolution(text: str) -> tuple[str, str]:
    """Split a text into the open question and its decision; the decision is empty if there is none.

    A catalogue's recommendation is the decision.
    """
    parts = _RESOLUTION.split(text, maxsplit=1)
    if len(parts) == 1:
        return text.strip(), ""
    return sentence(parts[0].strip()), parts[1].strip()

"""Prose and tables as Markdown that renders as it was written."""

import re
from collections.abc import Collection

_SPECIAL = re.compile(r"([\\`*_\[\]<>{}#|~$])")
_LIST_MARK = re.compile(r"^(\d+)([.)]) ", re.MULTILINE)
_LEADING = re.compile(r"^([-+=:(]) ?", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+")


def prose(text: str, names: Collection[str] = ()) -> str:
    """Text that means nothing in Markdown, on one line; names that have a page become code, and so links.

    Args:
        text: as a catalogue has it.
        names: rule ids and names of properties.
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
    """The text with a full stop, if it has no end yet."""
    return text if not text or text[-1] in ".!?:" else f"{text}."


def code_block(text: str, language: str = "text") -> str:
    """A block of code; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}{language}", text.rstrip("\n"), fence])


def figure(diagram: str) -> str:
    """A diagram as a block of HTML, which a line without text would end."""
    element = "\n".join(line for line in diagram.splitlines() if line.strip())
    return "\n".join(["```{raw} html", '<figure class="diagram">', element, "</figure>", "```"])


def options_as_code(text: str) -> str:
    """Prose with names of options as code: Sphinx would make a dash of two hyphens."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"(?<![\w-])--[a-z][\w-]*", r"`\g<0>`", part) for part in parts[::2]]
    return "".join(parts)


_CODE = re.compile(r"\\`(.+?)\\`")
_ESCAPED = re.compile(r"\\(.)")


def with_code(escaped: str) -> str:
    """Make code of the text between two escaped backticks, without escapes of its own."""
    return _CODE.sub(lambda code: "`" + _ESCAPED.sub(r"\1", code.group(1)) + "`", escaped)


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 vector`, `2 vectors`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


_RESOLUTION = re.compile(r";? ?\b(?:Resolution(?: here)?:|[Rr]ecommended:?|Read(?: it as)?:) ?")


def split_resolution(text: str) -> tuple[str, str]:
    """What is open, and how it was decided; the second is empty where the text is not written in two parts.

    What a catalogue recommends is what was decided.
    """
    parts = _RESOLUTION.split(text, maxsplit=1)
    if len(parts) == 1:
        return text.strip(), ""
    return sentence(parts[0].strip()), parts[1].strip()

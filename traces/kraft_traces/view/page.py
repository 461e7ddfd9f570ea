"""One HTML file that holds everything: the document of a trace, the styles and the scripts; nothing is fetched."""

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from unicodedata import bidirectional

from kraft_traces.view.document import Document

_SCRIPTS = (
    "logs.js",
    "cluster.js",
    "wording.js",
    "sentence.js",
    "layout.js",
    "shapes.js",
    "timeline.js",
    "rules.js",
    "panels.js",
    "verdict.js",
    "find.js",
    "legend.js",
    "viewer.js",
)
"""In the order in which they stand in the page."""

SHARED_SCRIPTS = _SCRIPTS[:-1]
"""What they define is for other pages too; the last one starts the page of a trace of the quorum."""


def page_of(document: Document, title: str) -> str:
    """The page: the same document gives the same text."""
    return assembled(document, title, asset("page.css"), "\n".join(map(asset, _SCRIPTS)))


def assembled(document: Mapping[str, Any], title: str, styles: str, scripts: str) -> str:
    """The frame of a page, with what is shown in it, the styles and the scripts."""
    return Template(asset("page.html")).substitute(
        title=escape(legible(title)), styles=styles, document=_embedded(document), scripts=scripts
    )


def asset(name: str) -> str:
    """The text of a file of the folder `assets`."""
    return (files("kraft_traces.view") / "assets" / name).read_text(encoding="utf-8")


def _embedded(document: Mapping[str, Any]) -> str:
    """JSON that no part of can end the element it stands in: whatever is in a trace, it is data there."""
    text = json.dumps(_told(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _told(value: Any) -> Any:
    """The same, with texts made legible, and integers that a browser would round written as text."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {legible(name): _told(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_told(part) for part in value]
    if type(value) is int and abs(value) > _EXACT_MAX:
        return str(value)
    return value


def legible(text: str) -> str:
    """A text that changes nothing around it.

    Characters that cannot be seen are written as the command line writes them: those among them that turn the
    direction of writing would reorder the page.  A text with letters that run from right to left is isolated.
    """
    if text.isascii() and text.isprintable():
        return text
    visible = "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)
    turned = any(bidirectional(char) in _RIGHT_TO_LEFT for char in visible)
    return f"{_ISOLATE}{visible}{_END_OF_ISOLATE}" if turned else visible


_EXACT_MAX = 2**53 - 1
"""Larger integers are not exact in a browser."""

_RIGHT_TO_LEFT = frozenset(("R", "AL", "AN"))
_ISOLATE, _END_OF_ISOLATE = "\u2068", "\u2069"

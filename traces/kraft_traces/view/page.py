"""Self-contained HTML page: the document of a trace, the styles and the scripts."""

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
"""Scripts in the order of the page."""

SHARED_SCRIPTS = _SCRIPTS[:-1]
"""Scripts of all pages; the last one of `_SCRIPTS` starts the page of a trace of the quorum."""


def page_of(document: Document, title: str) -> str:
    """Return the page of a document; the same document gives the same text."""
    return assemble_page(document, title, asset("page.css"), "\n".join(map(asset, _SCRIPTS)))


def assemble_page(document: Mapping[str, Any], title: str, styles: str, scripts: str) -> str:
    """Return the page with its document, styles and scripts."""
    return Template(asset("page.html")).substitute(
        title=escape(legible(title)), styles=styles, document=_embedded(document), scripts=scripts
    )


def asset(name: str) -> str:
    """Return the text of a file of the folder `assets`."""
    return (files("kraft_traces.view") / "assets" / name).read_text(encoding="utf-8")


def _embedded(document: Mapping[str, Any]) -> str:
    """Return JSON that cannot end its HTML element, whatever is in the trace."""
    text = json.dumps(_displayable(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _displayable(value: Any) -> Any:
    """Return the value with legible texts, and with integers as text that a browser would round."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, dict):
        return {legible(name): _displayable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_displayable(part) for part in value]
    if type(value) is int and abs(value) > _EXACT_MAX:
        return str(value)
    return value


def legible(text: str) -> str:
    """Return a text that cannot change the text around it.

    Invisible characters are escaped, because some of them change the direction of writing.  A text with letters that
    run from right to left is isolated.
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

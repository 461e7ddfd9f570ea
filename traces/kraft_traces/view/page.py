"""One HTML file that holds everything: the document of a trace, the styles and the scripts; nothing is fetched."""

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from kraft_traces.view.document import Document

_SCRIPTS = ("cluster.js", "wording.js", "timeline.js", "panels.js", "viewer.js")
"""In the order in which they stand in the page."""


def page_of(document: Document, title: str) -> str:
    """The page: the same document gives the same text."""
    scripts = "\n".join(_asset(name) for name in _SCRIPTS)
    return Template(_asset("page.html")).substitute(
        title=escape(title), styles=_asset("page.css"), document=_embedded(document), scripts=scripts
    )


def _asset(name: str) -> str:
    return (files("kraft_traces.view") / "assets" / name).read_text(encoding="utf-8")


def _embedded(document: Document) -> str:
    """JSON that no part of can end the element it stands in: whatever is in a trace, it is data there."""
    text = json.dumps(_exact(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _exact(value: Any) -> Any:
    """The same, with integers that a browser would round written as text."""
    if isinstance(value, dict):
        return {name: _exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(part) for part in value]
    if type(value) is int and abs(value) > _EXACT_MAX:
        return str(value)
    return value


_EXACT_MAX = 2**53 - 1
"""Larger integers are not exact in a browser."""

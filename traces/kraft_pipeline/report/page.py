"""Self-contained HTML page of a report, made from the figures without scripts."""

import json
import math
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from kraft_pipeline.coverage import RULE

Document = dict[str, Any]

_TEMPLATE = "report.html.j2"
_SHADES = 9
_SOURCE = ("generator", "workload", "profile")


def page(document: Document) -> str:
    """Return the page as HTML."""
    text = (files("kraft_pipeline.report") / _TEMPLATE).read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({_TEMPLATE: text}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own filter is for scripts: it escapes characters that HTML would escape again.
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.filters["number"] = lambda value: "" if value is None else f"{value:,}"
    figures: Document = _all_visible(document)
    rules = figures["coverage"]["kinds"][RULE]["events"]
    most = max((max(cells) for cells in rules.values() if cells), default=0)
    html: str = environment.get_template(_TEMPLATE).render(
        report=figures,
        source_name=source_name,
        columns=short_names(figures["coverage"]["sources"]),
        rules=rules,
        shade=lambda events: _shade(events, most),
        shades=range(1, _SHADES + 1),
    )
    return html


def source_name(source: Document) -> str:
    """Return the name of a source of traces: software, workload and profile."""
    return " · ".join(source[part] for part in _SOURCE if source.get(part))


def short_names(sources: list[Document]) -> list[str]:
    """Return names of sources for columns, with only the parts that distinguish them."""
    differing = [part for part in _SOURCE if len({source.get(part) for source in sources}) > 1]
    names = [" · ".join(source[part] for part in differing if source.get(part)) for source in sources]
    return [name or source_name(source) for name, source in zip(names, sources, strict=True)]


def visible(text: str) -> str:
    """Return a text of a trace with visible control characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _all_visible(value: Any) -> Any:
    """Return the figures with visible control characters in all texts."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _all_visible(inner) for name, inner in value.items()}
    return [_all_visible(inner) for inner in value] if isinstance(value, list) else value


def _shade(events: int, most: int) -> int:
    """Return 0 for no events, else 1 to 9 by the logarithm."""
    if not events:
        return 0
    if most <= 1:
        return _SHADES
    return 1 + round((_SHADES - 1) * math.log(events) / math.log(most))

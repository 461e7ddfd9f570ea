"""The page of a report: made of the figures alone, in one file without scripts or anything to fetch."""

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
    """The page, as HTML."""
    text = (files("kraft_pipeline.report") / _TEMPLATE).read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({_TEMPLATE: text}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The one of Jinja is for scripts: it escapes what HTML escapes again.
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.filters["number"] = lambda value: "" if value is None else f"{value:,}"
    shown: Document = _all_visible(document)
    rules = shown["coverage"]["kinds"][RULE]["events"]
    most = max((max(cells) for cells in rules.values() if cells), default=0)
    drawn: str = environment.get_template(_TEMPLATE).render(
        report=shown,
        source_name=source_name,
        columns=short_names(shown["coverage"]["sources"]),
        rules=rules,
        shade=lambda events: _shade(events, most),
        shades=range(1, _SHADES + 1),
    )
    return drawn


def source_name(source: Document) -> str:
    """What wrote the traces, in a few words."""
    return " · ".join(source[part] for part in _SOURCE if source.get(part))


def short_names(sources: list[Document]) -> list[str]:
    """The same for columns: only what tells them apart."""
    differing = [part for part in _SOURCE if len({source.get(part) for source in sources}) > 1]
    names = [" · ".join(source[part] for part in differing if source.get(part)) for source in sources]
    return [name or source_name(source) for name, source in zip(names, sources, strict=True)]


def visible(text: str) -> str:
    """A text of a trace with its control characters made visible."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _all_visible(value: Any) -> Any:
    """The figures with the control characters in all their texts made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _all_visible(inner) for name, inner in value.items()}
    return [_all_visible(inner) for inner in value] if isinstance(value, list) else value


def _shade(events: int, most: int) -> int:
    """0 for never, else 1 to 9 by the logarithm."""
    if not events:
        return 0
    if most <= 1:
        return _SHADES
    return 1 + round((_SHADES - 1) * math.log(events) / math.log(most))

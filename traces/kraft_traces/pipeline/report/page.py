"""The page of a report: made of the figures alone, in one file without scripts or anything to fetch."""

import json
import math
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from kraft_traces.pipeline.coverage import RULE
from kraft_traces.pipeline.report.plots import coverage_by_kind, short_names, throughput, verdicts_by_source, visible

Document = dict[str, Any]

_TEMPLATE = "report.html.j2"
_SHADES = 9


def page(document: Document) -> str:
    """The page, as HTML."""
    text = (files("kraft_traces.pipeline.report") / _TEMPLATE).read_text(encoding="utf-8")
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
        plots={
            "verdicts": Markup(verdicts_by_source(shown)),
            "throughput": Markup(throughput(shown)),
            "coverage": Markup(coverage_by_kind(shown)),
        },
        columns=short_names(shown["coverage"]["sources"]),
        rules=rules,
        shade=lambda events: _shade(events, most),
        shades=range(1, _SHADES + 1),
    )
    return drawn


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

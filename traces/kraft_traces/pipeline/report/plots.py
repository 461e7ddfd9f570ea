"""The plots of a report, as SVG with text that can be selected; the same figures give the same bytes."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib.figure import Figure

Document = dict[str, Any]

VERDICT_COLOURS = {"accepted": "#4c9f70", "rejected": "#c8553d", "inconclusive": "#d9a441"}
"""Told apart also without red and green, by their lightness and by the legend."""

_BAR = "#3f6c9b"
_ROW_INCHES = 0.32
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kraft-spec",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
SOURCES_MAX = 40
_NAME_MAX = 60


def source_name(source: Document) -> str:
    """What wrote the traces, in a few words."""
    parts = (source["generator"], source.get("workload"), source["profile"])
    return " · ".join(part for part in parts if part)


def short_names(sources: list[Document]) -> list[str]:
    """The same for columns: only what tells them apart."""
    parts = ("generator", "workload", "profile")
    differing = [part for part in parts if len({source.get(part) for source in sources}) > 1]
    names = [" · ".join(source[part] for part in differing if source.get(part)) for source in sources]
    return [name or source_name(source) for name, source in zip(names, sources, strict=True)]


def verdicts_by_source(document: Document) -> str:
    """Bars of traces, one for each source."""
    sources = document["sources"][:SOURCES_MAX]

    def draw(axes: Any) -> None:
        left = [0] * len(sources)
        for verdict, colour in VERDICT_COLOURS.items():
            widths = [source[verdict] for source in sources]
            axes.barh(range(len(sources)), widths, left=left, color=colour, label=verdict, height=0.7)
            left = [before + width for before, width in zip(left, widths, strict=True)]
        _name_rows(axes, [source_name(source) for source in sources])
        axes.set_xlabel("traces")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)

    return _svg(draw, rows=len(sources), title="Verdicts by source")


def throughput(document: Document) -> str:
    """Bars of events a second, one for each stage that handles events."""
    stages = [stage for stage in document["throughput"] if stage["events_per_second"]]

    def draw(axes: Any) -> None:
        speeds = [stage["events_per_second"] for stage in stages]
        bars = axes.barh(range(len(stages)), speeds, color=_BAR, height=0.6)
        axes.bar_label(bars, labels=[f" {speed:,.0f}" for speed in speeds])
        _name_rows(axes, [stage["stage"] for stage in stages])
        axes.set_xlabel("events a second, by the clock")

    return _svg(draw, rows=len(stages), title="Throughput by stage")


def coverage_by_kind(document: Document) -> str:
    """Bars of what was seen and what was not, one for each kind of thing."""
    kinds = document["coverage"]["kinds"]

    def draw(axes: Any) -> None:
        seen = [kind["seen"] for kind in kinds.values()]
        never = [len(kind["never"]) for kind in kinds.values()]
        rows = range(len(kinds))
        axes.barh(rows, seen, color=_BAR, label="seen", height=0.6)
        bars = axes.barh(rows, never, left=seen, color="#d5d9de", label="never seen", height=0.6)
        shown = [f" {one} of {one + other}" for one, other in zip(seen, never, strict=True)]
        axes.bar_label(bars, labels=shown)
        _name_rows(axes, list(kinds))
        axes.set_xlabel("names")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    return _svg(draw, rows=len(kinds), title="Coverage by kind")


def _name_rows(axes: Any, names: list[str]) -> None:
    """Names beside the bars, the first one at the top; they are no formulas, whatever is in them."""
    short = [name if len(name) <= _NAME_MAX else f"{name[: _NAME_MAX - 1]}…" for name in names]
    axes.set_yticks(range(len(names)), short, parse_math=False)
    axes.invert_yaxis()


def visible(text: object) -> str:
    """A text of a trace with its control characters made visible."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def _svg(draw: Callable[[Any], None], rows: int, title: str) -> str:
    if not rows:
        return ""
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # The browser draws the letters, so a glyph that is missing here is missing only for measuring.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=(8.0, 1.2 + _ROW_INCHES * rows), layout="constrained")
        draw(figure.add_subplot())
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Title": title}, transparent=True)
    # The prolog of a file of its own does not belong into a page.
    return _HEAD.sub("", drawn.getvalue(), count=1)

"""What is worse in a run than in one before it: failures that are new, coverage that is lost, speed."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from kraft_traces.pipeline.failures import OutputError
from kraft_traces.pipeline.report import FORMAT, Document

_GROUP = ("rule", "event", "field", "kind")


class Regressions(NamedTuple):
    """The differences, the worse ones first in each."""

    new_failures: tuple[Document, ...]
    """Groups of rejected traces that the earlier run has not."""
    gone_failures: tuple[Document, ...]
    lost_coverage: tuple[str, ...]
    """As `rule vote.log-check`: seen in the earlier run alone."""
    new_coverage: tuple[str, ...]
    events_per_second: dict[str, tuple[float, float]]
    """By stage that both have timed: then, and now."""

    @property
    def is_worse(self) -> bool:
        """Speed aside, which is the machine's as well."""
        return bool(self.new_failures or self.lost_coverage)


def compare(before: Document, now: Document) -> Regressions:
    """What is different in the figures of two runs."""
    failed_before, failed_now = _by_group(before), _by_group(now)
    seen_before, seen_now = _seen(before), _seen(now)
    speed_before, speed_now = _speeds(before), _speeds(now)
    return Regressions(
        tuple(one for key, one in failed_now.items() if key not in failed_before),
        tuple(one for key, one in failed_before.items() if key not in failed_now),
        tuple(name for name in seen_before if name not in seen_now),
        tuple(name for name in seen_now if name not in seen_before),
        {stage: (then, speed_now[stage]) for stage, then in speed_before.items() if stage in speed_now},
    )


def read_figures(path: Path) -> Document:
    """The figures of a run: the report's JSON file.

    Raises:
        OutputError: it cannot be read, or is of another format.
    """
    try:
        document: Document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read: {error}") from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise OutputError(f"{path} has format {found!r}, expected {FORMAT!r}")
    return document


def _by_group(document: Document) -> dict[tuple[Any, ...], Document]:
    return {tuple(one[name] for name in _GROUP): one for one in document["failures"]}


def _seen(document: Document) -> dict[str, None]:
    """The names that some trace showed, in the order of the report."""
    kinds = document["coverage"]["kinds"]
    return {f"{kind} {name}": None for kind in kinds for name, cells in kinds[kind]["events"].items() if any(cells)}


def _speeds(document: Document) -> dict[str, float]:
    return {one["stage"]: one["events_per_second"] for one in document["throughput"] if one["events_per_second"]}

"""What many failures have in common: the rule that most of them name, and that most vectors about it are among."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.vectors.format import ManifestEntry

_ABOUT_IT = 0.5
"""What it counts that the vectors about a rule fail, against that the failures name it."""
_PLACE = re.compile(r" to \d+|\[\d+\]")


class Cause(NamedTuple):
    """A rule, and the failures that are put down to it."""

    rule: str
    failures: tuple[str, ...]
    """Ids of vectors."""
    field: str
    """In which all of them differ; empty if there is none."""
    event: str
    """In which all of them fail; empty if there is none."""

    def __str__(self) -> str:
        number = len(self.failures)
        where = f", all with {self.field}" if self.field else ""
        after = f" after {self.event}" if self.field and self.event else ""
        return f"{number} {'failure' if number == 1 else 'failures'}{where}{after}: {self.rule}"


def common_causes(outcomes: Iterable[Outcome], entries: Mapping[str, ManifestEntry]) -> tuple[Cause, ...]:
    """The failures by cause, the one with most of them first; nothing for a single failure.

    A rule counts by how early the failures name it, and by how many of the vectors about it are among them.
    """
    left = [one for one in outcomes if one.status is Status.FAIL and one.rules]
    found: list[Cause] = []
    if len(left) < 2:
        return ()
    while left:
        rule = _likeliest(left, entries)
        of_it = [one for one in left if rule in one.rules]
        fields = [dict.fromkeys(_PLACE.sub("", each.field) for each in one.differences) for one in of_it]
        shared = next((name for name in fields[0] if all(name in others for others in fields)), "")
        events = {one.event for one in of_it}
        event = (events.pop() or "") if len(events) == 1 else ""
        found.append(Cause(rule, tuple([one.id for one in of_it]), shared, event))
        left = [one for one in left if rule not in one.rules]
    return tuple(sorted(found, key=lambda cause: -len(cause.failures)))


def _likeliest(failures: Sequence[Outcome], entries: Mapping[str, ManifestEntry]) -> str:
    worth: dict[str, float] = {}
    for one in failures:
        for place, rule in enumerate(one.rules):
            worth[rule] = worth.get(rule, 0.0) + (1 - place / len(one.rules)) / len(failures)
    failed = {one.id for one in failures}
    for rule in worth:
        about = [name for name, entry in entries.items() if rule in entry.rules and not name.startswith("scenario.")]
        among = sum(name in failed for name in about)
        worth[rule] += _ABOUT_IT * among / math.sqrt(len(failed) * len(about)) if about else 0.0
    return max(worth, key=lambda rule: worth[rule])

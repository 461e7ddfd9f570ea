"""What many failures have in common: the rule that they name first."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from kraft_conformance.runner.explanation import counted
from kraft_conformance.runner.outcome import Outcome, Status

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
        where = f", {'all ' if len(self.failures) > 1 else ''}with {self.field}" if self.field else ""
        after = f" after {self.event}" if self.field and self.event else ""
        return f"{counted(len(self.failures), 'failure')}{where}{after}: {self.rule}"


def common_causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """The failures of a run by the rule that they name first, most of them first; nothing for a single failure."""
    of_rule: dict[str, list[Outcome]] = {}
    for one in outcomes:
        if one.status is Status.FAIL and one.rules:
            of_rule.setdefault(one.rules[0], []).append(one)
    if sum(map(len, of_rule.values())) < 2:
        return ()
    found = [_cause(rule, of_it) for rule, of_it in of_rule.items()]
    return tuple(sorted(found, key=lambda cause: -len(cause.failures)))


def _cause(rule: str, failures: list[Outcome]) -> Cause:
    fields = [dict.fromkeys(_PLACE.sub("", each.field) for each in one.differences) for one in failures]
    shared = next((name for name in fields[0] if all(name in others for others in fields)), "")
    events = {one.event for one in failures}
    event = (events.pop() or "") if len(events) == 1 else ""
    return Cause(rule, tuple([one.id for one in failures]), shared, event)

"""The names of all scenarios, those of the quorum and those of partitions: the list, and the nearest to a name."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from kraft_conformance.console import print_json, show_table
from kraft_conformance.failure import CommandError, usage_error
from kraft_partitions.scenarios import PARTITION_SCENARIOS
from kraft_simulation.scenarios import SCENARIOS, Scenario
from kraft_simulation.scenarios.schedule import AnyScenario

_LABEL = re.compile(r"(s\d+b?)-")
_NUMBERED = re.compile(r"(?P<kind>s?)(?P<number>\d{1,6})[a-z]?")
_NAMED_MAX = 3
_WITHIN_MIN = 3


class ScenarioRow(NamedTuple):
    """What the list says of a scenario."""

    number: int | None
    """None for a scenario of partitions, which has a label only."""
    label: str | None
    """In the lists of membership scenarios, as `s10`; None for a scenario of elections."""
    name: str
    title: str
    source: str
    rules: tuple[str, ...]
    """Ids of the rules that decide it."""
    variants: tuple[str, ...]


def scenario_rows() -> Iterator[ScenarioRow]:
    """All scenarios: those of the quorum by number, then those of partitions by label."""
    every: tuple[AnyScenario[Any, Any], ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
    for one in every:
        labelled = _LABEL.match(one.name)
        label = None if labelled is None else labelled[1]
        number = one.number if isinstance(one, Scenario) else None
        variants = tuple([variant.name for variant in one.variants])
        yield ScenarioRow(number, label, one.name, one.title, one.source, one.rules, variants)


def show_scenarios(as_json: bool) -> None:
    """Print the list, as a table or as JSON."""
    rows = list(scenario_rows())
    if as_json:
        print_json([row._asdict() for row in rows])
        return
    drawn = []
    for row in rows:
        number = row.number or (row.label or "").upper()
        drawn.append((number, row.name, row.title, ", ".join(row.rules), ", ".join(row.variants)))
    show_table(f"{len(rows)} scenarios", ("#", "name", "title", "rules that decide", "variants"), drawn)


def unknown_scenario(name: str) -> CommandError:
    """The error for a name that no scenario has: it says which ones are nearest, by number or by letters."""
    rows = list(scenario_rows())
    asked = name.strip().lower()
    near = _neighbours(asked, rows)
    if not near:
        names = [row.name for row in rows]
        within = [one for one in names if len(asked) >= _WITHIN_MIN and asked in one]
        near = list(dict.fromkeys((*get_close_matches(asked, names, n=_NAMED_MAX), *within)))[:_NAMED_MAX]
    hint = f"did you mean {' or '.join(near)}?" if near else "kraft-spec scenario lists them"
    return usage_error(f"no scenario {name!r}; {hint}")


def _neighbours(asked: str, rows: list[ScenarioRow]) -> list[str]:
    """The scenarios before and after a number or label that nobody has; none for what is neither."""
    numbered = _NUMBERED.fullmatch(asked)
    if numbered is None:
        return []
    known: dict[int, str] = {}
    for row in rows:
        label = _NUMBERED.fullmatch(row.label or "")
        number = row.number if not numbered["kind"] else None if label is None else int(label["number"])
        if number is not None:
            known.setdefault(number, row.name)
    wanted = int(numbered["number"])
    before = [number for number in known if number <= wanted]
    after = [number for number in known if number > wanted]
    return [known[number] for number in (*sorted(before)[-1:], *sorted(after)[:1])]

"""Names of all scenarios of the quorum and of partitions: the list, and near matches of a name."""

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
    """Row of the scenario list."""

    number: int | None
    """None for a scenario of partitions, which has a label only."""
    label: str | None
    """Label of a membership or partition scenario, such as `s10`; None for a scenario of elections."""
    name: str
    title: str
    source: str
    rules: tuple[str, ...]
    """Ids of the deciding rules."""
    variants: tuple[str, ...]


def scenario_rows() -> Iterator[ScenarioRow]:
    """Yield all scenarios: those of the quorum by number, then those of partitions by label."""
    every: tuple[AnyScenario[Any, Any], ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
    for scenario in every:
        labelled = _LABEL.match(scenario.name)
        label = None if labelled is None else labelled[1]
        number = scenario.number if isinstance(scenario, Scenario) else None
        variants = tuple([variant.name for variant in scenario.variants])
        yield ScenarioRow(number, label, scenario.name, scenario.title, scenario.source, scenario.rules, variants)


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
    """Return the error for an unknown name, with the nearest scenarios by number or by letters."""
    rows = list(scenario_rows())
    wanted = name.strip().lower()
    near = _find_neighbours(wanted, rows)
    if not near:
        names = [row.name for row in rows]
        within = [known_name for known_name in names if len(wanted) >= _WITHIN_MIN and wanted in known_name]
        near = list(dict.fromkeys((*get_close_matches(wanted, names, n=_NAMED_MAX), *within)))[:_NAMED_MAX]
    hint = f"did you mean {' or '.join(near)}?" if near else "kraft-spec scenario lists them"
    return usage_error(f"no scenario {name!r}; {hint}")


def _find_neighbours(wanted_name: str, rows: list[ScenarioRow]) -> list[str]:
    """Return the scenarios before and after an unknown number or label; none for other names."""
    numbered = _NUMBERED.fullmatch(wanted_name)
    if numbered is None:
        return []
    by_number: dict[int, str] = {}
    for row in rows:
        label = _NUMBERED.fullmatch(row.label or "")
        number = row.number if not numbered["kind"] else None if label is None else int(label["number"])
        if number is not None:
            by_number.setdefault(number, row.name)
    wanted = int(numbered["number"])
    before = [number for number in by_number if number <= wanted]
    after = [number for number in by_number if number > wanted]
    return [by_number[number] for number in (*sorted(before)[-1:], *sorted(after)[:1])]

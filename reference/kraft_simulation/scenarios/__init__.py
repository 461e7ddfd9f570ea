"""The named scenarios: schedules from the KIPs, each with the outcome that the rules require."""

import re
from importlib import import_module
from operator import attrgetter
from pkgutil import walk_packages

from kraft_simulation.scenarios.scenario import Scenario, ScenarioRun, Variant, run
from kraft_simulation.scenarios.schedule import ScenarioFailure

_MODULES = [import_module(package.name) for package in walk_packages(__path__, f"{__name__}.")]

SCENARIOS: tuple[Scenario, ...] = tuple(
    sorted((scenario for module in _MODULES for scenario in getattr(module, "SCENARIOS", ())), key=attrgetter("number"))
)
"""All scenarios of the modules here, by number."""


_LISTED_ID = re.compile(r"[sS]\d+b?")


def scenario(name: str) -> Scenario:
    """Return the scenario with this name, or with this id of the membership list (`s10`, `S7b`).

    Raises:
        KeyError: there is no such scenario.
    """
    for listed in SCENARIOS:
        if listed.name == name or (_LISTED_ID.fullmatch(name) and listed.name.startswith(f"{name.lower()}-")):
            return listed
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(listed.name for listed in SCENARIOS)}")


__all__ = ["SCENARIOS", "Scenario", "ScenarioFailure", "ScenarioRun", "Variant", "run", "scenario"]

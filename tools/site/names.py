"""Scenarios for the pages, and attributes by name."""

from typing import Any

from kraft_partitions.scenarios import PARTITION_SCENARIOS, PartitionScenario
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.scenarios.scenario import Scenario

AnyScenario = Scenario | PartitionScenario

ALL_SCENARIOS: tuple[AnyScenario, ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
"""Quorum scenarios by number, then partition scenarios by label."""


def attributes(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of an object by name; blanks separate the names."""
    return {name: getattr(thing, name) for name in names.split()}

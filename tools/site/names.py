"""Scenarios of the pages, and attributes by name."""

from typing import Any

from kraft_partitions.scenarios import PARTITION_SCENARIOS, PartitionScenario
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.scenarios.scenario import Scenario

AnyScenario = Scenario | PartitionScenario

ALL_SCENARIOS: tuple[AnyScenario, ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
"""Those of the quorum by number, then those of partitions by label."""


def attributes(thing: object, names: str) -> dict[str, Any]:
    """Return some attributes of a thing; blanks separate their names."""
    return {name: getattr(thing, name) for name in names.split()}

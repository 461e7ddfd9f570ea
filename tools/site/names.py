"""How scenarios are called on the pages."""

from kraft_reference.partitions.scenarios import PARTITION_SCENARIOS, PartitionScenario
from kraft_reference.scenarios import SCENARIOS
from kraft_reference.scenarios.scenario import Scenario

AnyScenario = Scenario | PartitionScenario

ALL_SCENARIOS: tuple[AnyScenario, ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
"""Those of the quorum by number, then those of partitions by label."""


def scenario_label(scenario: AnyScenario) -> str:
    """Its number, or the label of a scenario of partitions: `7`, `S25`."""
    return str(scenario.number) if isinstance(scenario, Scenario) else scenario.label.upper()


def scenario_source(scenario: AnyScenario) -> str:
    """The text that it comes from."""
    return scenario.source if isinstance(scenario, Scenario) else "KIP-455"

"""How scenarios are called on the pages."""

from kraft_partitions.scenarios import PARTITION_SCENARIOS, PartitionScenario
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.scenarios.scenario import Scenario

AnyScenario = Scenario | PartitionScenario

ALL_SCENARIOS: tuple[AnyScenario, ...] = (*SCENARIOS, *PARTITION_SCENARIOS)
"""Those of the quorum by number, then those of partitions by label."""

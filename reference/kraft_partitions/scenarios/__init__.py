"""The scenarios S25 to S29: KIP-455 as schedules, with R, I, AR and RR after every step."""

from kraft_partitions.scenarios import cancelling, normal, old_znode, replacing, shrinking
from kraft_partitions.scenarios.scenario import (
    PartitionScenario,
    PartitionScenarioRun,
    PartitionVariant,
    run,
)

PARTITION_SCENARIOS: tuple[PartitionScenario, ...] = tuple(
    scenario for module in (normal, cancelling, replacing, shrinking, old_znode) for scenario in module.SCENARIOS
)
"""All of them by number."""


def partition_scenario(name: str) -> PartitionScenario:
    """Return the scenario with a name or number (`s25-normal`, `S25`).

    Raises:
        KeyError: No scenario has it.
    """
    for scenario in PARTITION_SCENARIOS:
        if name in (scenario.name, scenario.number, scenario.number.lower()):
            return scenario
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(scenario.name for scenario in PARTITION_SCENARIOS)}")


__all__ = [
    "PARTITION_SCENARIOS",
    "PartitionScenario",
    "PartitionScenarioRun",
    "PartitionVariant",
    "partition_scenario",
    "run",
]

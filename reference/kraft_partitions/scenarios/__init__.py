"""The scenarios S25 to S29: KIP-455 as schedules, with R, I, AR and RR after every step."""

from kraft_partitions.scenarios import cancelling, normal, old_znode, replacing, shrinking
from kraft_partitions.scenarios.scenario import (
    PartitionScenario,
    PartitionScenarioRun,
    PartitionVariant,
    run,
)

PARTITION_SCENARIOS: tuple[PartitionScenario, ...] = tuple(
    one for module in (normal, cancelling, replacing, shrinking, old_znode) for one in module.SCENARIOS
)
"""All of them by number."""


def partition_scenario(name: str) -> PartitionScenario:
    """The scenario with this name or number (`s25-normal`, `S25`).

    Raises:
        KeyError: there is none.
    """
    for one in PARTITION_SCENARIOS:
        if name in (one.name, one.number, one.number.lower()):
            return one
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(one.name for one in PARTITION_SCENARIOS)}")


__all__ = [
    "PARTITION_SCENARIOS",
    "PartitionScenario",
    "PartitionScenarioRun",
    "PartitionVariant",
    "partition_scenario",
    "run",
]

"""The named election scenarios: schedules from the KIPs, each with the outcome that the rules demand."""

from kraft_reference.scenarios import disk_loss, late_messages, leadership, membership, partitions, upgrade, watermarks
from kraft_reference.scenarios.director import ScenarioFailure
from kraft_reference.scenarios.scenario import Scenario, ScenarioRun, Variant, run

_GROUPS = (disk_loss, late_messages, leadership, membership, partitions, upgrade, watermarks)

SCENARIOS: tuple[Scenario, ...] = tuple(
    sorted((one for group in _GROUPS for one in group.SCENARIOS), key=lambda one: one.number)
)
"""All scenarios by number."""


def scenario(name: str) -> Scenario:
    """The scenario with this name.

    Raises:
        KeyError: there is none.
    """
    for one in SCENARIOS:
        if one.name == name:
            return one
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(one.name for one in SCENARIOS)}")


__all__ = ["SCENARIOS", "Scenario", "ScenarioFailure", "ScenarioRun", "Variant", "run", "scenario"]

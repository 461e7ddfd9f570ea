"""The named scenarios: schedules from the KIPs, each with the outcome that the rules demand."""

import re

from kraft_reference.scenarios import (
    check_quorum,
    disk_loss,
    full_omission,
    hand_over,
    heard_in_vain,
    late_messages,
    new_voter,
    observer_ahead,
    partitioned_follower,
    ping_pong,
    removed_leader_blocks,
    removed_voter,
    resigned_leader,
    scenario_a,
    scenario_b,
    unsynced_candidate,
    upgrade,
    watermarks,
    zombie_leader,
)
from kraft_reference.scenarios.membership import (
    announcement,
    bootstrap,
    catch_up,
    directory_ids,
    disk_failure,
    effective_sets,
    growing,
    joining,
    leader_fails,
    leader_removal,
    moving,
    node_failure,
    open_votes,
    own_vote,
    reassignment,
    reassignment_cancelled,
    reassignment_leader_fails,
    reassignment_votes,
    single_change_bug,
    snapshots,
    two_changes,
    upgrade_to_one,
)
from kraft_reference.scenarios.scenario import Scenario, ScenarioRun, Variant, run
from kraft_reference.scenarios.schedule import ScenarioFailure

_MODULES = (
    check_quorum,
    disk_loss,
    full_omission,
    hand_over,
    heard_in_vain,
    late_messages,
    new_voter,
    observer_ahead,
    partitioned_follower,
    ping_pong,
    removed_leader_blocks,
    removed_voter,
    resigned_leader,
    scenario_a,
    scenario_b,
    unsynced_candidate,
    upgrade,
    watermarks,
    zombie_leader,
    announcement,
    bootstrap,
    catch_up,
    directory_ids,
    disk_failure,
    effective_sets,
    growing,
    joining,
    leader_fails,
    leader_removal,
    moving,
    node_failure,
    open_votes,
    own_vote,
    reassignment,
    reassignment_cancelled,
    reassignment_leader_fails,
    reassignment_votes,
    single_change_bug,
    snapshots,
    two_changes,
    upgrade_to_one,
)

SCENARIOS: tuple[Scenario, ...] = tuple(
    sorted((one for module in _MODULES for one in module.SCENARIOS), key=lambda one: one.number)
)
"""All scenarios by number."""


_LISTED_ID = re.compile(r"[sS]\d+b?")


def scenario(name: str) -> Scenario:
    """The scenario with this name, or with this id of the membership list (`s10`, `S7b`).

    Raises:
        KeyError: there is none.
    """
    for one in SCENARIOS:
        if one.name == name or (_LISTED_ID.fullmatch(name) and one.name.startswith(f"{name.lower()}-")):
            return one
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(one.name for one in SCENARIOS)}")


__all__ = ["SCENARIOS", "Scenario", "ScenarioFailure", "ScenarioRun", "Variant", "run", "scenario"]

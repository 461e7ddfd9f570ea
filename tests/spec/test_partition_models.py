"""Checks of partition reassignment: each property is checked, and each safety rule has a check that needs it."""

import re

from kraft_mutants import omittable_partition_rules
from kraft_spec.models import CHECKS, model_directory
from kraft_spec.rules import load_registry

MINE = [check for check in CHECKS if check.configuration.module == "MCPartitionReassignment"]
BROKEN = [check.name for check in MINE if check.violates]


def test_every_safety_rule_is_switched_off_in_one_check() -> None:
    safety = {rule.id for rule in load_registry() if rule.safety and rule.id.startswith("partition-reassign.")}
    assert set(omittable_partition_rules()) == safety
    assert {f"partition-reassign.{name.removeprefix('partition-')}" for name in BROKEN} >= safety


def test_every_property_is_checked_where_nothing_is_broken() -> None:
    text = (model_directory() / "PartitionProperties.tla").read_text(encoding="utf-8")
    stated = set(re.findall(r"^([A-Z]\w{3,}) ==", text, flags=re.MULTILINE)) - {"InProgress"}
    whole = [check for check in MINE if not check.violates]
    held = {name for check in whole for name in (*check.configuration.checked, *check.configuration.replaces.values())}
    assert stated <= held
    for name in ("InSyncNeverBelow", "CancelRestores", "EventuallyCompletes", "ListsAreConsistent"):
        assert name in stated

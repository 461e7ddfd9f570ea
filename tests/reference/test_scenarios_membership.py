"""Membership scenarios S1 to S24: complete, and driven by real requests."""

import re

import pytest

from kraft_mutants.playing import play
from kraft_reference import replication
from kraft_reference.events import (
    AddVoter,
    AlterPartitionReassignments,
    AppendVoters,
    RemoveVoter,
    UpdateFeatures,
    event_name,
)
from kraft_reference.log import Log, truncate
from kraft_simulation.scenarios import SCENARIOS, Scenario, scenario
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import cluster

MEMBERSHIP = [scenario for scenario in SCENARIOS if re.match(r"s\d+b?-", scenario.name)]
REASSIGNING = {f"s{n}" for n in range(20, 25)}
"""Scenarios of KIP-642."""


def test_every_scenario_of_the_text_exists() -> None:
    labels = [scenario.name.partition("-")[0] for scenario in MEMBERSHIP]
    assert len(set(labels)) == len(labels)
    assert set(labels) == {f"s{n}" for n in range(1, 25)} | {"s2b", "s6b", "s7b"}
    for entry, label in zip(MEMBERSHIP, labels, strict=True):
        text = "KIP-642" if label in REASSIGNING else "KIP-853"
        assert re.match(rf"{text}, {label.replace('s', 'S')}\b", entry.source), entry.name


def test_parts_of_a_scenario_are_separate() -> None:
    for name, parts in {"s5-directory-id-checked": "abc", "s14-votes-without-membership": "ab"}.items():
        names = {variant.name for variant in scenario(name).variants}
        assert {f"{side}-{part}" for part in parts for side in ("right", "wrong")} <= names
    names = {variant.name for variant in scenario("s15-leader-fails-during-add").variants}
    assert {"right-a", "right-b", "right-c"} == names
    names = {variant.name for variant in scenario("s21-reassignment-cancelled").variants}
    assert {f"right-{part}" for part in "abcd"} | {f"wrong-{part}" for part in "abc"} == names


@pytest.mark.parametrize("scenario", MEMBERSHIP, ids=lambda scenario: scenario.name)
def test_right_has_every_rule_in_force_and_wrong_has_not(scenario: Scenario) -> None:
    for variant in scenario.variants:
        without = set(variant.mutants)
        if variant.name.startswith("right"):
            assert (without, variant.violates) == (set(), ())
        else:
            assert variant.name.startswith("wrong")
            assert without <= set(scenario.rules)
            assert without or scenario.name == "s2b-lists-differ", "an assumption, for which there is no switch"


def test_changes_are_made_by_requests() -> None:
    """A script appends a voter set directly only where no request can, and states the reason."""
    bare = set()
    changes: set[str] = set()
    for entry in MEMBERSHIP:
        for variant in entry.variants:
            events = [occurrence.event for occurrence in play(entry, variant).occurrences]
            if any(isinstance(event, AppendVoters) for event in events):
                bare.add(f"{entry.name}/{variant.name}")
            kinds = (AddVoter, RemoveVoter, UpdateFeatures, AlterPartitionReassignments)
            changes |= {event_name(event) for event in events if isinstance(event, kinds)}
    assert changes == {"AddVoter", "RemoveVoter", "UpdateFeatures", "AlterPartitionReassignments"}
    assert bare == {
        "s3-automatic-joining/wrong",
        "s11-two-changes/right-two-in-one",
        "s11-two-changes/wrong-two-in-one",
        "s16-announced-to-new-voter/right-other-key",
        "s16-announced-to-new-voter/right-other-key-kafka-4",
    }


# ---------------------------------------------------------------------------------------------------------
# The watch.
# ---------------------------------------------------------------------------------------------------------


def keeps_sets(log: Log, end_offset: int) -> Log:
    """Keep the set of a truncated record in force."""
    cut = truncate(log, end_offset)
    return cut._replace(voters=(*cut.voters[:-1], cut.voters[-1]._replace(voters=log.voters[-1].voters)))


def test_a_set_that_is_not_the_newest_of_the_log_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replication, "truncate", keeps_sets)
    director = Director("a/test", cluster(3))
    start(director, 1, 1, end_offset=10)
    director.cut(1, 2, 3)
    director.remove_voter(1, 3)
    director.fetch_timeout(2)
    director.fetch_timeout(3)
    director.lose(3)
    director.pre_vote(2, 3, "granted")
    director.vote(2, 3, "granted")
    director.lose(2)
    director.heal(1, 2, 3)
    director.begin_quorum_epoch(2, 1)
    assert director.watch.violated == {}
    director.fetch(1, 2)
    assert director.watch.violated == {"ConfigFollowsLog": director.occurrences[-1].sequence}

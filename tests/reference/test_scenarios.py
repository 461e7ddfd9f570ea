"""Named scenarios: complete, deterministic, and each with exactly the outcome that it states."""

from dataclasses import replace

import pytest

from kraft_mutants import omittable_rules
from kraft_mutants.playing import play
from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.outcome import Refusal
from kraft_reference.profile import PROFILES
from kraft_reference.roles import Role
from kraft_reference.state import new_replica
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios import SCENARIOS, Scenario, ScenarioFailure, Variant, scenario
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.notation import differs, notation
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import cluster
from kraft_spec.rules import PROPERTIES, load_registry

VARIANTS = [
    pytest.param(scenario, variant, id=f"{scenario.name}-{variant.name}")
    for scenario in SCENARIOS
    for variant in scenario.variants
]


@pytest.mark.parametrize(("scenario", "variant"), VARIANTS)
def test_a_variant_runs_with_its_outcome_twice_the_same(scenario: Scenario, variant: Variant) -> None:
    first, second = play(scenario, variant), play(scenario, variant)
    assert first.occurrences == second.occurrences
    assert first.states == second.states
    assert tuple(sorted(first.violated)) == variant.violates
    # The occurrences form a whole trace.
    occurrences = first.occurrences
    assert [occurrence.sequence for occurrence in occurrences] == list(range(1, len(occurrences) + 1))
    times = [occurrence.time_ms for occurrence in occurrences]
    assert times == sorted(times)
    not_events = {Refusal.NOT_RUNNING, Refusal.RUNNING, Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE}
    assert not not_events & {occurrence.refusal for occurrence in occurrences}


def test_numbers_and_names_are_complete_and_unique() -> None:
    assert [entry.number for entry in SCENARIOS] == list(range(1, len(SCENARIOS) + 1))
    assert len({entry.name for entry in SCENARIOS}) == len(SCENARIOS) == 52
    for entry in SCENARIOS:
        names = [variant.name for variant in entry.variants]
        assert len(set(names)) == len(names)
        assert names[0] == ("with-the-rule" if entry.number <= 20 else next(n for n in names if n.startswith("right")))
        assert scenario(entry.name) is entry
        assert all(entry.variant(name).name == name for name in names)


def test_rules_and_properties_and_profiles_exist() -> None:
    registry = load_registry()
    for entry in SCENARIOS:
        named = {*entry.rules, *(rule for variant in entry.variants for rule in variant.mutants)}
        assert named <= set(registry.by_id), entry.name
        for variant in entry.variants:
            assert set(variant.violates) <= {*PROPERTIES, "RoleChange"}, variant.name
            profile = variant.configuration.profile
            if profile.name in PROFILES:
                assert PROFILES[profile.name] is profile, "a trace names its profile"
            else:
                assert replace(profile, name="kip") not in PROFILES.values(), "a trace states its answers"


FOUND_WRONG = {
    "leader-heard-in-vain/five-voters",
    "observer-ahead-of-the-leader/observer",
    "removed-leader-blocks/two-voters",
    "removed-leader-blocks/observer-has-it",
}
"""Findings about the rules themselves: properties violated with every rule in force."""

ASSUMPTION_BROKEN = {"s2b-lists-differ/wrong"}
"""Assumptions without a protection in the protocol, so that there is no rule to omit."""


def test_nothing_is_violated_while_every_rule_is_in_force() -> None:
    for entry in SCENARIOS:
        for variant in entry.variants:
            configuration = variant.configuration
            pre_vote = any(replica.pre_vote == "supported" for replica in configuration.replicas.values())
            uuids = all(voter.directory_id for voter in configuration.voters)
            if not variant.mutants and configuration.profile.name == "kip" and pre_vote and uuids:
                name = f"{entry.name}/{variant.name}"
                assert (variant.violates == ()) is (name not in FOUND_WRONG | ASSUMPTION_BROKEN), name


def test_every_experiment_is_used_by_a_scenario() -> None:
    switches = set(omittable_rules())
    used = {rule for scenario in SCENARIOS for variant in scenario.variants for rule in variant.mutants}
    assert used <= switches
    assert switches - used <= {"hw.own-epoch"}, "no scenario of the texts is about it"


# ---------------------------------------------------------------------------------------------------------
# A faulty reference makes a scenario fail, with a readable message.


def test_a_follower_that_grants_pre_votes_is_detected() -> None:
    partitioned = scenario("partitioned-follower")
    variant = replace(partitioned.variants[0], mutants=("prevote.follower.rejects-after-fetch",))
    with pytest.raises(ScenarioFailure) as caught:
        play(partitioned, variant)
    assert str(caught.value) == (
        'scenario partitioned-follower/with-the-rule, step "3. heal; N3\'s next request is delivered to N1 and N2": '
        "the answer of N2 to N3: expected refused, actual granted (after occurrence 73)"
    )


def test_a_rule_switched_off_fails_the_script_of_the_rule() -> None:
    """Scripts are strict enough to fail without their rule."""
    tried = 0
    for entry in SCENARIOS:
        for variant in entry.variants[1:]:
            with_rule = _with_the_rule(entry, variant)
            # Findings about the rules themselves omit no rule.
            found_wrong = f"{entry.name}/{variant.name}" in FOUND_WRONG
            same_cluster = _same_cluster(variant.configuration, with_rule.configuration)
            wrong_story = bool(variant.violates) or variant.name.startswith("wrong")
            if wrong_story and same_cluster and not found_wrong:
                wrong = replace(variant, script=with_rule.script, violates=with_rule.violates)
                with pytest.raises(ScenarioFailure):
                    play(entry, wrong)
                tried += 1
    assert tried > 30


def _with_the_rule(scenario: Scenario, variant: Variant) -> Variant:
    """Return the variant of the same story with the rule: `right-b` for `wrong-b`, else the first."""
    names = {each.name for each in scenario.variants}
    right_name = variant.name.replace("wrong", "right", 1)
    return scenario.variant(right_name) if right_name != variant.name and right_name in names else scenario.variants[0]


def _same_cluster(left: Configuration, other: Configuration) -> bool:
    formatted = [
        {(replica.key, replica.initial_voters) for replica in configuration.replicas.values()}
        for configuration in (left, other)
    ]
    return formatted[0] == formatted[1] and (left.voters, left.kraft_version) == (other.voters, other.kraft_version)


def test_an_unstated_violation_fails_a_variant() -> None:
    late = scenario("late-pre-vote-grant")
    variant = late.variant("without-correlation")
    unstated = replace(variant, violates=())
    with pytest.raises(ScenarioFailure, match=r"the violated properties: expected \(\), actual \('ElectionSafety'"):
        play(late, unstated)


# ---------------------------------------------------------------------------------------------------------
# The director.
# ---------------------------------------------------------------------------------------------------------


def director(size: int = 3) -> Director:
    return Director("a/test", cluster(size))


def last(director: Director) -> Occurrence:
    return director.occurrences[-1]


def test_an_event_that_cannot_happen_fails() -> None:
    simulated = director()
    simulated.step("a Follower's timer at an Unattached replica")
    with pytest.raises(ScenarioFailure, match="N1: expected FetchTimeout happens, actual NOT_IN_ROLE"):
        simulated.fetch_timeout(1)
    with pytest.raises(ScenarioFailure, match=r"the network: expected a possible move, actual no message 9\.1"):
        simulated.deliver("9.1")
    with pytest.raises(ScenarioFailure, match="N1: expected Restart happens, actual RUNNING"):
        simulated.restart(1)


def test_a_message_over_a_cut_link_is_lost_at_once() -> None:
    simulated = director()
    simulated.cut(1, 2, 3)
    simulated.election_timeout(1)
    simulated.poll(1)
    assert [type(occurrence.event).__name__ for occurrence in simulated.occurrences[-3:]] == [
        "Poll",
        "DropMessage",
        "DropMessage",
    ]
    assert not simulated.world.in_flight


def test_a_request_that_is_not_due_fails() -> None:
    simulated = director()
    simulated.cut_one_way(1, 2)
    simulated.election_timeout(1)
    with pytest.raises(ScenarioFailure, match="N1: expected a VoteRequest on its way to N2, actual none"):
        simulated.pre_vote(1, 2, "granted")


def test_a_timer_fires_at_its_deadline() -> None:
    simulated = director()
    start(simulated, 1, 1)
    started_ms = max(occurrence.time_ms for occurrence in simulated.occurrences if occurrence.replica_id == 2)
    simulated.fetch_timeout(2)
    assert last(simulated).time_ms == started_ms + cluster(3).timeouts.fetch_timeout_ms


@pytest.mark.parametrize("epoch", [1, 2, 7])
@pytest.mark.parametrize("leader", [1, 3])
def test_the_start_reaches_exactly_the_situation(leader: int, epoch: int) -> None:
    simulated = director(4)
    start(simulated, leader, epoch, end_offset=9)
    for replica_id in simulated.ids():
        state = simulated.state(replica_id)
        assert notation(state, with_vote=False) == (f"L({epoch})" if replica_id == leader else f"F({epoch},{leader})")
        assert (state.log.end_offset, state.high_watermark) == (9, 9)


def test_a_false_loop_fails() -> None:
    simulated = director()
    start(simulated, 1, 1)
    with pytest.raises(ScenarioFailure, match="the loop"):
        simulated.lasso(lambda: simulated.append(1), "CommitProgress")
    with pytest.raises(ScenarioFailure, match="the epochs grow in the loop"):
        simulated.lasso(lambda: None, "CommitProgress", epochs_grow=True)
    assert simulated.shown == set()


def test_the_notation() -> None:
    key = ReplicaKey(1, "U1")
    state = new_replica(key, Snapshot(0, 0, 1, frozenset((key,))))
    assert differs("stopped", state) is None
    follower = state._replace(role=Role.FOLLOWER, epoch=4, leader_id=2, voted_key=ReplicaKey(3))
    assert notation(follower) == "F(4,2,voted=3)"
    assert differs("F(4,2)", follower) is None
    assert differs("F(4)", follower) == "F(4,2)"
    assert differs("F(4,2,voted=none)", follower) == "F(4,2,voted=3)"
    with pytest.raises(ValueError, match="is not a role"):
        differs("Follower", follower)

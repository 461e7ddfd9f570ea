"""The named scenarios: complete, deterministic, and each with exactly the outcome that it states."""

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
    pytest.param(one, variant, id=f"{one.name}-{variant.name}") for one in SCENARIOS for variant in one.variants
]


@pytest.mark.parametrize(("one", "variant"), VARIANTS)
def test_a_variant_runs_with_its_outcome_twice_the_same(one: Scenario, variant: Variant) -> None:
    first, second = play(one, variant), play(one, variant)
    assert first.occurrences == second.occurrences
    assert first.states == second.states
    assert tuple(sorted(first.violated)) == variant.violates
    # A whole trace.
    occurrences = first.occurrences
    assert [occurrence.sequence for occurrence in occurrences] == list(range(1, len(occurrences) + 1))
    times = [occurrence.time_ms for occurrence in occurrences]
    assert times == sorted(times)
    not_events = {Refusal.NOT_RUNNING, Refusal.RUNNING, Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE}
    assert not not_events & {occurrence.refusal for occurrence in occurrences}


def test_numbers_and_names_are_complete_and_unique() -> None:
    assert [one.number for one in SCENARIOS] == list(range(1, len(SCENARIOS) + 1))
    assert len({one.name for one in SCENARIOS}) == len(SCENARIOS) == 52
    for one in SCENARIOS:
        names = [variant.name for variant in one.variants]
        assert len(set(names)) == len(names)
        assert names[0] == ("with-the-rule" if one.number <= 20 else next(n for n in names if n.startswith("right")))
        assert scenario(one.name) is one
        assert all(one.variant(name).name == name for name in names)


def test_rules_and_properties_and_profiles_exist() -> None:
    registry = load_registry()
    for one in SCENARIOS:
        named = {*one.rules, *(rule for variant in one.variants for rule in variant.mutants)}
        assert named <= set(registry.by_id), one.name
        for variant in one.variants:
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
"""Findings about the rules themselves: they are violated with every rule in force."""

ASSUMPTION_BROKEN = {"s2b-lists-differ/wrong"}
"""What the protocol has no guard against, so that there is no rule to switch off."""


def test_nothing_is_violated_while_every_rule_is_in_force() -> None:
    for one in SCENARIOS:
        for variant in one.variants:
            configuration = variant.configuration
            pre_vote = any(replica.pre_vote == "supported" for replica in configuration.replicas.values())
            uuids = all(voter.directory_id for voter in configuration.voters)
            if not variant.mutants and configuration.profile.name == "kip" and pre_vote and uuids:
                name = f"{one.name}/{variant.name}"
                assert (variant.violates == ()) is (name not in FOUND_WRONG | ASSUMPTION_BROKEN), name


def test_every_experiment_is_used_by_a_scenario() -> None:
    switches = set(omittable_rules())
    used = {rule for one in SCENARIOS for variant in one.variants for rule in variant.mutants}
    assert used <= switches
    assert switches - used <= {"hw.own-epoch"}, "no scenario of the texts is about it"


# ---------------------------------------------------------------------------------------------------------
# A reference that is wrong makes a scenario fail, and readably.
# ---------------------------------------------------------------------------------------------------------


def test_a_follower_that_grants_pre_votes_is_found() -> None:
    one = scenario("partitioned-follower")
    variant = replace(one.variants[0], mutants=("prevote.follower.rejects-after-fetch",))
    with pytest.raises(ScenarioFailure) as caught:
        play(one, variant)
    assert str(caught.value) == (
        'scenario partitioned-follower/with-the-rule, step "3. heal; N3\'s next request is delivered to N1 and N2": '
        "the answer of N2 to N3: expected refused, actual granted (after occurrence 73)"
    )


def test_a_rule_switched_off_fails_the_script_of_the_rule() -> None:
    """The scripts are not so loose that they hold without their rule."""
    tried = 0
    for one in SCENARIOS:
        for variant in one.variants[1:]:
            with_rule = _with_the_rule(one, variant)
            # In what was found wrong with the rules themselves, none is switched off.
            found_wrong = f"{one.name}/{variant.name}" in FOUND_WRONG
            same_cluster = _same_cluster(variant.configuration, with_rule.configuration)
            wrong_story = bool(variant.violates) or variant.name.startswith("wrong")
            if wrong_story and same_cluster and not found_wrong:
                wrong = replace(variant, script=with_rule.script, violates=with_rule.violates)
                with pytest.raises(ScenarioFailure):
                    play(one, wrong)
                tried += 1
    assert tried > 30


def _with_the_rule(one: Scenario, variant: Variant) -> Variant:
    """The variant that tells the same story with the rule: `right-b` for `wrong-b`, else the first."""
    names = {each.name for each in one.variants}
    told = variant.name.replace("wrong", "right", 1)
    return one.variant(told) if told != variant.name and told in names else one.variants[0]


def _same_cluster(one: Configuration, other: Configuration) -> bool:
    formatted = [
        {(replica.key, replica.initial_voters) for replica in configuration.replicas.values()}
        for configuration in (one, other)
    ]
    return formatted[0] == formatted[1] and (one.voters, one.kraft_version) == (other.voters, other.kraft_version)


def test_an_unstated_violation_fails_a_variant() -> None:
    one = scenario("late-pre-vote-grant")
    variant = one.variant("without-correlation")
    unstated = replace(variant, violates=())
    with pytest.raises(ScenarioFailure, match=r"the violated properties: expected \(\), actual \('ElectionSafety'"):
        play(one, unstated)


# ---------------------------------------------------------------------------------------------------------
# The director.
# ---------------------------------------------------------------------------------------------------------


def director(size: int = 3) -> Director:
    return Director("a/test", cluster(size))


def last(one: Director) -> Occurrence:
    return one.occurrences[-1]


def test_an_event_that_cannot_happen_fails() -> None:
    one = director()
    one.step("a Follower's timer at an Unattached replica")
    with pytest.raises(ScenarioFailure, match="N1: expected FetchTimeout happens, actual NOT_IN_ROLE"):
        one.fetch_timeout(1)
    with pytest.raises(ScenarioFailure, match=r"the network: expected a possible move, actual no message 9\.1"):
        one.deliver("9.1")
    with pytest.raises(ScenarioFailure, match="N1: expected Restart happens, actual RUNNING"):
        one.restart(1)


def test_a_message_over_a_cut_link_is_lost_at_once() -> None:
    one = director()
    one.cut(1, 2, 3)
    one.election_timeout(1)
    one.poll(1)
    assert [type(occurrence.event).__name__ for occurrence in one.occurrences[-3:]] == [
        "Poll",
        "DropMessage",
        "DropMessage",
    ]
    assert not one.world.in_flight


def test_a_request_that_is_not_due_fails() -> None:
    one = director()
    one.cut_one_way(1, 2)
    one.election_timeout(1)
    with pytest.raises(ScenarioFailure, match="N1: expected a VoteRequest on its way to N2, actual none"):
        one.pre_vote(1, 2, "granted")


def test_a_timer_fires_at_its_deadline() -> None:
    one = director()
    start(one, 1, 1)
    started_ms = max(occurrence.time_ms for occurrence in one.occurrences if occurrence.replica_id == 2)
    one.fetch_timeout(2)
    assert last(one).time_ms == started_ms + cluster(3).timeouts.fetch_timeout_ms


@pytest.mark.parametrize("epoch", [1, 2, 7])
@pytest.mark.parametrize("leader", [1, 3])
def test_the_start_reaches_exactly_the_situation(leader: int, epoch: int) -> None:
    one = director(4)
    start(one, leader, epoch, end_offset=9)
    for replica_id in one.ids():
        state = one.state(replica_id)
        assert notation(state, with_vote=False) == (f"L({epoch})" if replica_id == leader else f"F({epoch},{leader})")
        assert (state.log.end_offset, state.high_watermark) == (9, 9)


def test_a_loop_that_is_none_fails() -> None:
    one = director()
    start(one, 1, 1)
    with pytest.raises(ScenarioFailure, match="the loop"):
        one.lasso(lambda: one.append(1), "CommitProgress")
    with pytest.raises(ScenarioFailure, match="the epochs grow in the loop"):
        one.lasso(lambda: None, "CommitProgress", epochs_grow=True)
    assert one.shown == set()


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

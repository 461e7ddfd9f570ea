"""Bounded liveness properties: their premises and exceptions; `matrix checks` has a mutant for each."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_mutants import load_catalogue
from kraft_mutants.catalogue import reference_edits
from kraft_mutants.replicas import edited_replicas
from kraft_reference.events import ElectionTimeout, FetchTimeout, Poll, PollFetch, Restart
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_simulation.lasting import LastingFaults, draw_lasting_faults, lasting_faults_in
from kraft_simulation.liveness import zombie_bounded
from kraft_simulation.liveness.progress import EventuallyFetching
from kraft_simulation.liveness.remaining import Remaining, SetLeft, remaining_of
from kraft_simulation.liveness.standing import Leadership, Standing
from kraft_simulation.occurrence import CutLink, HealLink
from kraft_simulation.plan import RunPlan, configuration_of
from kraft_simulation.simulation import Simulation
from kraft_simulation.workload import WORKLOADS, Faults, Workload
from kraft_simulation.world import World

SEEDS = st.integers(min_value=0, max_value=2**64 - 1)
LASTING = sorted(
    name for name, preset in WORKLOADS.items() if preset.faults.stays_cut_chance + preset.faults.stays_down_chance
)

Links = set[tuple[int, int]]


def both_ways(*pairs: tuple[int, int]) -> Links:
    return {*pairs, *((other, source) for source, other in pairs)}


def ended(simulation: Simulation) -> Simulation:
    for _ in simulation.run():
        pass
    return simulation


# ---------------------------------------------------------------------------------------------------------
# Lasting faults leave a connected majority.


def test_some_workloads_keep_faults() -> None:
    assert LASTING == ["islands", "mixed-versions", "partitions"]
    # A replica without Pre-Vote and without links would depose every leader; see `Faults.stays_cut_chance`.
    assert not any(WORKLOADS[name].old_software and WORKLOADS[name].faults.stays_cut_chance for name in WORKLOADS)


@given(seed=SEEDS, voters=st.integers(1, 7))
def test_a_connected_majority_remains(seed: int, voters: int) -> None:
    world = World(configuration_of(WORKLOADS["islands"], seed, voters))
    lasting = draw_lasting_faults(seed, Faults(stays_cut_chance=1.0, stays_down_chance=0.5), world)
    remaining = remaining_of(world, lasting.cuts, lasting.stopped)
    assert remaining.connected_majority() is not None
    assert not remaining.led_in_vain()
    assert not draw_lasting_faults(seed, Faults(), world)


def test_lasting_faults_have_many_shapes() -> None:
    """Lasting faults include stopped replicas, one-way cuts, isolated replicas, and none at all."""
    shapes = {"nothing": 0, "stopped": 0, "one way": 0, "no link": 0, "leader outside": 0}
    for seed in range(60):
        simulation = RunPlan(seed, 3, 200, "islands").simulation()
        leaders: set[int] = set()
        for _ in simulation.run():
            if simulation.healed_at_ms is None:
                replicas = simulation.world.replicas.items()
                leaders = {number for number, replica in replicas if replica.state.role is Role.LEADER}
        lasting = simulation.lasting
        assert lasting is not None
        replica_ids = set(simulation.world.replicas)
        alone = {
            number
            for number in replica_ids
            if both_ways(*((number, other) for other in replica_ids - {number})) <= lasting.cuts
        }
        shapes["nothing"] += not lasting
        shapes["stopped"] += bool(lasting.stopped)
        shapes["one way"] += any((destination, source) not in lasting.cuts for source, destination in lasting.cuts)
        shapes["no link"] += bool(alone)
        shapes["leader outside"] += bool(alone & leaders)
    assert all(shapes.values()), shapes


@pytest.mark.parametrize("workload", LASTING)
def test_lasting_faults_are_not_healed(workload: str) -> None:
    kept = 0
    for seed in range(10):
        simulation = RunPlan(seed, 3, 300, workload).simulation(keeps_schedule=True)
        mended = [occurrence for occurrence in simulation.run() if simulation.healed_at_ms is not None]
        lasting = simulation.lasting
        assert lasting is not None
        assert lasting_faults_in(simulation.schedule) == lasting
        assert simulation.world.cuts == lasting.cuts
        assert lasting.cuts.isdisjoint(
            (occurrence.event.source, occurrence.event.destination)
            for occurrence in mended
            if isinstance(occurrence.event, HealLink)
        )
        assert not any(
            isinstance(occurrence.event, Restart) and occurrence.replica_id in lasting.stopped for occurrence in mended
        )
        stopped = {n for n, replica in simulation.world.replicas.items() if replica.state.role is Role.STOPPED}
        assert stopped == lasting.stopped
        # In a trace these are ordinary events.
        assert {
            (e.source, e.destination) for occurrence in mended if isinstance(e := occurrence.event, CutLink)
        } <= lasting.cuts
        kept += bool(lasting)
    assert kept


# ---------------------------------------------------------------------------------------------------------
# Premises.
# ---------------------------------------------------------------------------------------------------------


def topology(voters: int, cuts: Links, stopped: frozenset[int] = frozenset()) -> Remaining:
    running = frozenset(range(1, voters + 1)) - stopped
    return Remaining(sets=(SetLeft(running, voters),), running=running, cuts=frozenset(cuts))


@pytest.mark.parametrize(
    ("remaining", "majority"),
    [
        (topology(3, set()), {1, 2}),
        (topology(3, {(1, 2)}), {1, 3}),
        (topology(3, {(1, 2), (3, 1)}), {2, 3}),
        (topology(3, {(1, 2), (3, 1), (2, 3)}), None),
        (topology(3, set(), frozenset({1, 3})), None),
        (topology(4, set(), frozenset({1, 3})), None),
        (topology(5, both_ways((1, 2), (1, 3), (1, 4))), {2, 3, 4}),
        # Every replica is linked to two others: no three are linked to each other.
        (topology(5, both_ways((1, 3), (1, 4), (2, 4), (2, 5), (3, 5))), None),
        (topology(1, set()), {1}),
    ],
)
def test_a_majority_is_connected_when_each_is_linked_to_each(remaining: Remaining, majority: set[int] | None) -> None:
    connected = remaining.connected_majority()
    assert (None if connected is None else set(connected)) == majority


IN_VAIN = {(1, 2), (1, 3), *both_ways((1, 5), (2, 5), (3, 5), (4, 5))}
"""Only 4 receives from 1, which receives from 2, 3 and 4; 5 is isolated."""


def test_a_leader_that_receives_from_a_majority_and_reaches_none_leads_in_vain() -> None:
    assert topology(5, IN_VAIN).connected_majority() == frozenset({2, 3, 4})
    assert topology(5, IN_VAIN).led_in_vain() == {1}
    assert topology(5, IN_VAIN | {(2, 1), (3, 1)}).led_in_vain() == set()
    assert topology(5, IN_VAIN - {(1, 2)}).led_in_vain() == set()
    # No replica receives the leader's responses, so none refuses Pre-Votes because of them.
    assert topology(5, IN_VAIN | {(1, 4)}).led_in_vain() == set()
    assert topology(3, {(1, 2)}).led_in_vain() == set()


def after_calm(seed: int, voters: int, lasting_for: Callable[[int], LastingFaults]) -> Simulation:
    """Return a calm run whose lasting faults depend on the leader at the end of its safety phase."""
    preset = WORKLOADS["calm"]
    configuration = configuration_of(preset, seed, voters)
    calm = ended(Simulation(configuration, seed, Workload(), Faults(), steps=200))
    (leader,) = (number for number, replica in calm.world.replicas.items() if replica.state.role is Role.LEADER)
    return ended(Simulation(configuration, seed, Workload(), Faults(), steps=200, lasting=lasting_for(leader)))


def _led_in_vain_by(leader: int) -> LastingFaults:
    """Return the topology of `IN_VAIN` with this leader as 1."""
    renamed = {1: leader, leader: 1}
    return LastingFaults(frozenset((renamed.get(a, a), renamed.get(b, b)) for a, b in IN_VAIN))


def test_a_leader_whose_answers_get_lost_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """EventualLeader needs its second premise: such a leader keeps its leadership, and no other replica can win."""
    excepted = after_calm(1, 5, _led_in_vain_by)
    assert excepted.violation is None
    assert excepted.progress_at_ms is None
    monkeypatch.setattr(Remaining, "led_in_vain", lambda _: frozenset())
    violation = after_calm(1, 5, _led_in_vain_by).violation
    assert violation is not None
    assert violation.property_name == "EventualLeader"


def test_an_answer_of_an_older_epoch_must_not_restart_the_fetch_timer() -> None:
    """The leader loses its disk and has only itself as bootstrap server: it responds to every Fetch in epoch 0."""
    preset = WORKLOADS["one-server"]
    faults = replace(preset.faults, replace_disk_chance=0.4, downtime_ms_max=1500)
    broken = load_catalogue()["older-fetch-response-restarts-the-fetch-timer"]
    violations = {}
    for make_replica in (Replica, edited_replicas(reference_edits(broken))):
        configuration = configuration_of(replace(preset, faults=faults), seed=5, voters=3)
        run = Simulation(configuration, 5, preset.workload, faults, steps=400, make_replica=make_replica)
        violations[make_replica] = ended(run).violation
    right, wrong = violations.values()
    assert right is None
    assert wrong is not None
    assert wrong.property_name == "EventualLeader"


def test_voters_that_refuse_each_other_for_ever_have_no_leader() -> None:
    """Simulated runs are not checked for NoPingPong, because violating it violates EventualLeader."""
    broken = load_catalogue()["pre-vote-wants-a-longer-log"]
    plan = RunPlan(0, steps=150, workload="calm")
    violation = ended(plan.simulation(make_replica=edited_replicas(reference_edits(broken)))).violation
    assert violation is not None
    assert violation.property_name == "EventualLeader"


@pytest.mark.parametrize("stopped", [{1, 2}, {2, 3}, {1, 2, 3}])
def test_without_a_majority_no_leader_is_promised_and_none_stays(stopped: set[int]) -> None:
    simulation = after_calm(1, 3, lambda _: LastingFaults(stopped=frozenset(stopped)))
    assert simulation.violation is None
    assert simulation.progress_at_ms is None
    assert all(replica.state.role is not Role.LEADER for replica in simulation.world.replicas.values())


@pytest.mark.parametrize("stopped", [1, 2, 3])
def test_a_lost_minority_is_survived(stopped: int) -> None:
    simulation = after_calm(1, 3, lambda _: LastingFaults(stopped=frozenset({stopped})))
    assert simulation.violation is None
    assert simulation.progress_at_ms is not None


def _cut_off(leader: int) -> LastingFaults:
    return LastingFaults(frozenset(both_ways(*((leader, other) for other in {1, 2, 3} - {leader}))))


def test_the_wait_lasts_until_a_lost_leader_has_resigned() -> None:
    simulation = after_calm(1, 3, _cut_off)
    assert simulation.violation is None
    assert simulation.lasting is not None
    (lost,) = set.intersection(*(set(link) for link in simulation.lasting.cuts))
    assert simulation.world.state(lost).role is not Role.LEADER
    assert simulation.progress_at_ms is not None
    assert simulation.healed_at_ms is not None
    # A check-quorum period less the time since the last Fetch; the next leader was elected long before.
    assert simulation.progress_at_ms - simulation.healed_at_ms >= 2500


def test_a_bound_below_the_check_quorum_period_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zombie_bounded, "BOUND_TIMEOUTS", 2)
    violation = after_calm(1, 3, _cut_off).violation
    assert violation is not None
    assert violation.property_name == "ZombieBounded"


def test_an_observer_ahead_of_the_leader_is_excepted() -> None:
    """EventuallyFetching needs its last premise: an observer that learned a lost candidate's epoch stays behind."""
    world = World(configuration_of(WORKLOADS["islands"], 1, 3))

    def exchange(*pairs: tuple[int, int]) -> None:
        ways = both_ways(*pairs)
        while names := [name for name, sent in world.messages() if (sent.source, sent.destination) in ways]:
            world.deliver(names[0])

    world.happen(1, ElectionTimeout())
    for _ in range(4):
        world.happen(1, Poll())
        exchange((1, 2), (1, 3))
    world.happen(3, FetchTimeout())
    world.happen(3, Poll())
    exchange((2, 3))
    world.happen(4, PollFetch(3))
    exchange((3, 4))
    assert [world.state(replica).role for replica in (1, 3, 4)] == [Role.LEADER, Role.CANDIDATE, Role.UNATTACHED]
    lost = both_ways((1, 3), (2, 3), (3, 4))
    remaining = remaining_of(world, lost, ())
    standing = Standing(world, remaining)
    assert standing.leadership == (1, 1)
    world.happen(2, PollFetch(1))
    exchange((1, 2))
    for _ in range(5):
        world.happen(4, PollFetch(1))
        exchange((1, 4))
        assert (world.state(4).role, world.state(4).epoch) == (Role.UNATTACHED, 2)
    fetching = EventuallyFetching(remaining, standing, world)
    assert fetching.owing(Leadership(1, 1)) == [2]
    assert fetching.owing(Leadership(1, 2)) == [2, 4]

"""Properties of the simulated cluster, each on one event; `matrix checks` has a mutant that each detects."""

from kraft_reference.effects import Send, StartTimer
from kraft_reference.events import ElectionTimeout, PollFetch, RequestTimeout
from kraft_simulation.asking import EverybodyIsAsked
from kraft_simulation.invariants import Invariants
from kraft_simulation.plan import RunPlan
from kraft_simulation.world import World


def started() -> World:
    """Return voters that look for a leader, with two other bootstrap servers each."""
    return World(RunPlan(seed=1, workload="calm").configuration())


def test_a_replica_that_asks_only_one_server_is_detected() -> None:
    world = started()
    check = EverybodyIsAsked(world.configuration)
    searches = (world.happen(1, event) for _ in range(40) for event in (PollFetch(2), RequestTimeout(2)))
    violation = next(filter(None, map(check.observe, searches)))
    assert violation.property_name == "EverybodyIsAsked"
    assert violation.message.endswith("none of them to bootstrap server 3")


def test_an_effect_out_of_order_is_detected() -> None:
    world = started()
    invariants = Invariants(world.configuration, {replica: world.state(replica) for replica in world.replicas})
    (sent,) = world.happen(2, PollFetch(1)).effects
    occurrence = world.happen(1, ElectionTimeout())
    late = occurrence._replace(effects=(*occurrence.effects, sent))
    assert [type(effect) for effect in late.effects] == [StartTimer, Send]
    violation, *_ = invariants.observe(late)
    assert violation.message == "Send comes too late among the effects"

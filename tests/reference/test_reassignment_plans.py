"""From any voters to any others: the steps of a healthy cluster are KIP-642's, whichever the leader chooses."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.builders import assignment, established, key, keys, log_of

from kraft_reference.identity import ReplicaKey
from kraft_reference.quorum_reassignment import next_steps, reassignment_sets
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.membership.reassigning import committed, elected, led
from kraft_reference.scenarios.opening import observe, start
from kraft_reference.scenarios.scenario import cluster as scenario_cluster
from kraft_reference.scenarios.scenario import without_list
from kraft_spec.proofs.kip642 import kip642_plan

IDS = frozenset(range(1, 7))
SETS = st.frozensets(st.integers(1, 6), min_size=1)
Sets = list[frozenset[int]]


def plan(current: frozenset[int], target: frozenset[int], leader: int) -> Sets:
    """The sets of `kip642_plan`, as ids."""
    sets = kip642_plan(keys(*current), keys(*target), key(leader))
    return [frozenset([voter.id for voter in one]) for one in sets]


def is_sound(sets: Sets, target: frozenset[int]) -> None:
    """One voter a step from the beginning to the target, none in vain, no set smaller or larger than it must be."""
    begin = sets[0]
    assert sets[-1] == target
    assert all(len(one ^ other) == 1 for one, other in pairwise(sets))
    assert len(sets) - 1 == len(begin ^ target)
    sizes = [len(one) for one in sets]
    assert min(sizes) == min(len(begin), len(target))
    assert max(sizes) <= max(len(begin), len(target)) + 1


def in_plan_order(chosen: list[ReplicaKey], adds: bool) -> list[int]:
    """The ids among which a step chooses, as `kip642_plan` prefers them."""
    return sorted((one.id for one in chosen), reverse=not adds)


@given(current=SETS, target=SETS, data=st.data())
def test_the_steps_of_any_leader_lead_to_the_target(
    current: frozenset[int], target: frozenset[int], data: st.DataObject
) -> None:
    """Without messages: what `next_steps` allows, and nothing else, whoever leads and whatever is chosen."""
    leader = data.draw(st.sampled_from(sorted(current)), "leader")
    by_plan = data.draw(st.booleans(), "as in the plan")
    expected = plan(current, target, leader)
    sets = [current]
    for _ in range(20):
        voters = sets[-1]
        record = assignment(3, *voters, target=target)
        offsets = {key(other): 2 for other in IDS - {leader}}
        state = established(4, leader, log=log_of(voters=keys(*current), more=(record,)), fetch_offsets=offsets)
        steps = next_steps(state)
        assert steps, "a healthy cluster is never stuck"
        if steps == frozenset((None,)):
            if voters == target:
                break
            assert voters - target == {leader}
            leader = data.draw(st.sampled_from(sorted(voters - {leader})), "next leader")
            continue
        keyed = [one for one in steps if one is not None]
        adds = keyed[0].id not in voters
        ids = in_plan_order(keyed, adds)
        chosen = ids[0] if by_plan else data.draw(st.sampled_from(ids), "chosen")
        sets.append(voters | {chosen} if adds else voters - {chosen})
    is_sound(sets, target)
    if by_plan:
        assert sets == expected
    assert len(sets) == len(expected)


# ---------------------------------------------------------------------------------------------------------
# With every message.
# ---------------------------------------------------------------------------------------------------------


def opened(current: frozenset[int], leader: int) -> Director:
    """A cluster in which `leader` leads these voters and the other ones of six observe."""
    d = Director("a/plan", scenario_cluster(6, sorted(current), formatted=without_list(*(IDS - current))))
    if len(current) > 1:
        start(d, leader, 1)
    else:
        d.election_timeout(leader)
        observe(d, leader, *sorted(IDS - current))
    return d


def driven(d: Director, leader: int, target: frozenset[int]) -> int:
    """Every step that is due, until none is; the last leader."""
    for _ in range(40):
        state = d.state(leader)
        steps = next_steps(state)
        if not steps:
            return leader
        keyed = [one for one in steps if one is not None]
        if not keyed and {voter.id for voter in state.voters} != target:
            leader = handed_over(d, leader)
            continue
        adds = bool(keyed) and keyed[0] not in state.voters
        chosen = in_plan_order(keyed, adds)[0] if keyed else None
        d.advance(leader, chosen)
        if adds and chosen is not None:
            d.learn_versions(leader, chosen)
            d.begin_quorum_epoch(leader, chosen)
        commit(d, leader)
    raise AssertionError("the steps come to no end")


def commit(d: Director, leader: int) -> None:
    """The last record is committed by exactly a majority."""
    state = d.state(leader)
    committed(d, leader, state.log.end_offset - 1, len(state.voters) // 2 + 1)


def handed_over(d: Director, leader: int) -> int:
    """The first of the preferred candidates leads, with the old leader's vote only where it takes that."""
    d.advance(leader)
    preferred = [one.id for one in d.state(leader).preferred_candidates]
    for voter in preferred:
        d.end_quorum_epoch(leader, voter)
    new, majority = preferred[0], (len(preferred) + 1) // 2 + 1
    elected(d, new, *[*preferred[1:], leader][: majority - 1])
    led(d, new, d.state(new).log.end_offset - 1, majority)
    return new


@given(current=SETS, target=SETS, data=st.data())
def test_a_healthy_cluster_gets_there_as_planned(
    current: frozenset[int], target: frozenset[int], data: st.DataObject
) -> None:
    leader = data.draw(st.sampled_from(sorted(current)), "leader")
    d = opened(current, leader)
    request = d.reassign(leader, *sorted(target))
    if len(current) == 1:
        observe(d, leader, *sorted(IDS - current))
    else:
        commit(d, leader)
    d.answered(request, "NONE")
    last = driven(d, leader, target)
    state = d.state(last)
    records = [record for record in state.log.records if record.kind is RecordKind.VOTER_ASSIGNMENT]
    sets = [frozenset([voter.id for voter in record.voters]) for record in records]
    # The target is written beside the first set, and cleared beside the last one.
    assert sets[1:-1] == plan(current, target, leader)[1:]
    assert (sets[0], sets[-1]) == (current, target)
    assert [record.target for record in records] == [target] * (len(records) - 1) + [None]
    is_sound(sets[:-1], target)
    assert (d.answers, d.watch.violated) == ({request: "NONE"}, {})
    assert all(d.state(one).log.records == state.log.records for one in IDS)
    assert [one for one in IDS if d.state(one).role is Role.LEADER] == [last]
    assert reassignment_sets(state.voters, target).retained == target

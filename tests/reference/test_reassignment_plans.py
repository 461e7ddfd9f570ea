"""Plans between any two voter sets: the steps are KIP-642's, whatever the leader chooses."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.builders import assignment, established, key, keys, log_of

from kraft_proofs.kip642 import kip642_plan
from kraft_reference.identity import ReplicaKey
from kraft_reference.quorum_reassignment import next_steps

IDS = frozenset(range(1, 7))
SETS = st.frozensets(st.integers(1, 6), min_size=1)
Sets = list[frozenset[int]]


def plan(current: frozenset[int], target: frozenset[int], leader: int) -> Sets:
    """Return the sets of `kip642_plan`, as ids."""
    sets = kip642_plan(keys(*current), keys(*target), key(leader))
    return [frozenset([voter.id for voter in voters]) for voters in sets]


def is_sound(sets: Sets, target: frozenset[int]) -> None:
    """Check that each step changes one voter, none is superfluous, and sets stay within their bounds."""
    begin = sets[0]
    assert sets[-1] == target
    assert all(len(earlier ^ other) == 1 for earlier, other in pairwise(sets))
    assert len(sets) - 1 == len(begin ^ target)
    sizes = [len(voters) for voters in sets]
    assert min(sizes) == min(len(begin), len(target))
    assert max(sizes) <= max(len(begin), len(target)) + 1


def in_plan_order(chosen: list[ReplicaKey], adds: bool) -> list[int]:
    """Return the ids among which a step chooses, in `kip642_plan`'s order of preference."""
    return sorted((key.id for key in chosen), reverse=not adds)


@given(current=SETS, target=SETS, data=st.data())
def test_the_steps_of_any_leader_lead_to_the_target(
    current: frozenset[int], target: frozenset[int], data: st.DataObject
) -> None:
    """Take the steps that `next_steps` allows, without messages, with any leader and any choice."""
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
        keyed = [step for step in steps if step is not None]
        adds = keyed[0].id not in voters
        ids = in_plan_order(keyed, adds)
        chosen = ids[0] if by_plan else data.draw(st.sampled_from(ids), "chosen")
        sets.append(voters | {chosen} if adds else voters - {chosen})
    is_sound(sets, target)
    if by_plan:
        assert sets == expected
    assert len(sets) == len(expected)

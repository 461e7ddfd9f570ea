"""What the proof says of sizes is true of finite sets."""

from itertools import combinations, product

from kraft_reference.identity import ReplicaKey
from kraft_reference.state import is_majority
from kraft_spec.proofs.induction.counting import DIAGRAM, FIRST, ONE, OTHER, SECOND
from kraft_spec.proofs.linear import Fact, at_most

REPLICAS = tuple(ReplicaKey(number, f"U{number}") for number in (1, 2, 3))
SETS = tuple(frozenset(chosen) for size in range(4) for chosen in combinations(REPLICAS, size))
Sets = dict[str, frozenset[ReplicaKey]]


def sizes(sets: Sets) -> dict[str, int]:
    """How many replicas are in each region and in no other one, by the diagram's variables."""
    counted = dict.fromkeys(DIAGRAM.problem("").variables, 0)
    for replica in frozenset().union(*sets.values()):
        counted["only:" + "&".join(name for name in DIAGRAM.names if replica in sets[name])] += 1
    return counted


def majority(quorum: str, voters: str) -> Fact:
    """The fact that the definition of `majority` is made of."""
    return DIAGRAM.majority("", DIAGRAM[quorum], DIAGRAM[voters])


def test_definitions_say_what_sets_do() -> None:
    """Of all 4,096 choices of two quorums and two voters sets of three replicas."""
    difference = DIAGRAM.size(DIAGRAM[ONE] ^ DIAGRAM[OTHER])
    in_both = DIAGRAM.size(DIAGRAM[FIRST] & DIAGRAM[SECOND])
    for chosen in product(SETS, repeat=4):
        sets = dict(zip(DIAGRAM.names, chosen, strict=True))
        counted = sizes(sets)
        for quorum, voters in ((FIRST, ONE), (SECOND, OTHER)):
            among = len(sets[quorum] & sets[voters])
            assert majority(quorum, voters).holds(counted) == is_majority(among, sets[voters])
        apart = len(sets[ONE] ^ sets[OTHER])
        assert at_most("", difference, 1).holds(counted) == (apart <= 1)
        assert DIAGRAM.same("", DIAGRAM[ONE], DIAGRAM[OTHER]).holds(counted) == (apart == 0)
        assert (in_both.value(counted) >= 1) == bool(sets[FIRST] & sets[SECOND])

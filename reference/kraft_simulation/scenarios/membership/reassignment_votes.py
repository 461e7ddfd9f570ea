"""S23: votes between nodes that disagree about who votes."""

from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.reassigning import appended, orphaned
from kraft_simulation.scenarios.membership.reassignment import SIX, TARGET, TO_THE_HAND_OVER, target_committed
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, voter_set

VARIANTS = Variants()


def _fourth_asks(d: Director) -> None:
    """Cur [1,2,3,4]@4 is on 1, 2 and 4; 3 is behind with [1,2,3]; 1 dies, and the others would have an election."""
    target_committed(d)
    appended(d, 1, TARGET, TO_THE_HAND_OVER[0])
    d.step("@4 on 1, 2, 4")
    observe(d, 1, 2, 4)
    d.end_offsets(5, 5, 4, 5, 4, 4)
    d.voters(3, voter_set(1, 2, 3))
    d.high_watermark(1, 5)
    d.step("1 dies; 4 campaigns")
    d.crash(1)
    orphaned(d, 4, 2, 3)
    for voter in (2, 3):
        d.pre_vote(4, voter, "granted")
    d.check("role of N4", d.state(4).role, Role.CANDIDATE)
    d.vote(4, 2, "granted")


@VARIANTS.variant("right", SIX)
def granted_by_log(d: Director) -> None:
    """KIP-853: 3 grants by its log alone, and 4 leads e2 with 2, 3, 4; by KIP-642, 3 would refuse and campaign."""
    _fourth_asks(d)
    d.vote(4, 3, "granted")
    d.roles("stopped", "U(2,voted=4)", "U(2,voted=4)", "L(2)")
    announce(d, 4)
    observe(d, 4, 2, 3)
    d.line(4, voter_set(1, 2, 3, 4), 6, "2:6 3:6 4:6", 6)
    d.assignment(3, 4, voter_set(1, 2, 3, 4), frozenset((4, 5, 6)))


SCENARIOS = (
    Scenario(
        48,
        "s23-votes-of-non-voters",
        "Votes between nodes that disagree about who votes",
        "KIP-642, S23",
        ("reassign.votes-from-non-voters", "vote.membership-not-checked"),
        tuple(VARIANTS),
    ),
)

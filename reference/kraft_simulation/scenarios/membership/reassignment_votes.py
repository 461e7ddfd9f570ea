"""S23: votes between nodes that disagree about who votes."""

from dataclasses import replace

from kraft_reference.profile import KIP
from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.reassigning import appended, orphaned
from kraft_simulation.scenarios.membership.reassignment import SIX, TARGET, TO_THE_HAND_OVER, target_committed
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()

KIP_642_VOTES = replace(KIP, name="kip-642-votes", vote_of_non_voter="refuse-and-campaign")
"""The newest wording of the KIPs, but for KIP-642's answer to somebody outside the voter set."""


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
    """KIP-853: 3 grants by its log, and 4 leads e2 with 2, 3, 4."""
    # 3 grants by the log alone: 4 leads with 4, 2, 3. A Pre-Vote comes first, which both readings answer alike.
    _fourth_asks(d)
    d.vote(4, 3, "granted")
    d.roles("stopped", "U(2,voted=4)", "U(2,voted=4)", "L(2)")
    announce(d, 4)
    observe(d, 4, 2, 3)
    d.line(4, voter_set(1, 2, 3, 4), 6, "2:6 3:6 4:6", 6)
    d.assignment(3, 4, voter_set(1, 2, 3, 4), frozenset((4, 5, 6)))


@VARIANTS.variant("right-kip-642", cluster(6, (1, 2, 3), formatted=without_list(4, 5, 6), profile=KIP_642_VOTES))
def refused_and_rivalled(d: Director) -> None:
    """KIP-642: 3 refuses and campaigns in vain; 2 leads e3, an epoch later."""
    # 3 refuses 4, no voter for it, and campaigns itself, in vain; 2, which 3 knows, wins one epoch later.
    _fourth_asks(d)
    d.vote(4, 3, "refused")
    d.check("granted to 4", sorted(d.state(4).granted), [2, 4])
    d.roles("stopped", "U(2,voted=4)", "P(2)", "C(2)")
    d.step("3 is behind and wins nobody")
    d.pre_vote(3, 2, "refused")
    d.lose(3)
    d.lose(4)
    d.step("2 campaigns: 3 knows it and grants; 2, 3, 4 = 3 of 4")
    d.election_timeout(2)
    d.request_timeout(3, 1)
    for voter in (3, 4):
        d.pre_vote(2, voter, "granted")
    for voter in (3, 4):
        d.vote(2, voter, "granted")
    d.lose(2)
    d.roles("stopped", "L(3)", "U(3,voted=2)", "U(3,voted=2)")
    announce(d, 2)
    observe(d, 2, 3, 4)
    d.line(2, voter_set(1, 2, 3, 4), 6, "2:6 3:6 4:6", 6)


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

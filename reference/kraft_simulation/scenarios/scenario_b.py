"""Scenario 4: Scenario B of KIP-996."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()

REFUSAL = "prevote.follower.rejects-after-fetch"


def _removal_unread(d: Director) -> None:
    start(d, 4, 5, end_offset=20)
    d.step("1. N4 appends Voters{2,3,4} at offset 20; nobody has fetched it")
    d.remove_voter(4, 1)
    d.end_offsets(20, 20, 20, 21)
    d.voters(4, voter_set(2, 3, 4))
    d.step("2. N4 pauses; 3. ft(1)")
    d.fetch_timeout(1)
    d.roles("P(5,4)", "F(5,4)", "F(5,4)", "L(5)")


@VARIANTS.variant("with-the-rule", cluster(4))
def scenario_b(d: Director) -> None:
    """N1 is refused twice; its removal commits."""
    # N2 and N3 have a leader and refuse the server that is being removed.
    _removal_unread(d)
    d.step("4. pv(1>2), pv(1>3)")
    d.pre_vote(1, 2, "refused")
    d.roles("P(5,4)", "F(5,4)", "F(5,4)", "L(5)")
    d.pre_vote(1, 3, "refused")
    d.roles("F(5,4)", "F(5,4)", "F(5,4)", "L(5)")
    d.step("5. N4 resumes; f(2>4), f(3>4)")
    for follower in (2, 3, 2, 3):
        d.fetch(follower, 4)
    d.high_watermark(4, 21)
    d.fetch(1, 4)
    d.roles("F(5,4)", "F(5,4)", "F(5,4)", "L(5)")
    for replica_id in (1, 2, 3, 4):
        d.voters(replica_id, voter_set(2, 3, 4))
    d.never_nominates(1)


def _removal_undone(d: Director) -> None:
    """N1 has won with {1,2,3,4}; N4 follows, cuts offset 20 and uses its old set again."""
    announce(d, 1)
    d.roles("L(6)", "F(6,1)", "F(6,1)", "F(6,1)")
    d.fetch(4, 1)
    d.end_offsets(21, 20, 20, 20)
    d.voters(4, voter_set(1, 2, 3, 4))
    d.fetch(4, 1)
    d.end_offsets(21, 20, 20, 21)
    d.voters(1, voter_set(1, 2, 3, 4))


@VARIANTS.variant("without-refusal", cluster(4), "NoNeedlessElection", mutants=(REFUSAL,))
def scenario_b_without_refusal(d: Director) -> None:
    """N1 wins although N4 is healthy, and its removal is undone."""
    # N1 wins although N4 is healthy; its own removal, not committed yet, is undone.
    _removal_unread(d)
    d.step("4. pv(1>2), pv(1>3)")
    d.pre_vote(1, 2, "granted")
    d.pre_vote(1, 3, "granted")
    d.roles("C(6)", "F(5,4)", "F(5,4)", "L(5)")
    d.vote(1, 2, "granted")
    d.vote(1, 3, "granted")
    d.roles("L(6)", "U(6,voted=1)", "U(6,voted=1)", "L(5)")
    d.step("N4 becomes F(6,1) and cuts offset 20")
    _removal_undone(d)


@VARIANTS.variant("long-pause", cluster(4))
def scenario_b_boundary(d: Director) -> None:
    """N4 pauses too long: N1 wins legitimately, N4 cuts offset 20 and uses {1,2,3,4} again."""
    # N4 pauses longer than the fetch timeouts of N2 and N3: the election is legitimate.
    _removal_unread(d)
    d.step("2. the pause is longer: ft(2), ft(3)")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.step("4. pv(1>2), pv(1>3)")
    d.pre_vote(1, 2, "granted")
    d.pre_vote(1, 3, "granted")
    d.roles("C(6)", "P(5,4)", "P(5,4)", "L(5)")
    d.vote(1, 2, "granted")
    d.vote(1, 3, "granted")
    d.step("5. N4 uses {1,2,3,4} again")
    _removal_undone(d)


SCENARIOS = (
    Scenario(
        4,
        "scenario-b",
        "Scenario B: a server of an old configuration",
        "KIP-996",
        (REFUSAL, "voters.truncation-reverts"),
        tuple(VARIANTS),
    ),
)

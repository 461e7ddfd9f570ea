"""Scenario 13: a leader that was replaced without noticing."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, start, win, win_pre_vote
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()

CHECK_QUORUM = "check-quorum.resign"


def _zombie(d: Director) -> None:
    start(d, 1, 4)
    d.step("N1 appends Voters{2,3}, replicated to 2 and 3; cut N1 before it knows the commit")
    removal = d.remove_voter(1, 1)
    d.voters(1, voter_set(2, 3))
    d.fetch(2, 1)
    d.fetch(3, 1)
    d.cut(1, 2, 3)
    d.step("N2 L(5) in {2,3}")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    win_pre_vote(d, 2)
    win(d, 2)
    d.heal(1, 2, 3)
    d.step("N2 announces itself to 3 only")
    announce(d, 2)
    d.check("N2's announcement is for {3}", d.state(2).acknowledging_voters, frozenset({3}))
    d.fetch(3, 2)
    d.roles("L(4)", "L(5)", "F(5,2)", "F(4,1)")
    d.fetch(4, 1)
    d.unanswered(removal)


@VARIANTS.variant("with-the-rule", cluster(4, (1, 2, 3)))
def zombie(d: Director) -> None:
    """N1 resigns and finds N2; N4 finds N2."""
    # N1 counts 2 and 3 only, neither itself nor N4, and resigns.
    _zombie(d)
    d.step("cq(1)")
    d.check_quorum_timeout(1)
    d.roles("R(4)", "L(5)", "F(5,2)", "F(4,1)")
    d.step("N4's fetch at N1")
    d.fetch(4, 1, "NOT_LEADER_OR_FOLLOWER")
    d.step("et(1): observer, no timer")
    d.election_timeout(1)
    d.roles("U(5)", "L(5)", "F(5,2)", "F(4,1)")
    d.never_nominates(1)
    d.step("f(1>bootstrap): NOT_LEADER {5,2}")
    d.fetch(1, 3, "NOT_LEADER_OR_FOLLOWER")
    d.roles("F(5,2)", "L(5)", "F(5,2)", "F(4,1)")
    d.fetch(1, 2)
    d.step("N4 searches and finds 2")
    d.fetch_timeout(4)
    d.fetch(4, 2, "FENCED_LEADER_EPOCH")
    d.fetch(4, 2)
    d.roles("F(5,2)", "L(5)", "F(5,2)", "F(5,2)")


@VARIANTS.variant("without-check-quorum", cluster(4, (1, 2, 3)), "ZombieBounded", mutants=(CHECK_QUORUM,))
def zombie_for_ever(d: Director) -> None:
    """N1 stays L(4) and serves N4 for ever."""
    # N4 reads stale data from N1 for ever; N1's high watermark does not move, so it is safe.
    _zombie(d)
    high_watermark = d.state(1).high_watermark

    def one_round() -> None:
        d.check_quorum_timeout(1)
        d.fetch(4, 1)
        d.roles("L(4)", "L(5)", "F(5,2)", "F(4,1)")

    one_round()
    d.lasso(one_round, "ZombieBounded")
    d.high_watermark(1, high_watermark)


@VARIANTS.variant("sole-voter", cluster(4, (1, 2, 3)))
def zombie_sole_voter(d: Director) -> None:
    """Set {2}, N1 outside: cq(1) fires as well."""
    # The corner: the set {2} has one voter, but it is not N1; the timer must run (check-quorum.sole-voter).
    start(d, 1, 4)
    d.step("N1 removes 3; it commits")
    d.remove_voter(1, 3)
    d.replicate(2, 1)
    d.step("N1 appends Voters{2}, replicated to 2; cut N1 before it knows the commit")
    d.remove_voter(1, 1)
    d.voters(1, voter_set(2))
    d.fetch(2, 1)
    d.cut(1, 2, 3)
    d.step("N2 is its own majority")
    d.fetch_timeout(2)
    d.roles("L(4)", "L(5)", "F(4,1)", "F(4,1)")
    d.step("cq(1)")
    d.check_quorum_timeout(1)
    d.roles("R(4)", "L(5)", "F(4,1)", "F(4,1)")


SCENARIOS = (
    Scenario(
        13,
        "zombie-leader",
        "Zombie leader",
        "KIP-642",
        ("check-quorum.zombie-leader", "check-quorum.counts-keys", "check-quorum.sole-voter", "observer.fetch-timeout"),
        tuple(VARIANTS),
    ),
)

"""Scenario 14: a rolling upgrade, in which some software does not know Pre-Vote."""

from kraft_reference.outcome import Refusal
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()
_OLD = cluster(3, old=(2,))

UNSUPPORTED = "prevote.unsupported-version"


def _third_loses_leader(d: Director) -> None:
    start(d, 1, 3)
    d.step("cut(1-3), ft(3)")
    d.cut(1, 3)
    d.fetch_timeout(3)
    d.roles("L(3)", "F(3,1)", "P(3,1)")


@VARIANTS.variant("with-the-rule", _OLD)
def disruptive(d: Director) -> None:
    """UNSUPPORTED_VERSION makes N3 C(4): the old behaviour."""
    # a. One old voter, and N3 disturbs a working leader as before Pre-Vote.
    _third_loses_leader(d)
    d.step("a. pv(3>2) cannot be encoded")
    d.pre_vote_unsupported(3, 2)
    d.roles("L(3)", "F(3,1)", "C(4)")
    d.vote(3, 2, "granted")
    d.roles("L(3)", "U(4,voted=3)", "L(4)")


@VARIANTS.variant("majority-first", _OLD)
def majority_first(d: Director) -> None:
    """C(4) by majority; the later answer is ignored."""
    # b. N1 grants before N2 is tried; it can because it has resigned.
    start(d, 1, 3)
    d.step("shutdown(1), ft(3)")
    d.shutdown(1)
    d.fetch_timeout(3)
    unsent = d.hold(3, 2)
    d.step("b. N1 grants before N2 is tried")
    d.pre_vote(3, 1, "granted")
    d.roles("R(3)", "F(3,1)", "C(4)")
    d.step("the later UNSUPPORTED_VERSION is ignored")
    occurrence = d.unsupported(unsent)
    d.check("its refusal", occurrence.refusal, Refusal.UNCORRELATED_RESPONSE)
    d.roles("R(3)", "F(3,1)", "C(4)")


@VARIANTS.variant("lost-elections", _OLD)
def lost_elections(d: Director) -> None:
    """One epoch per round until N2 is upgraded."""
    # c. N2's log is longer than N3's: one epoch per round until N2 is upgraded.
    start(d, 1, 3)
    d.step("cut(1-3); N2 fetches a record that N3 lacks; ft(3)")
    d.cut(1, 3)
    d.append(1)
    d.fetch(2, 1)
    d.fetch_timeout(3)
    for epoch in (4, 5, 6):
        d.step(f"c. UNSUPPORTED_VERSION: C({epoch})")
        d.pre_vote_unsupported(3, 2)
        d.vote(3, 2, "refused")
        d.roles("L(3)", f"U({epoch})", f"C({epoch})")
        d.election_timeout(3)
        d.roles("L(3)", f"U({epoch})", f"P({epoch},voted=3)")


def _leader_down(d: Director) -> None:
    """N1 is down and N2's log is behind N3's, so N3 is the only one that can win."""
    start(d, 1, 3)
    d.step("N3 fetches a record that N2 lacks; crash(1)")
    d.append(1)
    d.fetch(3, 1)
    d.crash(1)
    d.step("ft(3)")
    d.fetch_timeout(3)
    d.roles("stopped", "F(3,1)", "P(3,1)")
    d.pre_vote_unsupported(3, 2)


@VARIANTS.variant("leader-down", _OLD)
def leader_down(d: Director) -> None:
    """N1 is down and N2's log behind: N3 L(4)."""
    # N3 nominates itself and wins.
    _leader_down(d)
    d.roles("stopped", "F(3,1)", "C(4)")
    d.vote(3, 2, "granted")
    d.roles("stopped", "U(4,voted=3)", "L(4)")


@VARIANTS.variant("leader-down-without-rule", cluster(3, old=(2,)), "EventualLeader", mutants=(UNSUPPORTED,))
def leader_down_without_rule(d: Director) -> None:
    """N3 never nominates itself, N2 cannot win: no leader for ever."""
    # N3 counts N2 as silent and never nominates itself; N2, which does, cannot win.
    _leader_down(d)
    d.roles("stopped", "F(3,1)", "P(3,1)")
    d.election_timeout(3)
    d.step("ft(2): the old software nominates itself")
    d.fetch_timeout(2)
    d.vote(2, 3, "refused")
    d.roles("stopped", "C(4)", "U(4)")

    def one_round() -> None:
        d.step("et(3): N3 counts N2 as silent")
        d.election_timeout(3)
        d.pre_vote_unsupported(3, 2)
        d.election_timeout(3)
        d.step("et(2): N2's log is behind")
        d.election_timeout(2)
        d.vote(2, 3, "refused")

    d.lasso(one_round, "EventualLeader", epochs_grow=True)


SCENARIOS = (
    Scenario(
        14,
        "rolling-upgrade",
        "Rolling upgrade",
        "KIP-996",
        (UNSUPPORTED, "prevote.unsupported-version.after-majority"),
        tuple(VARIANTS),
    ),
)

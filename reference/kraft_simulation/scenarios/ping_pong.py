"""Scenario 5: two followers that keep asking each other."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start, win, win_pre_vote
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()


def _ping(d: Director, verdict: str) -> None:
    start(d, 1, 4)
    d.step("1. cut(1-3)")
    d.cut(1, 3)
    d.step("2. ft(3)")
    d.fetch_timeout(3)
    d.roles("L(4)", "F(4,1)", "P(4,1)")
    d.step("3. pv(3>2)")
    d.pre_vote(3, 2, "refused")
    d.step("4. et(3)")
    d.election_timeout(3)
    d.roles("L(4)", "F(4,1)", "F(4,1)")
    d.step("5. cut(1-2)")
    d.cut(1, 2)
    d.step("6. ft(2)")
    d.fetch_timeout(2)
    d.roles("L(4)", "P(4,1)", "F(4,1)")
    d.step("7. pv(2>3)")
    d.pre_vote(2, 3, verdict)


@VARIANTS.variant("with-the-rule", cluster(3))
def ping_pong(d: Director) -> None:
    """N3 has not fetched since and grants; N2 L(5)."""
    # N3 has not fetched since it became Follower again, so it grants.
    _ping(d, "granted")
    d.roles("L(4)", "C(5)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.roles("L(4)", "L(5)", "U(5,voted=2)")
    d.begin_quorum_epoch(2, 3)
    d.fetch(3, 2)
    d.roles("L(4)", "L(5)", "F(5,2)")


@VARIANTS.variant(
    "without-fetched-flag",
    cluster(3),
    "EventualLeader",
    "NoPingPong",
    mutants=("fetch.fetched-flag",),
    outcome="The flag is not cleared on coming back to Follower: the lasso is back",
)
@VARIANTS.variant(
    "without-grants-before-fetch",
    cluster(3),
    "EventualLeader",
    "NoPingPong",
    mutants=("prevote.follower.grants-before-fetch",),
)
def ping_pong_for_ever(d: Director) -> None:
    """Followers always refuse: N2 and N3 refuse each other for ever."""
    # Steps 4 to 9 are a lasso, although 2 and 3 are a connected majority.
    _ping(d, "refused")
    d.roles("L(4)", "P(4,1)", "F(4,1)")

    def one_round() -> None:
        d.step("8. et(2)")
        d.election_timeout(2)
        d.roles("L(4)", "F(4,1)", "F(4,1)")
        d.step("9. ft(3), pv(3>2)")
        d.fetch_timeout(3)
        d.pre_vote(3, 2, "refused")
        d.roles("L(4)", "F(4,1)", "P(4,1)")
        d.step("4. et(3)")
        d.election_timeout(3)
        d.step("6. ft(2); 7. pv(2>3)")
        d.fetch_timeout(2)
        d.pre_vote(2, 3, "refused")
        d.roles("L(4)", "P(4,1)", "F(4,1)")

    one_round()
    d.lasso(one_round, "EventualLeader", "NoPingPong")


@VARIANTS.variant("without-fetched-flag-luck", cluster(3), mutants=("fetch.fetched-flag",))
def ping_pong_luck(d: Director) -> None:
    """Both are Prospective at once and get out by luck."""
    # The same mutation, but both are Prospective at once and get out: why a lasso is not a deadlock.
    _ping(d, "refused")
    d.step("ft(3) before et(2)")
    d.fetch_timeout(3)
    d.roles("L(4)", "P(4,1)", "P(4,1)")
    win_pre_vote(d, 3)
    d.roles("L(4)", "P(4,1)", "C(5)")
    win(d, 3)
    d.roles("L(4)", "U(5,voted=3)", "L(5)")


SCENARIOS = (
    Scenario(
        5,
        "ping-pong",
        "Ping-pong between two followers",
        "KIP-996",
        ("prevote.follower.grants-before-fetch", "fetch.fetched-flag", "prevote.prospective.grants"),
        tuple(VARIANTS),
    ),
)

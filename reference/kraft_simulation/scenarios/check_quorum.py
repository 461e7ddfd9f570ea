"""Scenario 9: a leader that cannot commit."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

CHECK_QUORUM = "check-quorum.resign"


def _leader_reaches_one(d: Director) -> None:
    """N1 reaches N2 alone, and N2 has fetched one record more than N3 and N4."""
    start(d, 1, 7)
    d.step("N5 crashed; links down: 1-3, 1-4; N2's log is the longest of 2, 3, 4")
    d.crash(5)
    d.cut(1, 3, 4)
    d.append(1)
    d.step("1. f(2>1) keeps succeeding, HW cannot grow")
    committed = d.state(1).high_watermark
    d.replicate(2, 1)
    d.high_watermark(1, committed)


def _third_and_fourth_lose(d: Director) -> None:
    d.step("2. ft(3), ft(4)")
    d.fetch_timeout(3)
    d.fetch_timeout(4)
    d.roles("L(7)", "F(7,1)", "P(7,1)", "P(7,1)", "stopped")
    d.step("3. pv(3>4), pv(3>2)")
    d.pre_vote(3, 4, "granted")
    d.pre_vote(3, 2, "refused")
    d.roles("L(7)", "F(7,1)", "P(7,1)", "P(7,1)", "stopped")
    d.step("4. et(3), et(4)")
    d.election_timeout(3)
    d.election_timeout(4)
    d.roles("L(7)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")


def _second_commits(d: Director) -> None:
    for follower in (3, 4, 3, 4):
        d.fetch(follower, 2)
    d.high_watermark(2, d.state(2).log.end_offset)


@VARIANTS.variant("with-the-rule", cluster(5))
def check_quorum(d: Director) -> None:
    """N1 resigns and tells N2; N2 L(8) with {2,3,4}."""
    # N1 gives up, tells N2, and N2 is elected by 3 and 4.
    _leader_reaches_one(d)
    _third_and_fourth_lose(d)
    d.step("cq(1)")
    d.check_quorum_timeout(1)
    d.roles("R(7)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")
    d.step("eqe(1>2): N2's timer drops")
    d.end_quorum_epoch(1, 2)
    d.fetched(2, False)
    d.fetch_timeout(2)
    d.step("N2: grants and votes of 3 and 4")
    d.pre_vote(2, 3, "granted")
    d.pre_vote(2, 4, "granted")
    d.roles("R(7)", "C(8)", "F(7,1)", "F(7,1)", "stopped")
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("R(7)", "L(8)", "U(8,voted=2)", "U(8,voted=2)", "stopped")
    announce(d, 2)
    _second_commits(d)


@VARIANTS.variant("with-the-rule-end-quorum-lost", cluster(5))
def check_quorum_by_epoch(d: Director) -> None:
    """N1's Pre-Vote of epoch 8 frees N2; N2 L(9) with {2,3,4}."""
    # EndQuorumEpoch gets lost: N1's next Pre-Vote carries a larger epoch and frees N2.
    _leader_reaches_one(d)
    _third_and_fourth_lose(d)
    d.step("cq(1); et(1)")
    d.check_quorum_timeout(1)
    d.poll(1)
    d.lose(1)
    d.election_timeout(1)
    d.roles("U(8)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")
    d.election_timeout(1)
    d.step("pv(1>2) with epoch 8")
    d.pre_vote(1, 2, "granted")
    d.roles("P(8)", "U(8)", "F(7,1)", "F(7,1)", "stopped")
    d.step("N2 P: grants of 3 and 4, which move to epoch 8 first")
    d.election_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.roles("P(8)", "P(8)", "U(8)", "F(7,1)", "stopped")
    d.pre_vote(2, 4, "granted")
    d.roles("P(8)", "C(9)", "U(8)", "U(8)", "stopped")
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("P(8)", "L(9)", "U(9,voted=2)", "U(9,voted=2)", "stopped")
    announce(d, 2)
    _second_commits(d)


@VARIANTS.variant("without-check-quorum", cluster(5), "CommitProgress", "EventualLeader", mutants=(CHECK_QUORUM,))
def no_check_quorum(d: Director) -> None:
    """N2 refuses for ever; nothing commits and nobody is elected."""
    # N2 follows a leader that cannot commit, and refuses: nothing moves as long as the links stay.
    _leader_reaches_one(d)
    _third_and_fourth_lose(d)

    def one_round() -> None:
        d.fetch(2, 1)
        d.step("the check-quorum timer does nothing")
        d.check_quorum_timeout(1)
        _third_and_fourth_lose(d)

    d.lasso(one_round, "CommitProgress", "EventualLeader")


@VARIANTS.variant("without-check-quorum-and-pre-vote", cluster(5, pre_vote=False), mutants=(CHECK_QUORUM,))
def no_check_quorum_no_pre_vote(d: Director) -> None:
    """The first C(8) frees N2."""
    # Before Pre-Vote no leader had to give up: the first C(8) frees N2.
    _leader_reaches_one(d)
    d.step("2. ft(3)")
    d.fetch_timeout(3)
    d.step("v(3>2): N2's log is longer")
    d.vote(3, 2, "refused")
    d.roles("L(7)", "U(8)", "C(8)", "F(7,1)", "stopped")
    d.step("et(2)")
    d.election_timeout(2)
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("L(7)", "L(9)", "U(9,voted=2)", "U(9,voted=2)", "stopped")
    announce(d, 2)
    _second_commits(d)


@VARIANTS.variant("one-way-loss", cluster(5))
def check_quorum_one_way(d: Director) -> None:
    """cq(1) fires after the fetch timeouts; N2 L(8)."""
    # N1 hears the fetches, its answers are lost: check quorum follows one period after the fetch timeouts.
    start(d, 1, 7)
    d.step("N5 crashed; N1's answers are lost")
    d.crash(5)
    for follower in (2, 3, 4):
        d.cut_one_way(1, follower)
    for follower in (2, 3, 4):
        d.fetch(follower, 1, answer="lost")
    d.roles("L(7)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")
    d.step("their fetch timers fire, they stop fetching")
    for follower in (2, 3, 4):
        d.fetch_timeout(follower)
    d.step("cq(1) one period later")
    d.check_quorum_timeout(1)
    d.roles("R(7)", "P(7,1)", "P(7,1)", "P(7,1)", "stopped")
    d.step("they elect among themselves")
    d.pre_vote(2, 3, "granted")
    d.pre_vote(2, 4, "granted")
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("R(7)", "L(8)", "U(8,voted=2)", "U(8,voted=2)", "stopped")


SCENARIOS = (
    Scenario(
        9,
        "check-quorum",
        "Check quorum: a leader that cannot commit blocks everyone",
        "KIP-996",
        (CHECK_QUORUM, "check-quorum.frees-followers", "end-quorum.handle"),
        tuple(VARIANTS),
    ),
)

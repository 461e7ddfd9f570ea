"""Scenarios 9, 10, 13 and 17: how a leadership ends."""

from dataclasses import replace

from kraft_reference.effects import StartTimer, Timer
from kraft_reference.profile import KIP
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import announce, nominate, start, win, win_pre_vote
from kraft_reference.scenarios.scenario import Scenario, Variant, cluster, voter_set

CHECK_QUORUM = "check-quorum.resign"
RESIGNED_TIMEOUT = "state.resigned.timeout"
PRESERVES = "state.same-epoch-preserves"

# ---------------------------------------------------------------------------------------------------------
# 9. Check quorum.
# ---------------------------------------------------------------------------------------------------------


def _leader_reaches_one(d: Director) -> None:
    """N1 reaches N2 alone, and N2 has fetched one record more than N3 and N4."""
    start(d, 1, 7)
    d.step("N5 crashed; links down: 1-3, 1-4; N2's log is the longest of 2, 3, 4")
    d.crash(5)
    d.cut(1, 3, 4)
    d.append(1)
    d.step("1. f(2>1) keeps succeeding, HW cannot grow")
    committed = d.state(1).high_watermark
    d.fetch(2, 1)
    d.fetch(2, 1)
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


def check_quorum(d: Director) -> None:
    """N1 gives up, tells N2, and N2 is elected by 3 and 4."""
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


def check_quorum_by_epoch(d: Director) -> None:
    """EndQuorumEpoch gets lost: N1's next Pre-Vote carries a larger epoch and frees N2."""
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


def no_check_quorum(d: Director) -> None:
    """N2 follows a leader that cannot commit, and refuses: nothing moves as long as the links stay."""
    _leader_reaches_one(d)
    _third_and_fourth_lose(d)

    def one_round() -> None:
        d.fetch(2, 1)
        d.step("the check-quorum timer does nothing")
        d.check_quorum_timeout(1)
        _third_and_fourth_lose(d)

    d.lasso(one_round, "CommitProgress", "EventualLeader")


def no_check_quorum_no_pre_vote(d: Director) -> None:
    """Before Pre-Vote no leader had to give up: the first C(8) frees N2."""
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


def check_quorum_one_way(d: Director) -> None:
    """N1 hears the fetches, its answers are lost: check quorum follows one period after the fetch timeouts."""
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


# ---------------------------------------------------------------------------------------------------------
# 10. A resigned leader must not follow itself.
# ---------------------------------------------------------------------------------------------------------


def _resigned(d: Director) -> None:
    start(d, 1, 5)
    d.cut(1, 2, 3)
    d.step("1. cq(1)")
    d.check_quorum_timeout(1)
    d.roles("R(5)", "F(5,1)", "F(5,1)")
    d.check("N1 remembers itself as leader", d.state(1).leader_id, 1)


def _lost_round_in_the_next_epoch(d: Director) -> None:
    d.step("2. et(1)")
    d.election_timeout(1)
    d.roles("U(6,voted=none)", "F(5,1)", "F(5,1)")
    d.election_timeout(1)
    d.roles("P(6,voted=none)", "F(5,1)", "F(5,1)")
    d.step("3. the next election round fails")
    d.election_timeout(1)
    d.roles("U(6,voted=none)", "F(5,1)", "F(5,1)")


def _learns_new_leader(d: Director) -> None:
    d.step("meanwhile 2 and 3 elect L(6)")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    win_pre_vote(d, 2)
    win(d, 2)
    announce(d, 2)
    d.roles("U(6)", "L(6)", "F(6,2)")
    d.step("heal: N1 learns L(6)")
    d.heal(1, 2, 3)
    d.fetch(1, 2)
    d.roles("F(6,2)", "L(6)", "F(6,2)")


def resigned(d: Director) -> None:
    """N1 leaves its epoch behind, and later follows whoever leads."""
    _resigned(d)
    _lost_round_in_the_next_epoch(d)
    _learns_new_leader(d)


def resigned_asks(d: Director) -> None:
    """N1's Pre-Vote of epoch 6 is judged by nodes that have no leader they could lose."""
    _resigned(d)
    _lost_round_in_the_next_epoch(d)
    d.step("heal: N1's Pre-Vote of epoch 6")
    d.heal(1, 2, 3)
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(7)", "U(6)", "F(5,1)")
    win(d, 1)
    d.roles("L(7)", "U(7,voted=1)", "F(5,1)")


def resigned_restarts(d: Director) -> None:
    """The same after a crash of the leader."""
    start(d, 1, 5)
    d.cut(1, 2, 3)
    d.step("crash(1), restart(1)")
    d.crash(1)
    d.restart(1)
    d.roles("R(5)", "F(5,1)", "F(5,1)")
    _lost_round_in_the_next_epoch(d)
    _learns_new_leader(d)


def resigned_without_timeout_rule(d: Director) -> None:
    """N1 stays in its epoch, knows leader and endpoint of it, and follows: itself."""
    _resigned(d)
    d.step("2. et(1)")
    d.election_timeout(1)
    d.roles("P(5,1)", "F(5,1)", "F(5,1)")
    d.step("3. the next election round fails")
    d.election_timeout(1)
    d.roles("F(5,1)", "F(5,1)", "F(5,1)")


def resigned_votes_again(d: Director) -> None:
    """A bump-free N1 that also forgets the leader of epoch 5, which it was, votes in that epoch again.

    N2 is a Candidate of epoch 5, too; its Vote request to N1 is on its way all the time.
    Reading: the text says that this violates ElectionSafety.  A leader's log holds the record that starts its
    epoch, and with it the log check refuses every candidate of that epoch.  Only a leader that crashes between
    writing that it leads and writing that record can vote again; the second vote of N1 is then what is wrong.
    """
    d.step("N1 and N2 are candidates of epoch 5, N3 votes for N1")
    nominate(d, 2, 4)
    d.election_timeout(2)
    requests = [d.hold(2, voter) for voter in (1, 3)]
    answers = [d.handle(request, "granted", "held") for request in requests]
    d.election_timeout(1)
    d.pre_vote(1, 3, "granted")
    d.deliver(answers[0])
    d.roles("C(5)", "C(5)", "U(4)")
    late_vote = d.hold(2, 1)
    winning = d.vote(1, 3, "granted", "held")
    d.step("N1 wins epoch 5 and crashes when only its leadership is on disk")
    d.deliver_and_crash(winning, completed=1, log_end_offset=0)
    d.check("the leader on N1's disk", d.state(1).leader_id, 1)
    d.restart(1)
    d.roles("R(5)", "C(5)", "U(5,voted=1)")
    d.step("2. et(1)")
    d.election_timeout(1)
    d.roles("P(5,voted=none)", "C(5)", "U(5,voted=1)")
    d.step("v(2>1) of epoch 5 arrives")
    d.handle(late_vote, "granted")
    d.roles("P(5,voted=2)", "L(5)", "U(5,voted=1)")


# ---------------------------------------------------------------------------------------------------------
# 13. Zombie leader.
# ---------------------------------------------------------------------------------------------------------


def _zombie(d: Director) -> None:
    start(d, 1, 4)
    d.step("N1 appends Voters{2,3}, replicated to 2 and 3; cut N1 before it knows the commit")
    d.append_voters(1, voter_set(2, 3))
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
    d.check("N2's announcement is for {3}", d.state(2).acknowledged, frozenset({3}))
    d.fetch(3, 2)
    d.roles("L(4)", "L(5)", "F(5,2)", "F(4,1)")
    d.fetch(4, 1)


def zombie(d: Director) -> None:
    """N1 counts 2 and 3 only, neither itself nor N4, and resigns."""
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


def zombie_for_ever(d: Director) -> None:
    """N4 reads stale data from N1 for ever; N1's high watermark does not move, so it is safe."""
    _zombie(d)
    high_watermark = d.state(1).high_watermark

    def one_round() -> None:
        d.check_quorum_timeout(1)
        d.fetch(4, 1)
        d.roles("L(4)", "L(5)", "F(5,2)", "F(4,1)")

    one_round()
    d.lasso(one_round, "ZombieBounded")
    d.high_watermark(1, high_watermark)


def zombie_sole_voter(d: Director) -> None:
    """The corner: the set {2} has one voter, but it is not N1; the timer must run (check-quorum.sole-voter)."""
    start(d, 1, 4)
    d.step("N1 appends Voters{2}, replicated to 2; cut N1 before it knows the commit")
    d.append_voters(1, voter_set(2))
    d.fetch(2, 1)
    d.cut(1, 2, 3)
    d.step("N2 is its own majority")
    d.fetch_timeout(2)
    d.roles("L(4)", "L(5)", "F(4,1)", "F(4,1)")
    d.step("cq(1)")
    d.check_quorum_timeout(1)
    d.roles("R(4)", "L(5)", "F(4,1)", "F(4,1)")


# ---------------------------------------------------------------------------------------------------------
# 17. A hand-over blocked by followers that have fetched.
# ---------------------------------------------------------------------------------------------------------


def _hand_over(d: Director, longer_log: bool = False) -> None:
    start(d, 1, 4)
    if longer_log:
        d.step("N1 appends a record that nobody fetches")
        d.append(1)
    d.step("shutdown(1)")
    d.shutdown(1)
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.check("the candidates", tuple(candidate.id for candidate in d.state(1).preferred_candidates), (2, 3, 4, 5))
    d.step("eqe(1>b) for all b")
    backoffs = {}
    for follower in (2, 3, 4, 5):
        d.end_quorum_epoch(1, follower)
        handled = next(one for one in reversed(d.occurrences) if one.replica_id == follower)
        timers = [effect for effect in handled.effects if isinstance(effect, StartTimer)]
        d.check(f"the timer of N{follower}", [effect.timer for effect in timers], [Timer.FETCH])
        backoffs[follower] = timers[0].duration_ms
    d.check("N2 asks at once", backoffs[2], 0)
    d.check("the backoffs grow", sorted(backoffs.values()), list(backoffs.values()))
    d.step("N2's timer is 0")
    d.fetch_timeout(2)
    d.roles("R(4)", "P(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")


def hand_over(d: Director) -> None:
    """The preferred candidate wins at once."""
    _hand_over(d)
    d.step("pv(2>3), pv(2>4)")
    d.pre_vote(2, 3, "granted")
    d.pre_vote(2, 4, "granted")
    d.roles("R(4)", "C(5)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("R(4)", "L(5)", "U(5,voted=2)", "U(5,voted=2)", "F(4,1)")


def hand_over_blocked(d: Director) -> None:
    """The preferred candidate loses, and the second wins with its help."""
    _hand_over(d)
    d.step("pv(2>1) => ok, pv(2>3..5) => no: 2 of 5")
    d.pre_vote(2, 1, "granted")
    for voter in (3, 4):
        d.pre_vote(2, voter, "refused")
    d.roles("R(4)", "P(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.pre_vote(2, 5, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N3 (short backoff): grants of 1 and 2")
    d.fetch_timeout(3)
    d.pre_vote(3, 1, "granted")
    d.pre_vote(3, 2, "granted")
    d.roles("R(4)", "F(4,1)", "C(5)", "F(4,1)", "F(4,1)")
    d.vote(3, 1, "granted")
    d.vote(3, 2, "granted")
    d.roles("U(5,voted=3)", "U(5,voted=3)", "L(5)", "F(4,1)", "F(4,1)")


def hand_over_blocked_longer_log(d: Director) -> None:
    """N1 refuses, too: only the third candidate wins."""
    _hand_over(d, longer_log=True)
    d.step("pv(2>1) => no: its log is longer")
    d.pre_vote(2, 1, "refused")
    for voter in (3, 4):
        d.pre_vote(2, voter, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N3: the grant of 2 alone")
    d.fetch_timeout(3)
    d.pre_vote(3, 1, "refused")
    d.pre_vote(3, 2, "granted")
    for voter in (4, 5):
        d.pre_vote(3, voter, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N4: the grants of 2 and 3")
    d.fetch_timeout(4)
    d.pre_vote(4, 2, "granted")
    d.pre_vote(4, 3, "granted")
    d.vote(4, 2, "granted")
    d.vote(4, 3, "granted")
    d.roles("R(4)", "U(5,voted=4)", "U(5,voted=4)", "L(5)", "F(4,1)")


_FLAG_KEPT = replace(KIP, name="kip-fetched-flag-kept", end_quorum_fetched_flag="kept")

SCENARIOS = (
    Scenario(
        9,
        "check-quorum",
        "Check quorum: a leader that cannot commit blocks everyone",
        "KIP-996",
        (CHECK_QUORUM, "check-quorum.frees-followers", "end-quorum.handle"),
        (
            Variant("with-the-rule", cluster(5), check_quorum, "N1 resigns and tells N2; N2 L(8) with {2,3,4}"),
            Variant(
                "with-the-rule-end-quorum-lost",
                cluster(5),
                check_quorum_by_epoch,
                "N1's Pre-Vote of epoch 8 frees N2; N2 L(9) with {2,3,4}",
            ),
            Variant(
                "without-check-quorum",
                cluster(5, without=(CHECK_QUORUM,)),
                no_check_quorum,
                "N2 refuses for ever; nothing commits and nobody is elected",
                ("CommitProgress", "EventualLeader"),
            ),
            Variant(
                "without-check-quorum-and-pre-vote",
                cluster(5, without=(CHECK_QUORUM,), pre_vote=False),
                no_check_quorum_no_pre_vote,
                "the first C(8) frees N2",
            ),
            Variant("one-way-loss", cluster(5), check_quorum_one_way, "cq(1) fires after the fetch timeouts; N2 L(8)"),
        ),
    ),
    Scenario(
        10,
        "resigned-leader-follows-itself",
        "A resigned leader must not follow itself",
        "KIP-996",
        (RESIGNED_TIMEOUT, "state.resigned.timer-handover", "durable.restart.was-leader", PRESERVES),
        (
            Variant("with-the-rule", cluster(3), resigned, "N1 U(6), later F(6,2)"),
            Variant("with-the-rule-pre-vote", cluster(3), resigned_asks, "N1's Pre-Vote of epoch 6 is granted; L(7)"),
            Variant("restart", cluster(3), resigned_restarts, "a crashed leader restarts as R(5), then the same"),
            Variant(
                "without-resigned-timeout",
                cluster(3, without=(RESIGNED_TIMEOUT,)),
                resigned_without_timeout_rule,
                "N1 becomes F(5,1), Follower of itself",
                ("NotFollowerOfSelf",),
            ),
            Variant(
                "without-resigned-timeout-and-memory",
                cluster(3, without=(RESIGNED_TIMEOUT, PRESERVES)),
                resigned_votes_again,
                "N1 forgets leader and vote and votes a second time in epoch 5",
                ("VoteOncePerEpoch",),
            ),
        ),
    ),
    Scenario(
        13,
        "zombie-leader",
        "Zombie leader",
        "KIP-642",
        ("check-quorum.zombie-leader", "check-quorum.counts-keys", "check-quorum.sole-voter", "observer.fetch-timeout"),
        (
            Variant("with-the-rule", cluster(4, (1, 2, 3)), zombie, "N1 resigns and finds N2; N4 finds N2"),
            Variant(
                "without-check-quorum",
                cluster(4, (1, 2, 3), without=(CHECK_QUORUM,)),
                zombie_for_ever,
                "N1 stays L(4) and serves N4 for ever",
                ("ZombieBounded",),
            ),
            Variant("sole-voter", cluster(4, (1, 2, 3)), zombie_sole_voter, "set {2}, N1 outside: cq(1) fires as well"),
        ),
    ),
    Scenario(
        17,
        "hand-over-blocked",
        "A hand-over blocked by followers that have fetched",
        "gap between the texts",
        ("end-quorum.frees-followers", "end-quorum.handle", "prevote.resigned.grants"),
        (
            Variant("with-the-rule", cluster(5), hand_over, "N2 C(5) and L(5) at once"),
            Variant(
                "fetched-flag-kept",
                cluster(5, profile=_FLAG_KEPT),
                hand_over_blocked,
                "the preferred candidate has 2 of 5 and loses; N3 wins",
            ),
            Variant(
                "fetched-flag-kept-longer-log",
                cluster(5, profile=_FLAG_KEPT),
                hand_over_blocked_longer_log,
                "N1 refuses, too; N2 and N3 lose, N4 wins",
            ),
        ),
    ),
)

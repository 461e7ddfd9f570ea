"""Scenarios 1, 2, 3 and 5: links fail, and the question is who may disturb whom."""

from kraft_reference.roles import Role
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import announce, start, win, win_pre_vote
from kraft_reference.scenarios.scenario import Scenario, Variant, cluster

REFUSAL = "prevote.follower.rejects-after-fetch"

# ---------------------------------------------------------------------------------------------------------
# 1. Partitioned follower.
# ---------------------------------------------------------------------------------------------------------


def _isolated(d: Director) -> None:
    start(d, 1, 3)
    d.step("1. cut(1-3), cut(2-3)")
    d.cut(3, 1, 2)


def partitioned_follower(d: Director) -> None:
    """N3 goes back and forth between P and F, and is refused by both when the links are back."""
    _isolated(d)
    d.step("2. ft(3), then et(3) k times")
    for _ in range(3):
        d.fetch_timeout(3)
        d.roles("L(3)", "F(3,1)", "P(3,1)")
        d.poll(3)
        d.election_timeout(3)
        d.roles("L(3)", "F(3,1)", "F(3,1)")
        d.fetched(3, False)
        d.fetch_unanswered(3, 1)
    d.fetch_timeout(3)
    d.step("3. heal; N3's next request is delivered to N1 and N2")
    d.heal(3, 1, 2)
    d.pre_vote(3, 1, "refused")
    d.roles("L(3)", "F(3,1)", "P(3,1)")
    d.pre_vote(3, 2, "refused")
    d.roles("L(3)", "F(3,1)", "F(3,1)")
    d.fetch(3, 1)
    d.fetched(3, True)


def partitioned_follower_fetches(d: Director) -> None:
    """The other end of step 3: N3 is Follower when the links are back, and simply fetches."""
    _isolated(d)
    d.step("2. ft(3), then et(3)")
    d.fetch_timeout(3)
    d.election_timeout(3)
    d.step("3. heal; N3 is a Follower already")
    d.heal(3, 1, 2)
    d.fetch(3, 1)
    d.roles("L(3)", "F(3,1)", "F(3,1)")
    d.fetched(3, True)


def partitioned_follower_without_pre_vote(d: Director) -> None:
    """N3 comes back with a larger epoch and puts N1 and N2 out of theirs."""
    _isolated(d)
    d.step("2. ft(3), then et(3) k times")
    d.fetch_timeout(3)
    for epoch in (4, 5, 6):
        d.roles("L(3)", "F(3,1)", f"C({epoch})")
        d.poll(3)
        if epoch < 6:
            d.election_timeout(3)
    d.step("3. heal; N3's next request is delivered to N1 and N2")
    d.heal(3, 1, 2)
    d.election_timeout(3)
    requests = [d.hold(3, destination) for destination in (1, 2)]
    d.handle(requests[0], "granted", "held")
    d.roles("U(7,voted=3)", "F(3,1)", "C(7)")
    d.handle(requests[1], "granted")
    d.roles("U(7)", "U(7,voted=3)", "L(7)")


def leftover_epoch(d: Director) -> None:
    """N3's epoch was raised before the cut; one election follows, which prevote.request.higher-epoch allows.

    How N3 got to C(4): both followers had missed N1 for a while, so N2 granted; N3's Vote requests got lost.
    """
    start(d, 1, 3)
    d.step("N3 becomes C(4) while N2 has lost the leader, too")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.roles("L(3)", "P(3,1)", "C(4,voted=3)")
    d.lose(3)
    d.election_timeout(2)
    d.fetch(2, 1)
    d.roles("L(3)", "F(3,1)", "C(4)")
    d.step("1. cut(1-3), cut(2-3)")
    d.cut(3, 1, 2)
    d.step("2. et(3)")
    d.election_timeout(3)
    d.roles("L(3)", "F(3,1)", "P(4,voted=3)")
    d.election_timeout(3)
    d.roles("L(3)", "F(3,1)", "U(4,voted=3)")
    d.election_timeout(3)
    d.step("3. heal")
    d.heal(3, 1, 2)
    d.pre_vote(3, 1, "granted")
    d.roles("U(4)", "F(3,1)", "C(5)")
    win(d, 3)
    announce(d, 3)
    d.roles("F(5,3)", "F(5,3)", "L(5)")
    d.fetch(1, 3)
    d.fetch(2, 3)


# ---------------------------------------------------------------------------------------------------------
# 2. Full-omission flip-flop.
# ---------------------------------------------------------------------------------------------------------


def _full_omission(d: Director) -> None:
    start(d, 3, 7)
    d.step("links down: 1-4, 1-5, 2-5, 3-4, 4-5; N4 U(7)")
    d.cut(4, 1, 3, 5)
    d.cut(5, 1, 2)


def full_omission(d: Director) -> None:
    """N4 asks the only voter that it reaches and is refused, as is N5: nothing gets going.

    Reading: the text lets N4 start as U(7) with the same log as the others.  That log ends in epoch 7, and only a
    Follower of N3 can have it, with N3 on its disk; so N4 starts as F(7,3) here, and its fetch timer fires.
    """
    _full_omission(d)

    def one_round() -> None:
        d.step("1. et(4), or ft(4)")
        d.fetch_timeout(4)
        d.roles("F(7,3)", "F(7,3)", "L(7)", "P(7,3)", "F(7,3)")
        d.step("2. N4 asks the only voter it reaches, N2")
        d.pre_vote(4, 2, "refused")
        d.election_timeout(4)
        d.roles("F(7,3)", "F(7,3)", "L(7)", "F(7,3)", "F(7,3)")
        d.fetched(4, False)

    one_round()
    d.step("N3 goes on committing with 1, 2, 5")
    d.append(3)
    for follower in (1, 2, 5, 1, 2, 5):
        d.fetch(follower, 3)
    d.high_watermark(3, d.state(3).log.end_offset)
    d.lasso(one_round)


def full_omission_without_pre_vote(d: Director) -> None:
    """The leader alternates between N3 and N2, and every change raises the epoch by two.

    Reading: the text has N3 grant N5's vote in step 6.  Every leader starts its epoch with a record, which N5
    cannot fetch from N2, so that N3 refuses by the log check; its epoch is gone all the same.
    """
    _full_omission(d)
    d.step("1. et(4)")
    d.fetch_timeout(4)
    d.roles("F(7,3)", "F(7,3)", "L(7)", "C(8)", "F(7,3)")

    def change(loser: int, middle: int, voters: tuple[int, ...], blind: int, verdict: str = "refused") -> None:
        """`loser` asks `middle`, which then wins with the voters; `blind` cannot reach the new leader."""
        d.step(f"N{loser} asks the only voter it reaches, N{middle}")
        d.vote(loser, middle, verdict)
        d.step(f"et({middle}); N{middle} asks {voters}")
        d.election_timeout(middle)
        for request in [d.hold(middle, voter) for voter in voters]:
            d.handle(request, "granted", "delivered" if d.state(middle).role is Role.CANDIDATE else "lost")
        for voter in voters:
            d.begin_quorum_epoch(middle, voter)
            d.fetch(voter, middle)
        d.lose(middle)
        d.step(f"ft({blind}), et({blind}): it cannot reach N{middle}")
        if d.state(blind).role is Role.FOLLOWER:
            d.fetch_timeout(blind)
        while d.state(blind).epoch <= d.state(middle).epoch:
            d.election_timeout(blind)

    change(4, 2, (1, 3, 4), blind=5, verdict="granted")
    d.roles("F(9,2)", "L(9)", "F(9,2)", "F(9,2)", "C(10)")
    change(5, 3, (1, 2, 5), blind=4)
    d.roles("F(11,3)", "F(11,3)", "L(11)", "C(12)", "F(11,3)")

    def both_changes() -> None:
        change(4, 2, (1, 3, 4), blind=5)
        change(5, 3, (1, 2, 5), blind=4)

    d.lasso(both_changes, "EventualLeader", epochs_grow=True)


def full_omission_without_refusal(d: Director) -> None:
    """N2 grants, but that is 2 of 5; a single lost fetch at N2 still costs one change of leader."""
    _full_omission(d)
    d.step("2. N4 asks N2")
    d.fetch_timeout(4)
    d.pre_vote(4, 2, "granted")
    d.check("N4 has 2 of 5", len(d.state(4).granted), 2)
    d.election_timeout(4)
    d.step("6. N5 asks N3; 4-5, 2-5, 1-5 are down")
    d.fetch_timeout(5)
    d.pre_vote(5, 3, "refused")
    d.election_timeout(5)
    d.roles("F(7,3)", "F(7,3)", "L(7)", "F(7,3)", "F(7,3)")
    d.fetch(5, 3)
    d.step("a single lost fetch at N2")
    d.fetch_timeout(2)
    d.roles("F(7,3)", "P(7,3)", "L(7)", "F(7,3)", "F(7,3)")
    d.pre_vote(2, 1, "granted")
    d.pre_vote(2, 4, "granted")
    d.roles("F(7,3)", "C(8)", "L(7)", "F(7,3)", "F(7,3)")
    d.vote(2, 1, "granted")
    d.vote(2, 4, "granted")
    d.roles("U(8)", "L(8)", "L(7)", "U(8)", "F(7,3)")


# ---------------------------------------------------------------------------------------------------------
# 3. Scenario A.
# ---------------------------------------------------------------------------------------------------------


def scenario_a(d: Director) -> None:
    """N3 has a working leader and refuses; N2 waits until its link is back."""
    start(d, 1, 4, end_offset=10)
    d.end_offsets(10, 10, 10)
    d.step("1. cut(1-2)")
    d.cut(1, 2)

    def one_round() -> None:
        d.step("2. ft(2)")
        d.fetch_timeout(2)
        d.roles("L(4)", "P(4,1)", "F(4,1)")
        d.step("3. pv(2>3) with (epoch 4, LEO 10)")
        d.pre_vote(2, 3, "refused")
        d.roles("L(4)", "P(4,1)", "F(4,1)")
        d.election_timeout(2)
        d.roles("L(4)", "F(4,1)", "F(4,1)")
        d.fetched(2, False)

    one_round()
    d.lasso(one_round)
    d.step("N1 commits with {1,3}")
    d.append(1)
    d.fetch(3, 1)
    d.fetch(3, 1)
    d.high_watermark(1, 11)
    d.step("heal(1-2): f(2>1) succeeds")
    d.heal(1, 2)
    d.fetch(2, 1)
    d.roles("L(4)", "F(4,1)", "F(4,1)")
    d.fetched(2, True)


def _scenario_a_change(d: Director, old: int, new: int, epoch: int) -> None:
    d.step(f"1. cut(1-2); 2. ft({new})")
    d.cut(1, 2)
    d.fetch_timeout(new)
    d.step(f"3. pv({new}>3)")
    d.pre_vote(new, 3, "granted")
    d.check(f"N{new} is Candidate of the next epoch", d.state(new).epoch, epoch)
    d.step(f"4. v({new}>3)")
    d.vote(new, 3, "granted")
    d.begin_quorum_epoch(new, 3)
    d.fetch(3, new)
    d.check(f"N{old} still leads the epoch before", (d.state(old).role, d.state(old).epoch), (Role.LEADER, epoch - 1))


def scenario_a_without_refusal(d: Director) -> None:
    """N3 helps whoever asks, although it always has a working leader: the leadership bounces for ever."""
    start(d, 1, 4, end_offset=10)

    def change(old: int, new: int, epoch: int) -> None:
        _scenario_a_change(d, old, new, epoch)
        d.step(f"5. heal(1-2) long enough for N{old} to follow N{new} and catch up")
        d.heal(1, 2)
        # The announcement got lost on the cut link; its connection is given up, and it is due again.
        d.request_timeout(new, old)
        d.begin_quorum_epoch(new, old)
        d.fetch(old, new)
        d.fetch(old, new)

    change(1, 2, 5)
    d.roles("F(5,2)", "L(5)", "F(5,2)")
    d.step("6. again with 1 and 2 swapped")
    change(2, 1, 6)
    d.roles("L(6)", "F(6,1)", "F(6,1)")

    def both_changes() -> None:
        epoch = d.state(1).epoch
        change(1, 2, epoch + 1)
        change(2, 1, epoch + 2)

    d.lasso(both_changes, "EventualLeader", epochs_grow=True)


def scenario_a_one_change(d: Director) -> None:
    """If the link stays cut, N1 lacks N2's record of epoch 5 and is refused by the log check."""
    start(d, 1, 4, end_offset=10)
    _scenario_a_change(d, 1, 2, 5)
    d.roles("L(4)", "L(5)", "F(5,2)")
    d.step("5. the link stays cut; N1 finds out by check quorum")
    d.check_quorum_timeout(1)
    d.election_timeout(1)
    d.roles("U(5)", "L(5)", "F(5,2)")
    d.fetch(1, 3, "NOT_LEADER_OR_FOLLOWER")
    d.roles("F(5,2)", "L(5)", "F(5,2)")
    d.step("6. ft(1), pv(1>3)")

    def one_round() -> None:
        d.fetch_timeout(1)
        d.pre_vote(1, 3, "refused")
        d.roles("P(5,2)", "L(5)", "F(5,2)")
        d.election_timeout(1)
        d.roles("F(5,2)", "L(5)", "F(5,2)")

    d.end_offsets(10, 11, 11)
    d.lasso(one_round)


# ---------------------------------------------------------------------------------------------------------
# 5. Ping-pong.
# ---------------------------------------------------------------------------------------------------------


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


def ping_pong(d: Director) -> None:
    """N3 has not fetched since it became Follower again, so it grants."""
    _ping(d, "granted")
    d.roles("L(4)", "C(5)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.roles("L(4)", "L(5)", "U(5,voted=2)")
    d.begin_quorum_epoch(2, 3)
    d.fetch(3, 2)
    d.roles("L(4)", "L(5)", "F(5,2)")


def ping_pong_for_ever(d: Director) -> None:
    """Steps 4 to 9 are a lasso, although 2 and 3 are a connected majority."""
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


def ping_pong_luck(d: Director) -> None:
    """The same mutation, but both are Prospective at once and get out: why a lasso is not a deadlock."""
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
        1,
        "partitioned-follower",
        "Partitioned follower (network partition disruption)",
        "KIP-996",
        ("state.follower.fetch-timeout", "prevote.leader.rejects", REFUSAL, "prevote.request.higher-epoch"),
        (
            Variant("with-the-rule", cluster(3), partitioned_follower, "N3 is refused by both and no epoch changes"),
            Variant(
                "with-the-rule-follower",
                cluster(3),
                partitioned_follower_fetches,
                "N3 is Follower when the links are back, and fetches",
            ),
            Variant(
                "without-pre-vote",
                cluster(3, pre_vote=False),
                partitioned_follower_without_pre_vote,
                "N3 comes back with epoch 7 and deposes N1",
                ("NoNeedlessElection",),
            ),
            Variant(
                "leftover-epoch",
                cluster(3),
                leftover_epoch,
                "an epoch raised before the cut costs exactly one election, which is allowed",
            ),
        ),
    ),
    Scenario(
        2,
        "full-omission-flip-flop",
        "Full-omission flip-flop of five servers",
        "KIP-996",
        (REFUSAL,),
        (
            Variant("with-the-rule", cluster(5), full_omission, "N3 stays L(7) and commits; N4 gets nothing"),
            Variant(
                "without-pre-vote",
                cluster(5, pre_vote=False),
                full_omission_without_pre_vote,
                "the leader alternates between N2 and N3 for ever, the epoch grows without bound",
                ("EventualLeader", "NoNeedlessElection"),
            ),
            Variant(
                "without-refusal",
                cluster(5, without=(REFUSAL,)),
                full_omission_without_refusal,
                "N4 has 2 of 5 and stops, but one lost fetch at N2 costs a change of leader",
                ("NoNeedlessElection",),
            ),
        ),
    ),
    Scenario(
        3,
        "scenario-a",
        "Scenario A: two up-to-date servers without a stable link",
        "KIP-996",
        (REFUSAL,),
        (
            Variant("with-the-rule", cluster(3), scenario_a, "N3 refuses, N1 stays L(4) and commits with {1,3}"),
            Variant(
                "without-refusal",
                cluster(3, without=(REFUSAL,)),
                scenario_a_without_refusal,
                "the leadership bounces between N1 and N2 for ever",
                ("EventualLeader", "NoNeedlessElection"),
            ),
            Variant(
                "without-refusal-link-stays-cut",
                cluster(3, without=(REFUSAL,)),
                scenario_a_one_change,
                "one change; then the log check refuses N1",
                ("NoNeedlessElection",),
            ),
        ),
    ),
    Scenario(
        5,
        "ping-pong",
        "Ping-pong between two followers",
        "KIP-996",
        ("prevote.follower.grants-before-fetch", "fetch.fetched-flag", "prevote.prospective.grants"),
        (
            Variant("with-the-rule", cluster(3), ping_pong, "N3 has not fetched since and grants; N2 L(5)"),
            Variant(
                "without-grants-before-fetch",
                cluster(3, without=("prevote.follower.grants-before-fetch",)),
                ping_pong_for_ever,
                "Followers always refuse: N2 and N3 refuse each other for ever",
                ("EventualLeader", "NoPingPong"),
            ),
            Variant(
                "without-fetched-flag",
                cluster(3, without=("fetch.fetched-flag",)),
                ping_pong_for_ever,
                "the flag is not cleared on coming back to Follower: the lasso is back",
                ("EventualLeader", "NoPingPong"),
            ),
            Variant(
                "without-fetched-flag-luck",
                cluster(3, without=("fetch.fetched-flag",)),
                ping_pong_luck,
                "both are Prospective at once and get out by luck",
            ),
        ),
    ),
)

"""Scenarios 4, 6, 7, 11 and 15: the replicas use different voters sets."""

from dataclasses import replace

from kraft_reference.profile import KIP
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import announce, nominate, start, win
from kraft_reference.scenarios.scenario import Scenario, Variant, cluster, voter_set

REFUSAL = "prevote.follower.rejects-after-fetch"
MEMBERSHIP = "vote.membership-not-checked"

# ---------------------------------------------------------------------------------------------------------
# 4. Scenario B.
# ---------------------------------------------------------------------------------------------------------


def _removal_unread(d: Director) -> None:
    start(d, 4, 5, end_offset=20)
    d.step("1. N4 appends Voters{2,3,4} at offset 20; nobody has fetched it")
    d.append_voters(4, voter_set(2, 3, 4))
    d.end_offsets(20, 20, 20, 21)
    d.voters(4, voter_set(2, 3, 4))
    d.step("2. N4 pauses; 3. ft(1)")
    d.fetch_timeout(1)
    d.roles("P(5,4)", "F(5,4)", "F(5,4)", "L(5)")


def scenario_b(d: Director) -> None:
    """N2 and N3 have a leader and refuse the server that is being removed."""
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


def scenario_b_without_refusal(d: Director) -> None:
    """N1 wins although N4 is healthy; its own removal, not committed yet, is undone."""
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


def scenario_b_boundary(d: Director) -> None:
    """N4 pauses longer than the fetch timeouts of N2 and N3: the election is legitimate."""
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


# ---------------------------------------------------------------------------------------------------------
# 6 and 7. A removed voter: stuck, or in the way of the others.
# ---------------------------------------------------------------------------------------------------------


def _remove_third(d: Director) -> None:
    """N1 appends Voters{1,2}, which N3 does not read, and commits it."""
    d.step("1. cut(1-3)")
    d.cut(1, 3)
    d.step("2. N1 appends Voters{1,2}; f(2>1) twice; it commits")
    d.append_voters(1, voter_set(1, 2))
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.high_watermark(1, d.state(1).log.end_offset)


def _removed_asks(d: Director) -> None:
    start(d, 1, 6)
    _remove_third(d)
    d.step("3. ft(3)")
    d.fetch_timeout(3)
    d.roles("L(6)", "F(6,1)", "P(6,1)")
    d.voters(3, voter_set(1, 2, 3))
    d.step("4. pv(3>2)")
    d.pre_vote(3, 2, "refused")
    d.roles("L(6)", "F(6,1)", "P(6,1)")
    d.step("5. heal(1-3)")
    d.heal(1, 3)


def _reads_its_removal(d: Director) -> None:
    d.roles("L(6)", "F(6,1)", "F(6,1)")
    d.step("f(3>1) brings Voters{1,2}")
    d.fetch(3, 1)
    d.roles("L(6)", "F(6,1)", "F(6,1)")
    d.voters(3, voter_set(1, 2))
    d.never_nominates(3)


def removed_voter(d: Director) -> None:
    """`et(3)` ends the round; N3 knows the leader, follows and reads that it was removed."""
    _removed_asks(d)
    d.step("et(3) ends the round")
    d.election_timeout(3)
    _reads_its_removal(d)


def removed_voter_refused(d: Director) -> None:
    """The other end of the round: a refusal of N1."""
    _removed_asks(d)
    d.step("a refusal of N1 ends the round")
    d.request_timeout(3, 1)
    d.pre_vote(3, 1, "refused")
    _reads_its_removal(d)


def removed_voter_stuck(d: Director) -> None:
    """Prospective is left for Candidate or a larger epoch only, and does not fetch: N3 never learns."""
    _removed_asks(d)
    d.request_timeout(3, 1)
    d.pre_vote(3, 1, "refused")
    d.roles("L(6)", "F(6,1)", "P(6,1)")

    def one_round() -> None:
        d.step("et(3): another round, refused again")
        d.election_timeout(3)
        d.pre_vote(3, 1, "refused")
        d.pre_vote(3, 2, "refused")
        d.roles("L(6)", "F(6,1)", "P(6,1)")

    d.lasso(one_round, "EventuallyFetching")


def _without_known_leader(d: Director) -> None:
    """N3 knows epoch 6 from a Vote request only."""
    nominate(d, 1, 6)
    requests = [d.hold(1, voter) for voter in (2, 3)]
    d.handle(requests[0], "granted")
    d.handle(requests[1], "granted", "lost")
    d.begin_quorum_epoch(1, 2)
    d.lose(1)
    d.roles("L(6)", "F(6,1)", "U(6,voted=1)")
    d.fetch(2, 1)
    d.fetch(2, 1)
    _remove_third(d)
    d.step("3. et(3)")
    d.election_timeout(3)
    d.roles("L(6)", "F(6,1)", "P(6,voted=1)")


def removed_voter_leader_named(d: Director) -> None:
    """The refusal names the leader."""
    _without_known_leader(d)
    d.step("4. pv(3>2): the refusal names leader 1")
    d.pre_vote(3, 2, "refused")
    d.step("5. heal(1-3)")
    d.heal(1, 3)
    _reads_its_removal(d)


def removed_voter_bootstrap(d: Director) -> None:
    """No answer at all: Unattached, and the bootstrap servers name the leader."""
    _without_known_leader(d)
    d.step("4. no answer comes at all; et(3)")
    d.poll(3)
    d.election_timeout(3)
    d.roles("L(6)", "F(6,1)", "U(6,voted=1)")
    d.step("f(3>bootstrap) names leader 1")
    d.fetch(3, 2, "NOT_LEADER_OR_FOLLOWER")
    d.step("5. heal(1-3)")
    d.heal(1, 3)
    _reads_its_removal(d)


def removed_voter_disturbs_nobody(d: Director) -> None:
    """Both refuse, and no epoch changes."""
    _removed_asks(d)
    d.request_timeout(3, 1)
    d.step("pv(3>1)")
    d.pre_vote(3, 1, "refused")
    d.roles("L(6)", "F(6,1)", "F(6,1)")


def removed_voter_disturbs(d: Director) -> None:
    """N3 cannot win, because its log is shorter, but it ends N1's epoch."""
    start(d, 1, 6)
    _remove_third(d)
    d.heal(1, 3)
    d.step("3. ft(3); v(3>2), v(3>1)")
    d.fetch_timeout(3)
    d.roles("L(6)", "F(6,1)", "C(7)")
    d.vote(3, 2, "refused")
    d.roles("L(6)", "U(7)", "C(7)")
    d.vote(3, 1, "refused")
    d.roles("U(7)", "U(7)", "C(7)")


def removed_voter_disturbs_for_ever(d: Director) -> None:
    """The link 1-3 stays cut, so N3 never reads that it was removed; N1 learns the epochs from N2."""
    start(d, 1, 6)
    _remove_third(d)

    def one_round() -> None:
        d.step("ft(3) and et(3) until N3 has a larger epoch; v(3>2)")
        epoch = d.state(1).epoch
        d.fetch_timeout(3)
        d.roles(f"L({epoch})", f"F({epoch},1)", f"C({epoch + 1})")
        d.vote(3, 2, "refused")
        d.step("N1 learns the epoch from N2")
        d.begin_quorum_epoch_timeout(1)
        d.begin_quorum_epoch(1, 2, "FENCED_LEADER_EPOCH")
        d.roles(f"U({epoch + 1})", f"U({epoch + 1})", f"C({epoch + 1})")
        d.step("N1 is elected again")
        d.election_timeout(1)
        win(d, 1)
        d.begin_quorum_epoch(1, 2)
        d.fetch(2, 1)
        d.step("et(3); N2 names N1, which N3 cannot reach")
        d.election_timeout(3)
        d.vote(3, 2, "refused")
        d.roles(f"L({epoch + 2})", f"F({epoch + 2},1)", f"F({epoch + 2},1)")
        d.fetch_unanswered(3, 1)

    one_round()
    d.lasso(one_round, epochs_grow=True)


# ---------------------------------------------------------------------------------------------------------
# 11. A new voter that does not know it is one.
# ---------------------------------------------------------------------------------------------------------


def _addition_unread(d: Director, reader: int) -> None:
    start(d, 1, 6, end_offset=30)
    d.never_nominates(4)
    d.step(f"N1 appends Voters{{1,2,3,4}} at 30; only N{reader} fetches it; crash(1)")
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.fetch(reader, 1)
    d.crash(1)
    for replica_id in (2, 3, 4):
        d.voters(replica_id, voter_set(1, 2, 3, 4) if replica_id == reader else voter_set(1, 2, 3))
        d.fetch_timeout(replica_id)


def _new_voter_asked(d: Director) -> None:
    _addition_unread(d, reader=2)
    d.end_offsets(31, 31, 30, 30)
    d.roles("stopped", "P(6,1)", "P(6,1)", "F(6,1)")
    d.step("pv(2>3), pv(2>4)")
    d.pre_vote(2, 3, "granted")
    d.roles("stopped", "P(6,1)", "P(6,1)", "F(6,1)")
    d.pre_vote(2, 4, "granted")
    d.roles("stopped", "C(7)", "P(6,1)", "F(6,1)")


def new_voter(d: Director) -> None:
    """N4 thinks it is no voter, and yet its vote counts."""
    _new_voter_asked(d)
    d.step("v(2>3), v(2>4)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "C(7)", "U(7,voted=2)", "F(6,1)")
    d.vote(2, 4, "granted")
    d.roles("stopped", "L(7)", "U(7,voted=2)", "U(7,voted=2)")
    announce(d, 2)
    d.fetch(4, 2)
    d.voters(4, voter_set(1, 2, 3, 4))


def new_voter_refuses(d: Director) -> None:
    """Without N4 there is no majority of {1,2,3,4}, and N2's longer log refuses N3: until N1 returns."""
    _new_voter_asked(d)

    def refused(voters: tuple[int, ...]) -> None:
        d.step("v(2>3), v(2>4)")
        verdicts = {3: "granted", 4: "refused"}
        for voter in voters:
            d.vote(2, voter, verdicts[voter])

    refused((3, 4))
    d.roles("stopped", "C(7,voted=2)", "U(7,voted=2)", "U(7,voted=none)")
    d.step("N3's turn: N2's longer log refuses it")
    d.election_timeout(2)
    d.election_timeout(3)
    d.pre_vote(3, 2, "refused")
    d.election_timeout(3)
    d.roles("stopped", "P(7)", "U(7,voted=2)", "U(7)")

    def one_round() -> None:
        d.pre_vote(2, 3, "granted")
        d.pre_vote(2, 4, "granted")
        refused((3, 4))
        d.election_timeout(2)

    d.lasso(one_round, "EventualLeader", epochs_grow=True)
    d.step("N1 returns")
    epoch = d.state(2).epoch
    d.restart(1)
    d.roles("R(6)")
    d.pre_vote(2, 1, "granted")
    d.pre_vote(2, 3, "granted")
    d.vote(2, 1, "granted")
    d.vote(2, 3, "granted")
    d.roles(f"U({epoch + 1},voted=2)", f"L({epoch + 1})", f"U({epoch + 1},voted=2)", f"U({epoch})")


def _unknown_candidate(d: Director, verdict: str) -> None:
    _addition_unread(d, reader=4)
    d.roles("stopped", "P(6,1)", "P(6,1)", "P(6,1)")
    d.step("pv(4>3), pv(4>2): the sets of 2 and 3 lack 4")
    d.pre_vote(4, 3, "granted")
    d.pre_vote(4, 2, "granted")
    d.roles("stopped", "P(6,1)", "P(6,1)", "C(7)")
    d.step("v(4>3), v(4>2)")
    d.vote(4, 3, verdict)
    d.vote(4, 2, verdict)


def unknown_candidate(d: Director) -> None:
    """The mirror: the receivers do not know the sender as a voter; the log check alone decides."""
    _unknown_candidate(d, "granted")
    d.roles("stopped", "U(7,voted=4)", "U(7,voted=4)", "L(7)")


def unknown_candidate_refused(d: Director) -> None:
    """The mirror with receivers that vote for members only."""
    _unknown_candidate(d, "refused")
    d.roles("stopped", "U(7,voted=none)", "U(7,voted=none)", "C(7)")


# ---------------------------------------------------------------------------------------------------------
# 15. An observer that refuses for ever.
# ---------------------------------------------------------------------------------------------------------


def _observer_asked(d: Director) -> None:
    start(d, 1, 4)
    d.never_nominates(3)
    d.step("N1 appends Voters{1,2,3}; only N2 fetches it; crash(1)")
    d.append_voters(1, voter_set(1, 2, 3))
    d.fetch(2, 1)
    d.crash(1)
    d.step("1. ft(2)")
    d.fetch_timeout(2)
    d.voters(2, voter_set(1, 2, 3))
    d.voters(3, voter_set(1, 2))
    d.step("2. ft(3): an observer, it only searches wider")
    d.fetch_timeout(3)
    d.check("N3 asks the bootstrap servers, too", d.state(3).searching, True)


def _observer_becomes_voter(d: Director) -> None:
    announce(d, 2)
    d.step("N3 reads Voters{1,2,3} and is a voter")
    d.fetch(3, 2)
    d.roles("stopped", "L(5)", "F(5,2)")
    d.voters(3, voter_set(1, 2, 3))
    d.fetch_timeout(3)
    d.roles("stopped", "L(5)", "P(5,2)")


def observer_refusal_expires(d: Director) -> None:
    """N3's refusal ends with its fetch timer."""
    _observer_asked(d)
    d.roles("stopped", "P(4,1)", "F(4,1)")
    d.step("3. pv(2>3)")
    d.pre_vote(2, 3, "granted")
    d.roles("stopped", "C(5)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(5)", "U(5,voted=2)")
    _observer_becomes_voter(d)


def observer_refusal_lasts(d: Director) -> None:
    """N3 never leaves Follower, N2 never becomes Candidate, and no epoch rises."""
    _observer_asked(d)
    d.step("3. pv(2>3)")
    d.pre_vote(2, 3, "refused")
    d.roles("stopped", "P(4,1)", "F(4,1)")

    def one_round() -> None:
        d.step("et(2), ft(2), ft(3), f(3>2), pv(2>3)")
        d.election_timeout(2)
        d.roles("stopped", "F(4,1)", "F(4,1)")
        d.fetch_timeout(2)
        d.fetch_timeout(3)
        d.fetch(3, 2, "NOT_LEADER_OR_FOLLOWER")
        d.pre_vote(2, 3, "refused")
        d.roles("stopped", "P(4,1)", "F(4,1)")

    d.lasso(one_round, "EventualLeader")


def observer_before_pre_vote(d: Director) -> None:
    """Before Pre-Vote, the larger epoch made N3 vote: what KIP-853 opened voting to non-members for."""
    _observer_asked(d)
    d.roles("stopped", "C(5)", "F(4,1)")
    d.step("3. v(2>3)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(5)", "U(5,voted=2)")


SCENARIOS = (
    Scenario(
        4,
        "scenario-b",
        "Scenario B: a server of an old configuration",
        "KIP-996",
        (REFUSAL, "fetch.truncate.voters-set"),
        (
            Variant("with-the-rule", cluster(4), scenario_b, "N1 is refused twice; its removal commits"),
            Variant(
                "without-refusal",
                cluster(4, without=(REFUSAL,)),
                scenario_b_without_refusal,
                "N1 wins although N4 is healthy, and its removal is undone",
                ("NoNeedlessElection",),
            ),
            Variant(
                "long-pause",
                cluster(4),
                scenario_b_boundary,
                "N4 pauses too long: N1 wins legitimately, N4 cuts offset 20 and uses {1,2,3,4} again",
            ),
        ),
    ),
    Scenario(
        6,
        "removed-voter-stuck",
        "Removed voter stuck",
        "KIP-996",
        ("state.prospective.lost.known-leader", "state.prospective.lost.no-leader", "state.unattached.entry-timer"),
        (
            Variant("with-the-rule", cluster(3), removed_voter, "et(3): N3 F(6,1), fetches, is an observer"),
            Variant("with-the-rule-refused", cluster(3), removed_voter_refused, "N1's refusal ends the round as well"),
            Variant(
                "no-known-leader-named", cluster(3), removed_voter_leader_named, "a refusal names leader 1 to N3 P(6)"
            ),
            Variant(
                "no-known-leader-bootstrap",
                cluster(3),
                removed_voter_bootstrap,
                "no answer: N3 U(6), and a bootstrap server names leader 1",
            ),
            Variant(
                "without-lost-pre-vote",
                cluster(3, without=("state.prospective.lost.known-leader",)),
                removed_voter_stuck,
                "N3 stays P(6,1) for ever and never learns that it was removed",
                ("EventuallyFetching",),
            ),
        ),
    ),
    Scenario(
        7,
        "removed-voter-disturbs",
        "Removed voter disturbs the others",
        "KIP-853",
        ("prevote.leader.rejects", REFUSAL),
        (
            Variant("with-the-rule", cluster(3), removed_voter_disturbs_nobody, "both refuse, no epoch changes"),
            Variant(
                "without-pre-vote",
                cluster(3, pre_vote=False),
                removed_voter_disturbs,
                "N3 C(7) ends N1's epoch although it cannot win",
                ("NoNeedlessElection",),
            ),
            Variant(
                "without-pre-vote-link-cut",
                cluster(3, pre_vote=False),
                removed_voter_disturbs_for_ever,
                "N3 cannot reach N1 and deposes it again and again by way of N2",
                ("NoNeedlessElection",),
            ),
        ),
    ),
    Scenario(
        11,
        "new-voter-without-the-record",
        "A new voter that does not know it is one",
        "KIP-853",
        (MEMBERSHIP, "prevote.observer.answers", "prevote.follower.refusal-expires"),
        (
            Variant("with-the-rule", cluster(4, (1, 2, 3)), new_voter, "observer N4 votes, N2 L(7)"),
            Variant(
                "without-open-voting",
                cluster(4, (1, 2, 3), without=(MEMBERSHIP,)),
                new_voter_refuses,
                "N4 refuses; no leader until N1 returns",
                ("EventualLeader",),
            ),
            Variant(
                "unknown-candidate", cluster(4, (1, 2, 3)), unknown_candidate, "the log check alone decides: N4 L(7)"
            ),
            Variant(
                "unknown-candidate-without-open-voting",
                cluster(4, (1, 2, 3), without=(MEMBERSHIP,)),
                unknown_candidate_refused,
                "N2 and N3 refuse a candidate that their sets lack",
            ),
        ),
    ),
    Scenario(
        15,
        "observer-that-refuses",
        "An observer that refuses for ever",
        "gap between KIP-996 and KIP-853",
        ("prevote.follower.refusal-expires", "observer.fetch-timeout", "observer.becomes-voter"),
        (
            Variant(
                "with-the-rule", cluster(3, (1, 2)), observer_refusal_expires, "N3 grants after its fetch timer; L(5)"
            ),
            Variant(
                "refusal-lasts",
                cluster(3, (1, 2), profile=replace(KIP, name="kip-refusal-lasts", observer_refusal="lasts")),
                observer_refusal_lasts,
                "N3 refuses for ever, although {2,3} is a connected majority of {1,2,3}",
                ("EventualLeader",),
            ),
            Variant(
                "without-pre-vote",
                cluster(3, (1, 2), pre_vote=False),
                observer_before_pre_vote,
                "before Pre-Vote, C(5) would have won",
            ),
        ),
    ),
)

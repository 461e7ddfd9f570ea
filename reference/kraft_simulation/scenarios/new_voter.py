"""Scenarios 11 and 15: a voter that does not know that it is one."""

from kraft_reference.profile import KAFKA_4_1
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

NEW_VOTER_WITHOUT_THE_RECORD = Variants()
OBSERVER_THAT_REFUSES = Variants()

MEMBERSHIP = "vote.membership-not-checked"


def _addition_unread(d: Director, reader: int) -> None:
    start(d, 1, 6, end_offset=30)
    d.never_nominates(4)
    d.step(f"N1 appends Voters{{1,2,3,4}} at 30; only N{reader} fetches it; crash(1)")
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.line(1, voter_set(1, 2, 3, 4), 31, "1:31 2:30 3:30 4:30", 30)
    d.fetch(reader, 1)
    d.unanswered(request)
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


@NEW_VOTER_WITHOUT_THE_RECORD.variant("with-the-rule", cluster(4, (1, 2, 3)))
def new_voter(d: Director) -> None:
    """Observer N4 votes, N2 L(7)."""
    # N4 thinks it is no voter, and yet its vote counts.
    _new_voter_asked(d)
    d.step("v(2>3), v(2>4)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "C(7)", "U(7,voted=2)", "F(6,1)")
    d.vote(2, 4, "granted")
    d.roles("stopped", "L(7)", "U(7,voted=2)", "U(7,voted=2)")
    announce(d, 2)
    d.fetch(4, 2)
    d.voters(4, voter_set(1, 2, 3, 4))


@NEW_VOTER_WITHOUT_THE_RECORD.variant(
    "without-open-voting", cluster(4, (1, 2, 3)), "EventualLeader", mutants=(MEMBERSHIP,)
)
def new_voter_refuses(d: Director) -> None:
    """N4 refuses; no leader until N1 returns."""
    # Without N4 there is no majority of {1,2,3,4}, and N2's longer log refuses N3: until N1 returns.
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


@NEW_VOTER_WITHOUT_THE_RECORD.variant("unknown-candidate", cluster(4, (1, 2, 3)))
def unknown_candidate(d: Director) -> None:
    """The log check alone decides: N4 L(7)."""
    # The mirror: the receivers do not know the sender as a voter; the log check alone decides.
    _unknown_candidate(d, "granted")
    d.roles("stopped", "U(7,voted=4)", "U(7,voted=4)", "L(7)")


@NEW_VOTER_WITHOUT_THE_RECORD.variant(
    "unknown-candidate-without-open-voting", cluster(4, (1, 2, 3)), mutants=(MEMBERSHIP,)
)
def unknown_candidate_refused(d: Director) -> None:
    """N2 and N3 refuse a candidate that their sets lack."""
    # The mirror with receivers that vote for members only.
    _unknown_candidate(d, "refused")
    d.roles("stopped", "U(7,voted=none)", "U(7,voted=none)", "C(7)")


def _observer_asked(d: Director) -> None:
    start(d, 1, 4)
    d.never_nominates(3)
    d.step("N1 appends Voters{1,2,3}; only N2 fetches it; crash(1)")
    d.add_voter(1, 3)
    d.learn_versions(1, 3)
    d.voters(1, voter_set(1, 2, 3))
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


@OBSERVER_THAT_REFUSES.variant("with-the-rule", cluster(3, (1, 2)))
def observer_refusal_expires(d: Director) -> None:
    """N3 grants after its fetch timer; L(5)."""
    # N3's refusal ends with its fetch timer.
    _observer_asked(d)
    d.roles("stopped", "P(4,1)", "F(4,1)")
    d.step("3. pv(2>3)")
    d.pre_vote(2, 3, "granted")
    d.roles("stopped", "C(5)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(5)", "U(5,voted=2)")
    _observer_becomes_voter(d)


@OBSERVER_THAT_REFUSES.variant("refusal-lasts", cluster(3, (1, 2), profile=KAFKA_4_1), "EventualLeader")
def observer_refusal_lasts(d: Director) -> None:
    """Profile kafka-4.1: N3 refuses for ever, although {2,3} is a connected majority of {1,2,3}."""
    # N3 never leaves Follower, N2 never becomes Candidate, and no epoch rises.
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


@OBSERVER_THAT_REFUSES.variant("without-pre-vote", cluster(3, (1, 2), pre_vote=False))
def observer_before_pre_vote(d: Director) -> None:
    """Before Pre-Vote, C(5) would have won."""
    # Before Pre-Vote, the larger epoch made N3 vote: what KIP-853 opened voting to non-members for.
    _observer_asked(d)
    d.roles("stopped", "C(5)", "F(4,1)")
    d.step("3. v(2>3)")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(5)", "U(5,voted=2)")


SCENARIOS = (
    Scenario(
        11,
        "new-voter-without-the-record",
        "A new voter that does not know it is one",
        "KIP-853",
        (MEMBERSHIP, "prevote.observer.answers", "prevote.follower.refusal-expires"),
        tuple(NEW_VOTER_WITHOUT_THE_RECORD),
    ),
    Scenario(
        15,
        "observer-that-refuses",
        "An observer that refuses for ever",
        "gap between KIP-996 and KIP-853",
        ("prevote.follower.refusal-expires", "observer.fetch-timeout", "observer.becomes-voter"),
        tuple(OBSERVER_THAT_REFUSES),
    ),
)

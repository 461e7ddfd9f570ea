"""Scenarios 16 and 18: messages that arrive after what they were about."""

from kraft_reference.outcome import Refusal
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

LATE_PRE_VOTE_GRANT = Variants()
TWO_VOTES_AFTER_FORGOTTEN_LEADER = Variants()

CORRELATE = "prevote.response.correlate"
PRESERVES = "state.same-epoch-preserves"
_TWO_LEADERS = ("ElectionSafety", "LogMatching", "OffsetEpochUnique")


def _two_candidates(d: Director) -> None:
    """Epoch 4 without a leader, then N2 C(5) and N3 C(5); logs are empty, and N1 has no vote in epoch 5."""
    d.step("epoch 4 without leader")
    nominate(d, 1, 4)
    d.election_timeout(1)
    for voter in (2, 3):
        d.pre_vote(1, voter, "granted", "lost")
    d.roles("P(4)", "U(4)", "U(4)")
    d.step("N2 C(5) and N3 C(5)")
    answers = []
    for candidate in (2, 3):
        d.election_timeout(candidate)
        answers.append(d.pre_vote(candidate, 1, "granted", "held"))
    for answer in answers:
        d.deliver(answer)
    for candidate in (1, 2, 3):
        d.lose(candidate)
    d.roles("P(4)", "C(5)", "C(5)")


# ---------------------------------------------------------------------------------------------------------
# 16. A late Pre-Vote grant counted as a vote.
# ---------------------------------------------------------------------------------------------------------


def _late_grant(d: Director) -> None:
    _two_candidates(d)
    d.step("2. v(2>1), answer delayed")
    vote = d.vote(2, 1, "granted", "held")
    d.roles("U(5,voted=2)", "C(5)", "C(5)")
    d.step("3. et(3)")
    d.election_timeout(3)
    d.roles("U(5,voted=2)", "C(5)", "P(5,voted=3)")
    d.step("4. pv(3>1) despite the vote, answer delayed")
    grant = d.pre_vote(3, 1, "granted", "held")
    d.step("5. crash(3), restart(3)")
    d.crash(3)
    d.restart(3)
    d.roles("U(5,voted=2)", "C(5)", "C(5,voted=3)")
    d.step("6. the answer of 2 reaches N2")
    d.deliver(vote)
    d.roles("U(5,voted=2)", "L(5)", "C(5)")
    d.step("7. the answer of 4 reaches N3")
    d.deliver(grant)


@LATE_PRE_VOTE_GRANT.variant("with-the-rule", cluster(3))
def late_grant(d: Director) -> None:
    """The late grant is dropped; N3 has one vote."""
    # It matches no request of this incarnation and is dropped.
    _late_grant(d)
    d.check("its refusal", d.occurrences[-1].refusal, Refusal.UNCORRELATED_RESPONSE)
    d.check("N3's votes", d.state(3).granted, frozenset({3}))
    d.roles("U(5,voted=2)", "L(5)", "C(5)")


@LATE_PRE_VOTE_GRANT.variant("without-correlation", cluster(3), *_TWO_LEADERS, mutants=(CORRELATE,))
def late_grant_counted(d: Director) -> None:
    """N3 counts {3,1} and leads epoch 5 beside N2."""
    # N3 counts {3,1}: a second leader of epoch 5.
    _late_grant(d)
    d.roles("U(5,voted=2)", "L(5)", "L(5)")


def _late_vote_answer(d: Director) -> None:
    """The mirror: the refusal of a standard vote reaches N3 in its next Pre-Vote round, while N2 leads."""
    _two_candidates(d)
    d.step("v(2>1); N2 L(5)")
    d.vote(2, 1, "granted")
    d.step("v(3>1), answer delayed")
    refusal = d.vote(3, 1, "refused", "held")
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.roles("F(5,2)", "L(5)", "C(5)")
    d.step("et(3)")
    d.election_timeout(3)
    d.roles("F(5,2)", "L(5)", "P(5,voted=3)")
    d.step("the answer with PreVote=false reaches N3")
    d.deliver(refusal)


@LATE_PRE_VOTE_GRANT.variant("late-vote-answer", cluster(3))
def late_vote_answer(d: Director) -> None:
    """A late standard answer leaves N3 P(5)."""
    # It must not push N3 past Pre-Vote (prevote.response.flag-false).
    _late_vote_answer(d)
    d.roles("F(5,2)", "L(5)", "P(5)")


@LATE_PRE_VOTE_GRANT.variant(
    "late-vote-answer-without-correlation", cluster(3), "NoNeedlessElection", mutants=(CORRELATE,)
)
def late_vote_answer_counted(d: Director) -> None:
    """A late standard answer pushes N3 to C(6) although N2 leads."""
    # N3 takes it for an answer of old software and becomes Candidate.
    _late_vote_answer(d)
    d.roles("F(5,2)", "L(5)", "C(6)")


# ---------------------------------------------------------------------------------------------------------
# 18. Two votes in one epoch after a forgotten leader.
# ---------------------------------------------------------------------------------------------------------


def _forgotten_leader(d: Director, vote_kept: bool) -> str:
    """N1 P(5,2); the Vote request of N3 C(5) to it, which is still on its way."""
    _two_candidates(d)
    d.step("v(2>1); N2 L(5)")
    late = d.hold(3, 1)
    d.vote(2, 1, "granted")
    d.roles("U(5,voted=2)", "L(5)", "C(5)")
    d.step("bqe(2>1)")
    voted = "2" if vote_kept else "none"
    d.begin_quorum_epoch(2, 1)
    d.roles(f"F(5,2,voted={voted})", "L(5)", "C(5)")
    d.step("cut(1-2), ft(1)")
    d.cut(1, 2)
    d.fetch_timeout(1)
    d.roles(f"P(5,2,voted={voted})", "L(5)", "C(5)")
    return late


@TWO_VOTES_AFTER_FORGOTTEN_LEADER.variant("with-the-rule", cluster(3))
def vote_preserved(d: Director) -> None:
    """N1 still has voted=2 and leader 2, and refuses N3."""
    # A lost round takes N1 back to F(5,2), and its vote is still N2's.
    # Reading: the text says U(5). N1 knows the leader's endpoint from its voter set, so that a lost round
    # (state.prospective.lost.known-leader) and a restart (durable.restart.known-leader) make it Follower.
    late = _forgotten_leader(d, vote_kept=True)
    d.step("1. a lost round")
    d.election_timeout(1)
    d.roles("F(5,2,voted=2)", "L(5)", "C(5)")
    d.step("2. v(3>1) with epoch 5")
    d.handle(late, "refused", "held")
    d.roles("F(5,2,voted=2)", "L(5)", "C(5)")


@TWO_VOTES_AFTER_FORGOTTEN_LEADER.variant("prospective", cluster(3))
def vote_preserved_prospective(d: Director) -> None:
    """N1 P(5,2,voted=2) refuses N3, too."""
    # The same in the role in which a vote could be cast: P(5,2).
    late = _forgotten_leader(d, vote_kept=True)
    d.step("2. v(3>1) with epoch 5")
    d.handle(late, "refused", "held")
    d.roles("P(5,2,voted=2)", "L(5)", "C(5)")


@TWO_VOTES_AFTER_FORGOTTEN_LEADER.variant("restart", cluster(3))
def vote_preserved_restart(d: Director) -> None:
    """A restart keeps vote and leader as well."""
    # The other way of the text: `restart(1)`.
    late = _forgotten_leader(d, vote_kept=True)
    d.step("1. restart(1)")
    d.crash(1)
    d.restart(1)
    d.roles("F(5,2,voted=2)", "L(5)", "C(5)")
    d.step("2. v(3>1) with epoch 5")
    d.handle(late, "refused", "held")
    d.roles("F(5,2,voted=2)", "L(5)", "C(5)")


@TWO_VOTES_AFTER_FORGOTTEN_LEADER.variant(
    "without-memory", cluster(3), *_TWO_LEADERS, "VoteOncePerEpoch", mutants=(PRESERVES,)
)
def vote_forgotten(d: Director) -> None:
    """N1 votes twice in epoch 5; N3 L(5) beside N2."""
    # Vote dropped on entering Follower, leader id dropped on the way to Unattached: N1 votes twice.
    late = _forgotten_leader(d, vote_kept=False)
    d.step("1. a lost round")
    d.election_timeout(1)
    d.roles("U(5,voted=none)", "L(5)", "C(5)")
    d.step("2. v(3>1) with epoch 5")
    d.handle(late, "granted")
    d.roles("U(5,voted=3)", "L(5)", "L(5)")


SCENARIOS = (
    Scenario(
        16,
        "late-pre-vote-grant",
        "A late Pre-Vote grant counted as a vote",
        "gap in KIP-996",
        (CORRELATE, "prevote.response.flag-false", "prevote.grant.multiple"),
        tuple(LATE_PRE_VOTE_GRANT),
    ),
    Scenario(
        18,
        "two-votes-after-forgotten-leader",
        "Two votes in one epoch after a forgotten leader",
        "gap in KIP-996",
        (PRESERVES, "vote.known-leader.rejects", "durable.restart.known-leader"),
        tuple(TWO_VOTES_AFTER_FORGOTTEN_LEADER),
    ),
)

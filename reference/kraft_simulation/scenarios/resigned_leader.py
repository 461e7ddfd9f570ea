"""Scenario 10: what a leader does after it has given up."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, nominate, start, win, win_pre_vote
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

RESIGNED_TIMEOUT = "state.resigned.timeout"
PRESERVES = "state.same-epoch-preserves"


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


@VARIANTS.variant("with-the-rule", cluster(3))
def resigned(d: Director) -> None:
    """N1 U(6), later F(6,2)."""
    # N1 leaves its epoch behind, and later follows whoever leads.
    _resigned(d)
    _lost_round_in_the_next_epoch(d)
    _learns_new_leader(d)


@VARIANTS.variant("with-the-rule-pre-vote", cluster(3))
def resigned_asks(d: Director) -> None:
    """N1's Pre-Vote of epoch 6 is granted; L(7)."""
    # N1's Pre-Vote of epoch 6 is judged by nodes that have no leader they could lose.
    _resigned(d)
    _lost_round_in_the_next_epoch(d)
    d.step("heal: N1's Pre-Vote of epoch 6")
    d.heal(1, 2, 3)
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(7)", "U(6)", "F(5,1)")
    win(d, 1)
    d.roles("L(7)", "U(7,voted=1)", "F(5,1)")


@VARIANTS.variant("restart", cluster(3))
def resigned_restarts(d: Director) -> None:
    """A crashed leader restarts as R(5), then the same."""
    # The same after a crash of the leader.
    start(d, 1, 5)
    d.cut(1, 2, 3)
    d.step("crash(1), restart(1)")
    d.crash(1)
    d.restart(1)
    d.roles("R(5)", "F(5,1)", "F(5,1)")
    _lost_round_in_the_next_epoch(d)
    _learns_new_leader(d)


@VARIANTS.variant(
    "without-resigned-timeout", cluster(3), "NotFollowerOfSelf", "RoleChange", mutants=(RESIGNED_TIMEOUT,)
)
def resigned_without_timeout_rule(d: Director) -> None:
    """N1 becomes F(5,1), Follower of itself."""
    # N1 stays in its epoch, knows leader and endpoint of it, and follows: itself.
    _resigned(d)
    d.step("2. et(1)")
    d.election_timeout(1)
    d.roles("P(5,1)", "F(5,1)", "F(5,1)")
    d.step("3. the next election round fails")
    d.election_timeout(1)
    d.roles("F(5,1)", "F(5,1)", "F(5,1)")


@VARIANTS.variant(
    "without-resigned-timeout-and-memory",
    cluster(3),
    "ElectionSafety",
    "RoleChange",
    "VoteOncePerEpoch",
    mutants=(RESIGNED_TIMEOUT, PRESERVES),
)
def resigned_votes_again(d: Director) -> None:
    """N1 forgets leader and vote and votes a second time in epoch 5."""
    # A bump-free N1 that also forgets the leader of epoch 5, which it was, votes in that epoch again.
    # N2 is a Candidate of epoch 5, too; its Vote request to N1 is on its way all the time. Reading: a leader's log
    # holds the record that starts its epoch, and with it the log check refuses every candidate of that epoch. Only a
    # leader that crashes between writing that it leads and writing that record can vote again, and elect a second one.
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


SCENARIOS = (
    Scenario(
        10,
        "resigned-leader-follows-itself",
        "A resigned leader must not follow itself",
        "KIP-996",
        (RESIGNED_TIMEOUT, "state.resigned.timer-handover", "durable.restart.was-leader", PRESERVES),
        tuple(VARIANTS),
    ),
)

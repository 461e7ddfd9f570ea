"""Pre-Vote responses, and other events at a Prospective."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, nominate, start, win
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import lead_unannounced
from kraft_vectors.target import Targets

TARGETS = Targets()


@TARGETS.vector("prevote.stale-epoch", 2, "prevote.request.stale-epoch", "state.epoch-monotonic")
@TARGETS.vector(
    "prevote.answer-of-a-larger-epoch",
    3,
    "prevote.response.epoch-first",
    "state.learn-higher-epoch.no-leader",
    title="A Prospective handles the epoch of a response before the response: Unattached",
)
def _stale(d: Director) -> None:
    """A Pre-Vote of an older epoch is fenced."""
    d.election_timeout(3)
    request = d.hold(3, 2)
    lead_unannounced(d, 1)
    d.step("the Pre-Vote of epoch 0 arrives in epoch 1")
    d.handle(request, "FENCED_LEADER_EPOCH")


@TARGETS.vector(
    "prevote.answer-of-a-larger-epoch-with-leader", 3, "prevote.response.epoch-first", "state.learn-higher-epoch.leader"
)
def _stale_with_leader(d: Director) -> None:
    """A Prospective handles the epoch and leader of a response before the response: Follower."""
    d.election_timeout(3)
    request = d.hold(3, 2)
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.step("the Pre-Vote of epoch 0 arrives in epoch 1, whose leader is known")
    d.handle(request, "FENCED_LEADER_EPOCH")
    d.roles("L(1)", "F(1,1)", "F(1,1)")


@TARGETS.vector("prevote.lost", 3, "prevote.response.rejected")
def _lost(d: Director) -> None:
    """Refusals of a majority end the round."""
    lead(d, 1, 1, 5, 2)
    d.crash(1)
    d.restart(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.step("both others refuse")
    d.pre_vote(3, 2, "refused")
    d.pre_vote(3, 1, "refused")


@TARGETS.vector(
    "prevote.unanswered", 1, "state.prospective.lost.no-leader", "state.unattached.entry-timer", level="effects"
)
def _unanswered(d: Director) -> None:
    """A round without responses ends with the election timer: Unattached, with a new timer, in the same epoch."""
    d.election_timeout(1)
    d.step("the votes of 1 get lost, and its election timer fires")
    d.poll(1)
    d.lose(1)
    d.election_timeout(1)
    d.roles("U(0)")


@TARGETS.vector(
    "prevote.majority",
    1,
    "prevote.response.majority",
    "state.prospective.to-candidate",
    "state.candidate.entry",
    "state.candidate-only-from-prospective",
)
def _majority(d: Director) -> None:
    """A majority of grants makes a Prospective a Candidate, in the next epoch and with its own vote on disk."""
    d.election_timeout(1)
    d.step("one grant beside the own is a majority of three")
    d.pre_vote(1, 2, "granted")
    d.roles("C(1)")


@TARGETS.vector(
    "prevote.majority-of-five",
    1,
    "prevote.response.majority",
    "state.voters-set.own-majority",
    configuration=cluster(5),
)
def _majority_of_five(d: Director) -> None:
    """A Prospective counts the majority by its own voter set."""
    d.election_timeout(1)
    d.step("one grant beside the own is none of five, a second is")
    d.pre_vote(1, 2, "granted")
    d.roles("P(0)")
    d.pre_vote(1, 3, "granted")
    d.roles("C(1)")


@TARGETS.vector("prevote.late-grant", 1, "prevote.response.ignored-when-candidate", "prevote.response.correlate")
def _late_grant(d: Director) -> None:
    """A grant after the end of the round changes nothing."""
    d.election_timeout(1)
    late = d.hold(1, 3)
    d.pre_vote(1, 2, "granted")
    d.step("the other grant comes when 1 is Candidate")
    d.handle(late, "granted")
    d.roles("C(1)")


@TARGETS.vector("prevote.refused-by-the-leader", 2, "state.prospective.discovers-leader")
def _refused_and_told(d: Director) -> None:
    """A Prospective that learns the leader of its epoch follows it."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("the leader itself refuses: 2 follows it again")
    d.pre_vote(2, 1, "refused")


@TARGETS.vector(
    "prevote.announced-to", 3, "state.prospective.discovers-leader", "begin-quorum.accept", "state.same-epoch-preserves"
)
def _announced_to(d: Director) -> None:
    """A Prospective follows the leader that announces itself, and keeps its vote."""
    nominate(d, 1, 1)
    d.vote(1, 3, "granted", answer="held")
    d.election_timeout(3)
    win(d, 1)
    d.step("bqe(1>3): 3 is Prospective in the epoch of the announcement")
    d.begin_quorum_epoch(1, 3)


@TARGETS.vector("prevote.votes", 3, "state.prospective.add-vote", level="effects")
def _first_vote_while_prospective(d: Director) -> None:
    """A Prospective that casts its first vote of the epoch stays Prospective."""
    d.election_timeout(3)
    late = d.hold(3, 2)
    nominate(d, 1, 1)
    request = d.hold(1, 3)
    d.vote(1, 2, "granted", answer="lost")
    d.handle(late, "FENCED_LEADER_EPOCH")
    d.election_timeout(3)
    d.roles("C(1)", "U(1,voted=1)", "P(1)")
    d.step("v(1>3): 3 is Prospective in the epoch, and has voted for nobody")
    d.handle(request, "granted")
    d.roles("", "", "P(1,voted=1)")


@TARGETS.vector(
    "prevote.granted-by-a-follower",
    3,
    "prevote.response.leader-wins-over-grant",
    "state.prospective.discovers-leader",
    level="effects",
)
def _granted_by_a_follower(d: Director) -> None:
    """A Prospective without a leader follows the leader in a response, even if the response grants."""
    nominate(d, 1, 1)
    d.vote(1, 3, "granted")
    d.begin_quorum_epoch(1, 2)
    d.election_timeout(3)
    d.step("pv(3>2): 2 grants, and names a leader that 3 does not know")
    d.pre_vote(3, 2, "granted")
    d.roles("L(1)", "F(1,1)", "F(1,1)")


@TARGETS.vector("prevote.votes-again", 2, "vote.repeat-grant")
def _vote_while_prospective(d: Director) -> None:
    """A Prospective grants again the vote that it has cast in this epoch, and stays Prospective."""
    nominate(d, 1, 1)
    d.hold(1, 3)
    d.vote(1, 2, "granted", answer="lost")
    d.election_timeout(2)
    d.step("v(1>2) again: 2 is Prospective in the epoch in which it voted for 1")
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted", answer="lost")

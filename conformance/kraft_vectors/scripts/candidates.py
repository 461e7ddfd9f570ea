"""Candidates: they win, lose, wait, or follow a leader."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, win
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import rivals
from kraft_vectors.target import Targets

TARGETS = Targets()


@TARGETS.vector("candidate.asks", 1, "vote.request.contents")
def _asks(d: Director) -> None:
    """A Candidate asks every other voter for its vote."""
    nominate(d, 1, 1)
    d.step("Votes to every other voter")
    d.poll(1)


@TARGETS.vector(
    "candidate.wins",
    1,
    "vote.response.counting",
    "state.candidate.to-leader",
    "state.leader.start-of-epoch",
    "state.leader.first-leader",
    "bootstrap.first-leader-writes-records",
    "bootstrap.multi-voter",
    "begin-quorum.on-election",
    "begin-quorum.endpoint",
    level="effects",
)
def _wins(d: Director) -> None:
    """A majority of votes makes a Leader, whose first records are of its epoch; then it announces itself."""
    nominate(d, 1, 1)
    d.poll(1)
    d.step("v(1>2): a majority; the first leader writes down who votes")
    d.vote(1, 2, "granted")
    d.roles("L(1)")
    d.lose(1)
    d.poll(1)


@TARGETS.vector(
    "candidate.wins-of-five",
    1,
    "vote.response.counting",
    "state.candidate.to-leader",
    "state.voters-set.own-majority",
    configuration=cluster(5),
)
def _wins_of_five(d: Director) -> None:
    """A Candidate counts the majority by its own voter set."""
    nominate(d, 1, 1)
    d.poll(1)
    d.step("one vote beside the own is no majority of five, a second is")
    d.vote(1, 2, "granted")
    d.roles("C(1)")
    d.vote(1, 3, "granted")
    d.roles("L(1)")


@TARGETS.vector("candidate.times-out", 1, "state.candidate.election-timeout", "state.prospective.entry", level="state")
def _timeout(d: Director) -> None:
    """A Candidate whose election times out becomes Prospective at once, in the same epoch."""
    nominate(d, 1, 1)
    d.step("et(1)")
    d.election_timeout(1)
    d.roles("P(1)")


@TARGETS.vector("candidate.loses", 1, "state.candidate.lost", "vote.response.counting")
def _loses(d: Director) -> None:
    """A Candidate that a majority refuses waits before it becomes Prospective."""
    rivals(d)
    d.vote(3, 2, "granted", answer="lost")
    d.step("both others refuse: 1 waits, then asks for Pre-Votes")
    d.vote(1, 2, "refused")
    d.vote(1, 3, "refused")
    d.election_timeout(1)
    d.roles("P(1)")


@TARGETS.vector("candidate.yields", 3, "state.candidate.leader-equal-epoch", "begin-quorum.accept")
def _yields(d: Director) -> None:
    """A Candidate follows the leader of its own epoch."""
    rivals(d)
    win(d, 1)
    d.step("bqe(1>3): the leader of the epoch that 3 campaigns in")
    d.begin_quorum_epoch(1, 3)
    d.roles("L(1)", "U(1,voted=1)", "F(1,1)")


@TARGETS.vector("candidate.late-vote", 1, "vote.response.late")
def _late_vote(d: Director) -> None:
    """A vote of an earlier epoch does not count."""
    nominate(d, 1, 1)
    late = d.hold(1, 3)
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(2)")
    d.step("the answer to a Vote of epoch 1 comes in epoch 2")
    d.handle(late, "granted")
    d.roles("C(2)")

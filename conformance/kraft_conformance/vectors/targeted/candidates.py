"""Candidates: winning, losing, waiting, yielding."""

from kraft_conformance.vectors.target import Target
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, win
from kraft_reference.scenarios.scenario import cluster


def rivals(d: Director) -> None:
    """1 and 3 are Candidates of epoch 1, 2 has voted for nobody."""
    d.election_timeout(1)
    d.election_timeout(3)
    d.pre_vote(1, 2, "granted")
    d.pre_vote(3, 2, "granted")
    d.lose(1)
    d.lose(3)
    d.roles("C(1)", "U(0)", "C(1)")


def _asks(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("Votes to every other voter")
    d.poll(1)


def _wins(d: Director) -> None:
    nominate(d, 1, 1)
    d.poll(1)
    d.step("v(1>2): a majority; the first leader writes down who votes")
    d.vote(1, 2, "granted")
    d.roles("L(1)")
    d.lose(1)
    d.poll(1)


def _wins_of_five(d: Director) -> None:
    nominate(d, 1, 1)
    d.poll(1)
    d.step("one vote beside the own is no majority of five, a second is")
    d.vote(1, 2, "granted")
    d.roles("C(1)")
    d.vote(1, 3, "granted")
    d.roles("L(1)")


def _timeout(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("et(1)")
    d.election_timeout(1)
    d.roles("P(1)")


def _loses(d: Director) -> None:
    rivals(d)
    d.vote(3, 2, "granted", answer="lost")
    d.step("both others refuse: 1 waits, then asks for Pre-Votes")
    d.vote(1, 2, "refused")
    d.vote(1, 3, "refused")
    d.election_timeout(1)
    d.roles("P(1)")


def _yields(d: Director) -> None:
    rivals(d)
    win(d, 1)
    d.step("bqe(1>3): the leader of the epoch that 3 campaigns in")
    d.begin_quorum_epoch(1, 3)
    d.roles("L(1)", "U(1,voted=1)", "F(1,1)")


def _late_vote(d: Director) -> None:
    nominate(d, 1, 1)
    late = d.hold(1, 3)
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(2)")
    d.step("the answer to a Vote of epoch 1 comes in epoch 2")
    d.handle(late, "granted")
    d.roles("C(2)")


TARGETS = (
    Target(
        "candidate.asks",
        "A Candidate asks every other voter for its vote",
        ("vote.request.contents",),
        1,
        _asks,
    ),
    Target(
        "candidate.wins",
        "A majority of votes makes a Leader, whose first records are of its epoch; then it announces itself",
        (
            "vote.response.counting",
            "state.candidate.to-leader",
            "state.leader.start-of-epoch",
            "state.leader.first-leader",
            "bootstrap.first-leader-writes-records",
            "bootstrap.multi-voter",
            "begin-quorum.on-election",
            "begin-quorum.endpoint",
        ),
        1,
        _wins,
        level="effects",
    ),
    Target(
        "candidate.wins-of-five",
        "A majority of votes is that of the own voters set",
        ("vote.response.counting", "state.candidate.to-leader", "state.voters-set.own-majority"),
        1,
        _wins_of_five,
        cluster(5),
        level="effects",
    ),
    Target(
        "candidate.times-out",
        "A Candidate whose election takes too long becomes Prospective at once, in the same epoch",
        ("state.candidate.election-timeout", "state.prospective.entry"),
        1,
        _timeout,
        level="state",
    ),
    Target(
        "candidate.loses",
        "A Candidate that a majority refuses waits before it becomes Prospective",
        ("state.candidate.lost", "vote.response.counting"),
        1,
        _loses,
        level="effects",
    ),
    Target(
        "candidate.yields",
        "A Candidate follows the leader of its own epoch",
        ("state.candidate.leader-equal-epoch", "begin-quorum.accept"),
        3,
        _yields,
    ),
    Target(
        "candidate.late-vote",
        "A vote of an earlier epoch counts for nothing",
        ("vote.response.late",),
        1,
        _late_vote,
        level="state",
    ),
)

"""Standard votes: grants, refusals, and the write before the response."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start, win
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import rivals
from kraft_vectors.target import Targets

TARGETS = Targets()


@TARGETS.vector(
    "vote.granted",
    2,
    "vote.request.higher-epoch",
    "vote.persist-before-reply",
    "vote.decision-order",
    "state.learn-higher-epoch.no-leader",
    "durable.write-before-act",
)
def _granted(d: Director) -> None:
    """A replica writes its vote before it sends the response."""
    nominate(d, 1, 1)
    d.step("v(1>2): the epoch, then the vote, then the answer")
    d.vote(1, 2, "granted")


@TARGETS.vector("vote.stale-epoch", 2, "vote.request.stale-epoch", "state.epoch-monotonic")
def _stale(d: Director) -> None:
    """A Vote of an older epoch is fenced."""
    nominate(d, 3, 1)
    request = d.hold(3, 2)
    nominate(d, 1, 2)
    win(d, 1)
    d.step("the Vote of epoch 1 arrives in epoch 2")
    d.handle(request, "FENCED_LEADER_EPOCH")


@TARGETS.vector("vote.log-check", 2, "vote.log-check", "vote.request.higher-epoch", configuration=cluster(3, old=(1,)))
def _shorter_log(d: Director) -> None:
    """A replica refuses a Vote with a shorter log, but learns its epoch."""
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.fetch_timeout(3)
    d.pre_vote_unsupported(3, 1)
    d.step("v(3>2): a Candidate that no Pre-Vote has stopped lacks a record of 2")
    d.vote(3, 2, "refused")


@TARGETS.vector("vote.once-per-epoch", 2, "vote.once-per-epoch", "vote.decision-order")
def _once(d: Director) -> None:
    """A replica refuses a second candidate of the epoch."""
    rivals(d)
    d.vote(1, 2, "granted", answer="lost")
    d.step("v(3>2): 2 has voted for 1 in this epoch")
    d.vote(3, 2, "refused")


@TARGETS.vector("vote.candidate-refuses", 1, "vote.candidate.rejects")
def _candidate(d: Director) -> None:
    """A Candidate refuses a vote."""
    rivals(d)
    d.step("v(3>1): 1 is Candidate of the same epoch")
    d.vote(3, 1, "refused")


@TARGETS.vector("vote.leader-refuses", 1, "vote.leader.rejects")
def _leader(d: Director) -> None:
    """A Leader refuses a vote."""
    rivals(d)
    win(d, 1)
    d.step("v(3>1): 1 leads the same epoch")
    d.vote(3, 1, "refused")


@TARGETS.vector("vote.follower-refuses", 2, "vote.follower.rejects")
def _follower(d: Director) -> None:
    """A Follower refuses a vote."""
    rivals(d)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.step("v(3>2): 2 follows 1 in the same epoch")
    d.vote(3, 2, "refused")


@TARGETS.vector("vote.leader-known", 5, "vote.known-leader.rejects", configuration=cluster(5))
def _leader_known(d: Director) -> None:
    """A replica that knows the leader of the epoch refuses, whether it has voted or not."""
    for candidate in (1, 2):
        d.election_timeout(candidate)
        d.pre_vote(candidate, 3, "granted")
        d.pre_vote(candidate, 4, "granted")
        d.lose(candidate)
    request = d.hold(2, 5)
    d.vote(1, 3, "granted")
    d.vote(1, 4, "granted")
    d.lose(1)
    d.begin_quorum_epoch(1, 5)
    d.fetch_timeout(5)
    d.roles("L(1)", "C(1)", "", "", "P(1,1)")
    d.step("v(2>5): 5 is Prospective, has voted for nobody, and knows who leads the epoch")
    d.handle(request, "refused")


@TARGETS.vector("vote.resigned-refuses", 1, "vote.resigned.rejects")
def _resigned(d: Director) -> None:
    """A Resigned replica refuses a vote."""
    rivals(d)
    win(d, 1)
    d.lose(1)
    d.shutdown(1)
    d.step("v(3>1): 1 has led the same epoch")
    d.vote(3, 1, "refused")


@TARGETS.vector(
    "vote.repeated-at-follower", 2, "vote.follower.rejects", "vote.known-leader.rejects", configuration=cluster(5)
)
def _repeated_at_follower(d: Director) -> None:
    """A Follower refuses even the candidate that it has voted for."""
    d.election_timeout(1)
    d.election_timeout(3)
    for candidate in (1, 3):
        d.pre_vote(candidate, 4, "granted")
        d.pre_vote(candidate, 5, "granted")
        d.lose(candidate)
    d.vote(3, 2, "granted", answer="lost")
    d.vote(1, 4, "granted")
    d.vote(1, 5, "granted")
    d.lose(1)
    d.begin_quorum_epoch(1, 2)
    d.request_timeout(3, 2)
    d.step("v(3>2): 2 has voted for 3 in this epoch, whose leader it follows by now")
    d.vote(3, 2, "refused")


@TARGETS.vector("vote.larger-epoch-at-leader", 1, "state.leader.higher-epoch", "vote.request.higher-epoch")
def _to_leader(d: Director) -> None:
    """A Leader that learns a larger epoch steps down, and may vote in it."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.step("v(3>1): the leader of epoch 1 hears of epoch 2")
    d.vote(3, 1, "granted")

"""Standard votes: who grants, who refuses, what is on disk first."""

from kraft_conformance.vectors.target import Target
from kraft_conformance.vectors.targeted.candidates import rivals
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, start, win
from kraft_reference.scenarios.scenario import cluster


def _granted(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("v(1>2): the epoch, then the vote, then the answer")
    d.vote(1, 2, "granted")


def _stale(d: Director) -> None:
    nominate(d, 3, 1)
    asked = d.hold(3, 2)
    nominate(d, 1, 2)
    win(d, 1)
    d.step("the Vote of epoch 1 arrives in epoch 2")
    d.handle(asked, "FENCED_LEADER_EPOCH")


def _shorter_log(d: Director) -> None:
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.fetch_timeout(3)
    d.pre_vote_unsupported(3, 1)
    d.step("v(3>2): a Candidate that no Pre-Vote has stopped lacks a record of 2")
    d.vote(3, 2, "refused")


def _once(d: Director) -> None:
    rivals(d)
    d.vote(1, 2, "granted", answer="lost")
    d.step("v(3>2): 2 has voted for 1 in this epoch")
    d.vote(3, 2, "refused")


def _candidate(d: Director) -> None:
    rivals(d)
    d.step("v(3>1): 1 is Candidate of the same epoch")
    d.vote(3, 1, "refused")


def _leader(d: Director) -> None:
    rivals(d)
    win(d, 1)
    d.step("v(3>1): 1 leads the same epoch")
    d.vote(3, 1, "refused")


def _follower(d: Director) -> None:
    rivals(d)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.step("v(3>2): 2 follows 1 in the same epoch")
    d.vote(3, 2, "refused")


def _leader_known(d: Director) -> None:
    for candidate in (1, 2):
        d.election_timeout(candidate)
        d.pre_vote(candidate, 3, "granted")
        d.pre_vote(candidate, 4, "granted")
        d.lose(candidate)
    asked = d.hold(2, 5)
    d.vote(1, 3, "granted")
    d.vote(1, 4, "granted")
    d.lose(1)
    d.begin_quorum_epoch(1, 5)
    d.fetch_timeout(5)
    d.roles("L(1)", "C(1)", "", "", "P(1,1)")
    d.step("v(2>5): 5 is Prospective, has voted for nobody, and knows who leads the epoch")
    d.handle(asked, "refused")


def _resigned(d: Director) -> None:
    rivals(d)
    win(d, 1)
    d.lose(1)
    d.shutdown(1)
    d.step("v(3>1): 1 has led the same epoch")
    d.vote(3, 1, "refused")


def _repeated_at_follower(d: Director) -> None:
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


def _to_leader(d: Director) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.step("v(3>1): the leader of epoch 1 hears of epoch 2")
    d.vote(3, 1, "granted")


TARGETS = (
    Target(
        "vote.granted",
        "The vote is on disk before the answer leaves",
        (
            "vote.request.higher-epoch",
            "vote.persist-before-reply",
            "vote.decision-order",
            "state.learn-higher-epoch.no-leader",
            "durable.write-before-act",
        ),
        2,
        _granted,
        level="effects",
    ),
    Target(
        "vote.stale-epoch",
        "A Vote of an older epoch is fenced",
        ("vote.request.stale-epoch", "state.epoch-monotonic"),
        2,
        _stale,
    ),
    Target(
        "vote.log-check",
        "A shorter log is refused, and the epoch is learnt all the same",
        ("vote.log-check", "vote.request.higher-epoch"),
        2,
        _shorter_log,
        cluster(3, old=(1,)),
    ),
    Target(
        "vote.once-per-epoch",
        "A second candidate of the epoch is refused",
        ("vote.once-per-epoch", "vote.decision-order"),
        2,
        _once,
    ),
    Target("vote.candidate-refuses", "A Candidate refuses", ("vote.candidate.rejects",), 1, _candidate),
    Target("vote.leader-refuses", "A Leader refuses", ("vote.leader.rejects",), 1, _leader),
    Target("vote.follower-refuses", "A Follower refuses", ("vote.follower.rejects",), 2, _follower),
    Target(
        "vote.leader-known",
        "A replica that knows the leader of the epoch refuses, whether it has voted or not",
        ("vote.known-leader.rejects",),
        5,
        _leader_known,
        cluster(5),
    ),
    Target("vote.resigned-refuses", "A Resigned replica refuses", ("vote.resigned.rejects",), 1, _resigned),
    Target(
        "vote.repeated-at-follower",
        "A Follower refuses even whom it has voted for",
        ("vote.follower.rejects", "vote.known-leader.rejects"),
        2,
        _repeated_at_follower,
        cluster(5),
    ),
    Target(
        "vote.larger-epoch-at-leader",
        "A Leader that hears of a larger epoch steps down, and may vote in it",
        ("state.leader.higher-epoch", "vote.request.higher-epoch"),
        1,
        _to_leader,
    ),
)

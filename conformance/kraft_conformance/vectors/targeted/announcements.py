"""Announcements of leaders, and what a replica makes of them."""

from dataclasses import replace

from kraft_conformance.vectors.target import OBSERVED, THREE, Target
from kraft_reference.configuration import Configuration
from kraft_reference.events import Poll
from kraft_reference.messages import BeginQuorumEpochRequest
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, observe, start, win
from kraft_reference.scenarios.scenario import cluster, voter_set


def _accepted(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.step("bqe(1>2): 2 has voted for 1")
    d.begin_quorum_epoch(1, 2)


def _stale(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    late = d.outstanding(1, 3, BeginQuorumEpochRequest, Poll())
    d.election_timeout(3)
    d.pre_vote(3, 2, "FENCED_LEADER_EPOCH")
    d.election_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.vote(3, 2, "granted")
    d.roles("L(1)", "U(2,voted=3)", "L(2)")
    d.step("the announcement of epoch 1 arrives in epoch 2")
    d.handle(late, "FENCED_LEADER_EPOCH")
    d.roles("F(2,3)")


def _resent(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.begin_quorum_epoch(1, 3)
    d.step("the announcement is due again, and nobody has fetched")
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


def _unanswered(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.begin_quorum_epoch(1, 3)
    d.step("2 has not answered in time: it is told again, when the timer fires at the latest")
    d.request_timeout(1, 2)
    d.poll(1)
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


def _not_to_observers(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    observe(d, 1, 4)
    d.lose(1)
    d.step("2 and 3 are told, the observer 4 is not")
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


def _new_leader(d: Director) -> None:
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.vote(3, 2, "granted")
    d.lose(3)
    d.step("bqe(3>2): the leader of a larger epoch")
    d.begin_quorum_epoch(3, 2)
    d.roles("", "F(2,3)", "L(2)")


def _from_one_leader_to_the_next(d: Director) -> None:
    start(d, 1, 1)
    d.cut(1, 3, 4, 5)
    for replica_id in (3, 4, 5):
        d.fetch_timeout(replica_id)
    d.pre_vote(3, 4, "granted")
    d.pre_vote(3, 5, "granted")
    d.lose(3)
    d.vote(3, 4, "granted")
    d.vote(3, 5, "granted")
    d.lose(3)
    d.roles("L(1)", "F(1,1)", "L(2)")
    d.step("bqe(3>2): 2, which follows 1 in epoch 1, hears of the leader of epoch 2")
    d.begin_quorum_epoch(3, 2)
    d.roles("", "F(2,3)")


def _other_disk(d: Director) -> None:
    start(d, 1, 1)
    d.crash(3)
    d.replace_disk(3, "U3b")
    d.restart(3)
    d.begin_quorum_epoch_timeout(1)
    d.step("the announcement is for (3,U3), and (3,U3b) gets it")
    d.begin_quorum_epoch(1, 3, str(d.world.configuration.profile.voter_key_error))


def _stranger(d: Director) -> None:
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.fetch(2, 1)
    d.fetch(4, 1)
    d.fetch(2, 1)
    d.fetch(4, 1)
    d.crash(1)
    d.restart(1)
    d.fetch_timeout(2)
    d.fetch_timeout(4)
    d.pre_vote(4, 1, "granted")
    d.pre_vote(4, 2, "granted")
    d.lose(4)
    d.vote(4, 1, "granted")
    d.vote(4, 2, "granted")
    d.lose(4)
    d.voters(3, voter_set(1, 2, 3))
    d.step("bqe(4>3): the set of 3 does not have 4")
    d.begin_quorum_epoch(4, 3)
    d.roles("", "", "F(2,4)", "L(2)")


def _without_endpoint(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.step("bqe(1>2) without an endpoint: 2 looks it up in its set")
    d.begin_quorum_epoch(1, 2)


def _old_leader() -> Configuration:
    """The messages of replica 1 carry no endpoints."""
    replicas = dict(THREE.replicas)
    replicas[1] = replace(replicas[1], speaks_endpoints=False)
    return replace(THREE, replicas=replicas)


TARGETS = (
    Target(
        "announcement.accepted",
        "An Unattached voter follows the leader of its epoch, and keeps its vote",
        ("begin-quorum.accept", "state.unattached.leader"),
        2,
        _accepted,
    ),
    Target(
        "announcement.answered",
        "A Leader takes note of the answer to its announcement",
        ("begin-quorum.response",),
        1,
        _accepted,
    ),
    Target(
        "announcement.stale",
        "An announcement of an older epoch is fenced",
        ("begin-quorum.stale", "state.epoch-monotonic"),
        3,
        _stale,
    ),
    Target(
        "announcement.answer-of-a-larger-epoch",
        "A Leader whose announcement is answered with a larger epoch and its leader follows that one",
        ("state.leader.higher-epoch", "state.learn-higher-epoch.leader", "begin-quorum.response"),
        1,
        _stale,
        level="state",
    ),
    Target(
        "announcement.again",
        "The announcement is repeated to voters that do not fetch",
        ("begin-quorum.resend",),
        1,
        _resent,
    ),
    Target(
        "announcement.unanswered",
        "The announcement is repeated to a voter that has not answered in time, at once or by the timer",
        ("begin-quorum.resend",),
        1,
        _unanswered,
    ),
    Target(
        "announcement.not-to-observers",
        "Observers are not told",
        ("voters.no-begin-epoch-to-observers", "begin-quorum.resend"),
        1,
        _not_to_observers,
        OBSERVED,
    ),
    Target(
        "announcement.larger-epoch",
        "A replica follows the leader of a larger epoch",
        ("begin-quorum.accept",),
        2,
        _new_leader,
    ),
    Target(
        "announcement.next-leader",
        "A Follower changes its leader only with the epoch",
        ("state.follower.larger-epoch-leader", "begin-quorum.accept"),
        2,
        _from_one_leader_to_the_next,
        cluster(5),
        level="effects",
    ),
    Target(
        "announcement.other-disk",
        "A request for another disk of the same id is refused",
        ("identity.addressed-to-key", "begin-quorum.voter-key"),
        3,
        _other_disk,
    ),
    Target(
        "announcement.from-a-stranger",
        "A leader that the own set does not have is followed",
        ("begin-quorum.membership-not-checked", "voters.begin-epoch-accepted-by-non-member"),
        3,
        _stranger,
        OBSERVED,
        level="effects",
    ),
    Target(
        "announcement.without-endpoint",
        "An endpoint that a message leaves out is looked up in the voters set",
        ("discovery.endpoint-lookup",),
        2,
        _without_endpoint,
        _old_leader(),
        level="state",
    ),
)

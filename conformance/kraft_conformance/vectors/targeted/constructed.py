"""Vectors that begin in constructed states: what a rule forbids, and other rules keep every cluster from.

Each says why no events lead to its state.
What the replica does there is what the model does from the very state (docs/edges.md, constructed states).
"""

from kraft_conformance.vectors.staging import RecordingDirector
from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_conformance.vectors.targeted.candidates import rivals
from kraft_reference.changes import Commit, Requester
from kraft_reference.events import Poll, PollFetch
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import log_on
from kraft_reference.messages import BeginQuorumEpochRequest, FetchRequest, FetchSnapshotRequest
from kraft_reference.roles import Role
from kraft_reference.scenarios.opening import elect, nominate, observe, start, win
from kraft_reference.scenarios.scenario import cluster

_OWN_VOTE = "a replica of this role has voted for itself in its epoch"
_THIRD = ReplicaKey(3, "U3")


def _rival_asks(d: RecordingDirector, voter: int) -> None:
    """3 is Candidate of epoch 1, and so was the voter."""
    d.step(f"v(3>{voter})")
    d.vote(3, voter, "refused")


def _candidate_voted_elsewhere(d: RecordingDirector) -> None:
    rivals(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


def _leads(d: RecordingDirector) -> None:
    rivals(d)
    win(d, 1)


def _leader_voted_elsewhere(d: RecordingDirector) -> None:
    _leads(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


def _leader_with_a_vote(d: RecordingDirector) -> None:
    _leads(d)
    d.construct(1, _OWN_VOTE, voted_key=None)
    _rival_asks(d, 1)


def _resigned(d: RecordingDirector) -> None:
    _leads(d)
    d.lose(1)
    d.shutdown(1)


def _resigned_voted_elsewhere(d: RecordingDirector) -> None:
    _resigned(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


def _resigned_with_a_vote(d: RecordingDirector) -> None:
    _resigned(d)
    d.construct(1, _OWN_VOTE, voted_key=None)
    _rival_asks(d, 1)


def _follower_with_a_vote(d: RecordingDirector) -> None:
    _leads(d)
    d.begin_quorum_epoch(1, 2)
    d.construct(2, "1 has won with the vote of 2", voted_key=None)
    _rival_asks(d, 2)


def _second_leader(d: RecordingDirector) -> None:
    _leads(d)
    asked = d.outstanding(1, 2, BeginQuorumEpochRequest, Poll())
    why = "an epoch has one leader, so nobody follows 3 where 1 announces itself"
    third = d.world.configuration.replicas[3].endpoint
    d.construct(2, why, role=Role.FOLLOWER, leader_id=3, leader_endpoint=third, voted_key=_THIRD, awaiting={})
    d.step("bqe(1>2): 2 follows 3 in the same epoch, and goes on with that")
    d.deliver(asked)


def _fetch_from_second_leader(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.append(1)
    asked = d.outstanding(2, 1, FetchRequest, PollFetch(1))
    answer = d.handle(asked, "ok", answer="held")
    why = "an epoch has one leader, so nobody follows 3 where 1 answers as the leader"
    third = d.world.configuration.replicas[3].endpoint
    d.construct(2, why, leader_id=3, leader_endpoint=third)
    d.step("the records of 1 arrive: 2 follows 3 in the same epoch, and takes none")
    d.deliver(answer)


def _vote_of_a_stranger(d: RecordingDirector) -> None:
    nominate(d, 1, 1)
    answer = d.vote(1, 4, "granted", answer="held")
    base = d.state(1).log.base
    known = frozenset(voter for voter in base.voters if voter.id != 4)
    details = tuple([one for one in base.details if one.id != 4])
    why = "a Candidate asks the voters of its set, which does not change while it is one"
    d.construct(1, why, log=log_on(base._replace(voters=known, details=details)))
    d.step("4 grants its vote, and is no voter: it does not count")
    d.deliver(answer)
    d.step("2 does, and 1 leads")
    d.vote(1, 2, "granted")


def _older_vote(d: RecordingDirector) -> None:
    nominate(d, 1, 1)
    answer = d.vote(1, 2, "granted", answer="held")
    why = "who leaves an epoch waits for no answer of it any more"
    d.construct(1, why, epoch=2)
    d.step("the vote of epoch 1 arrives in epoch 2, where the answer is waited for: it does not count")
    d.deliver(answer)


def _older_pre_vote(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    answer = d.pre_vote(2, 3, "granted", answer="held")
    why = "who leaves an epoch waits for no answer of it any more"
    d.construct(2, why, epoch=2, leader_id=None, leader_endpoint=None, voted_key=None)
    d.step("the Pre-Vote of epoch 1 arrives in epoch 2, where the answer is waited for: it does not count")
    d.deliver(answer)


def _diverges_below(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.begin_quorum_epoch(2, 3)
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    asked = d.outstanding(1, 2, FetchRequest, PollFetch(2))
    answer = d.handle(asked, "ok", answer="held")
    end = d.state(1).log.end_offset
    why = "what is committed is in the log of every later leader, whose answers do not diverge below it"
    d.construct(1, why, high_watermark=end)
    d.step("the answer would cut what 1 knows to be committed")
    d.deliver(answer)


def _file_lost(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.crash(2)
    why = "epoch, leader and vote are on disk before any record of the epoch: the quorum state file was lost"
    d.construct(2, why, epoch=0, leader_id=None, leader_endpoint=None, voted_key=None)
    d.step("2 restarts in the epoch of its log, and its vote there counts as spent")
    d.restart(2)
    d.election_timeout(2)


_LEFT = "who leaves an epoch or a role waits for no answer to what it asked there any more"


def _fetch_in_another_role(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.append(1)
    asked = d.outstanding(2, 1, FetchRequest, PollFetch(1))
    answer = d.handle(asked, "ok", answer="held")
    waiting = d.state(2).awaiting
    d.fetch_timeout(2)
    d.construct(2, _LEFT, awaiting=waiting)
    d.step("the records of 1 arrive at 2, which knows 1 as leader, and is Prospective: it takes none")
    d.deliver(answer)


def _fetch_of_the_last_epoch(d: RecordingDirector) -> None:
    start(d, 1, 1)
    asked = d.outstanding(2, 1, FetchRequest, PollFetch(1))
    d.shutdown(1)
    d.lose(1)
    d.election_timeout(1)
    d.election_timeout(1)
    d.fetch_timeout(3)
    d.pre_vote(1, 3, "granted")
    d.lose(1)
    d.vote(1, 3, "granted")
    d.lose(1)
    answer = d.handle(asked, "FENCED_LEADER_EPOCH", answer="held")
    d.construct(2, _LEFT, epoch=d.state(1).epoch)
    d.step("an error, of the leader and epoch that 2 knows by now: it changes nothing")
    d.deliver(answer)


def _snapshot_of_the_last_epoch(d: RecordingDirector) -> None:
    elect(d, 1, 1)
    d.append(1, end_offset=6)
    observe(d, 1, 2, 3)
    d.take_snapshot(1, 5)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)
    asked = d.outstanding(4, 1, FetchSnapshotRequest, PollFetch(1))
    d.shutdown(1)
    d.lose(1)
    d.election_timeout(1)
    d.election_timeout(1)
    d.fetch_timeout(3)
    d.pre_vote(1, 3, "granted")
    d.lose(1)
    d.vote(1, 3, "granted")
    d.lose(1)
    answer = d.handle(asked, "FENCED_LEADER_EPOCH", answer="held")
    d.construct(4, _LEFT, epoch=d.state(1).epoch)
    d.step("an error, of the leader and epoch that 4 knows by now: it gives the snapshot up")
    d.deliver(answer)


def _leader_removed_by_a_replica(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    change = d.state(1).pending_change
    assert isinstance(change, Commit), "the removal waits for its commit"
    why = "a replica asks for the removal of no other id than its own, and the leader is not it"
    d.construct(1, why, pending_change=change._replace(requester=Requester(3, 77)))
    d.step("the removal is committed: 3 is answered, once, and 1 resigns")
    d.fetch(2, 1)
    d.fetch(3, 1)
    d.fetch(2, 1)
    d.fetch(3, 1)


TARGETS = (
    Target(
        "constructed.fetch-in-another-role",
        "A Prospective takes no records, even of the leader that it knows",
        ("fetch.response.common",),
        2,
        _fetch_in_another_role,
        level="state",
    ),
    Target(
        "constructed.fetch-of-the-last-epoch",
        "An answer with an error brings no records",
        ("fetch.response.common",),
        2,
        _fetch_of_the_last_epoch,
        level="state",
    ),
    Target(
        "constructed.snapshot-of-the-last-epoch",
        "An answer with an error brings no snapshot, and another one is asked for",
        ("fetch.snapshot.install",),
        4,
        _snapshot_of_the_last_epoch,
        OBSERVED,
        level="state",
    ),
    Target(
        "constructed.leader-removed-by-a-replica",
        "A removed leader answers once before it resigns",
        ("remove-voter.reply-after-commit",),
        1,
        _leader_removed_by_a_replica,
    ),
    Target(
        "constructed.candidate-asked",
        "A Candidate refuses, even whom its file says that it has voted for",
        ("vote.candidate.rejects",),
        1,
        _candidate_voted_elsewhere,
    ),
    Target(
        "constructed.leader-asked",
        "A Leader refuses, even whom its file says that it has voted for",
        ("vote.leader.rejects",),
        1,
        _leader_voted_elsewhere,
    ),
    Target(
        "constructed.leader-with-a-vote",
        "A Leader that has a vote left does not give it away",
        ("vote.leader.rejects", "vote.known-leader.rejects"),
        1,
        _leader_with_a_vote,
    ),
    Target(
        "constructed.resigned-asked",
        "A Resigned replica refuses, even whom its file says that it has voted for",
        ("vote.resigned.rejects",),
        1,
        _resigned_voted_elsewhere,
    ),
    Target(
        "constructed.resigned-with-a-vote",
        "A Resigned replica that has a vote left does not give it away",
        ("vote.resigned.rejects", "vote.known-leader.rejects"),
        1,
        _resigned_with_a_vote,
    ),
    Target(
        "constructed.follower-with-a-vote",
        "A Follower that has a vote left does not give it away",
        ("vote.follower.rejects", "vote.known-leader.rejects"),
        2,
        _follower_with_a_vote,
    ),
    Target(
        "constructed.second-leader",
        "A Follower does not go over to a second leader of its epoch",
        ("state.follower.larger-epoch-leader",),
        2,
        _second_leader,
        level="state",
    ),
    Target(
        "constructed.fetch-from-second-leader",
        "A Follower takes no records from a second leader of its epoch",
        ("fetch.response.common", "state.follower.larger-epoch-leader"),
        2,
        _fetch_from_second_leader,
        level="state",
    ),
    Target(
        "constructed.vote-of-a-stranger",
        "The vote of a replica outside the set does not count",
        ("vote.response.counting",),
        1,
        _vote_of_a_stranger,
        cluster(4),
    ),
    Target(
        "constructed.older-vote",
        "A vote of an older epoch does not count, even if the answer is waited for",
        ("vote.response.late",),
        1,
        _older_vote,
        level="state",
    ),
    Target(
        "constructed.older-pre-vote",
        "A Pre-Vote of an older epoch does not count, even if the answer is waited for",
        ("vote.response.late",),
        2,
        _older_pre_vote,
        level="state",
    ),
    Target(
        "constructed.diverging-below-the-high-watermark",
        "Nothing is cut that is known to be committed",
        ("fetch.diverging.truncate",),
        1,
        _diverges_below,
        level="state",
    ),
    Target(
        "constructed.file-lost",
        "A log that is ahead of the quorum state file gives the epoch",
        ("durable.restart.log-epoch", "state.epoch-monotonic"),
        2,
        _file_lost,
        level="state",
    ),
)

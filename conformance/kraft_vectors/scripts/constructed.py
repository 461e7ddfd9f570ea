"""Vectors that begin in constructed states: what a rule forbids, and other rules keep every cluster from.

Each says why no events lead to its state.
What the replica does there is what the model does from the very state (docs/checks.md, constructed states).
"""

from kraft_reference.changes import AwaitingCommit, Requester
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import log_from
from kraft_reference.messages import BeginQuorumEpochRequest, FetchRequest, FetchSnapshotRequest
from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start, take_over, win
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import campaign, fetch_in_turn, lead_with_snapshot, rivals
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets()

_OWN_VOTE = "a replica of this role has voted for itself in its epoch"
_THIRD = ReplicaKey(3, "U3")


def _rival_asks(d: RecordingDirector, voter: int) -> None:
    """3 is Candidate of epoch 1, and so was the voter."""
    d.step(f"v(3>{voter})")
    d.vote(3, voter, "refused")


@TARGETS.vector("constructed.candidate-asked", 1, "vote.candidate.rejects")
def _candidate_voted_elsewhere(d: RecordingDirector) -> None:
    """A Candidate refuses even the replica that its file names as its vote."""
    rivals(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


def _leads(d: RecordingDirector) -> None:
    rivals(d)
    win(d, 1)


@TARGETS.vector("constructed.leader-asked", 1, "vote.leader.rejects")
def _leader_voted_elsewhere(d: RecordingDirector) -> None:
    """A Leader refuses even the replica that its file names as its vote."""
    _leads(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


@TARGETS.vector("constructed.leader-with-a-vote", 1, "vote.leader.rejects", "vote.known-leader.rejects")
def _leader_with_a_vote(d: RecordingDirector) -> None:
    """A Leader that has not voted in its epoch refuses a vote."""
    _leads(d)
    d.construct(1, _OWN_VOTE, voted_key=None)
    _rival_asks(d, 1)


def _resigned(d: RecordingDirector) -> None:
    _leads(d)
    d.lose(1)
    d.shutdown(1)


@TARGETS.vector("constructed.resigned-asked", 1, "vote.resigned.rejects")
def _resigned_voted_elsewhere(d: RecordingDirector) -> None:
    """A Resigned replica refuses even the replica that its file names as its vote."""
    _resigned(d)
    d.construct(1, _OWN_VOTE, voted_key=_THIRD)
    _rival_asks(d, 1)


@TARGETS.vector("constructed.resigned-with-a-vote", 1, "vote.resigned.rejects", "vote.known-leader.rejects")
def _resigned_with_a_vote(d: RecordingDirector) -> None:
    """A Resigned replica that has not voted in its epoch refuses a vote."""
    _resigned(d)
    d.construct(1, _OWN_VOTE, voted_key=None)
    _rival_asks(d, 1)


@TARGETS.vector("constructed.follower-with-a-vote", 2, "vote.follower.rejects", "vote.known-leader.rejects")
def _follower_with_a_vote(d: RecordingDirector) -> None:
    """A Follower that has not voted in its epoch refuses a vote."""
    _leads(d)
    d.begin_quorum_epoch(1, 2)
    d.construct(2, "1 has won with the vote of 2", voted_key=None)
    _rival_asks(d, 2)


@TARGETS.vector("constructed.second-leader", 2, "state.follower.larger-epoch-leader", level="state")
def _second_leader(d: RecordingDirector) -> None:
    """A Follower does not follow a second leader of its epoch."""
    _leads(d)
    request = d.outstanding(1, 2, BeginQuorumEpochRequest)
    why = "an epoch has one leader, so nobody follows 3 where 1 announces itself"
    third = d.world.configuration.replicas[3].endpoint
    d.construct(2, why, role=Role.FOLLOWER, leader_id=3, leader_endpoint=third, voted_key=_THIRD, awaiting={})
    d.step("bqe(1>2): 2 follows 3 in the same epoch, and goes on with that")
    d.deliver(request)


@TARGETS.vector(
    "constructed.fetch-from-second-leader", 2, "fetch.response.common", "state.follower.larger-epoch-leader"
)
def _fetch_from_second_leader(d: RecordingDirector) -> None:
    """A Follower takes no records from a second leader of its epoch."""
    start(d, 1, 1)
    d.append(1)
    answer = d.fetch(2, 1, answer="held")
    why = "an epoch has one leader, so nobody follows 3 where 1 answers as the leader"
    third = d.world.configuration.replicas[3].endpoint
    d.construct(2, why, leader_id=3, leader_endpoint=third)
    d.step("the records of 1 arrive: 2 follows 3 in the same epoch, and takes none")
    d.deliver(answer)


@TARGETS.vector("constructed.vote-of-a-stranger", 1, "vote.response.counting", configuration=cluster(4))
def _vote_of_a_stranger(d: RecordingDirector) -> None:
    """The vote of a replica outside the set does not count."""
    nominate(d, 1, 1)
    answer = d.vote(1, 4, "granted", answer="held")
    base = d.state(1).log.base
    three_voters = frozenset(voter for voter in base.voters if voter.id != 4)
    details = tuple([detail for detail in base.details if detail.id != 4])
    why = "a Candidate asks the voters of its set, which does not change while it is one"
    d.construct(1, why, log=log_from(base._replace(voters=three_voters, details=details)))
    d.step("4 grants its vote, and is no voter: it does not count")
    d.deliver(answer)
    d.step("2 does, and 1 leads")
    d.vote(1, 2, "granted")


@TARGETS.vector("constructed.older-vote", 1, "vote.response.late")
def _older_vote(d: RecordingDirector) -> None:
    """A vote of an older epoch does not count, even if the response is awaited."""
    nominate(d, 1, 1)
    answer = d.vote(1, 2, "granted", answer="held")
    why = "who leaves an epoch waits for no answer of it any more"
    d.construct(1, why, epoch=2)
    d.step("the vote of epoch 1 arrives in epoch 2, where the answer is waited for: it does not count")
    d.deliver(answer)


@TARGETS.vector("constructed.older-pre-vote", 2, "vote.response.late")
def _older_pre_vote(d: RecordingDirector) -> None:
    """A Pre-Vote of an older epoch does not count, even if the response is awaited."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    answer = d.pre_vote(2, 3, "granted", answer="held")
    why = "who leaves an epoch waits for no answer of it any more"
    d.construct(2, why, epoch=2, leader_id=None, leader_endpoint=None, voted_key=None)
    d.step("the Pre-Vote of epoch 1 arrives in epoch 2, where the answer is waited for: it does not count")
    d.deliver(answer)


@TARGETS.vector("constructed.diverging-below-the-high-watermark", 1, "fetch.diverging.truncate")
def _diverges_below(d: RecordingDirector) -> None:
    """A replica does not truncate records that it knows to be committed."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    answer = d.fetch(1, 2, answer="held")
    end = d.state(1).log.end_offset
    why = "what is committed is in the log of every later leader, whose answers do not diverge below it"
    d.construct(1, why, high_watermark=end)
    d.step("the answer would cut what 1 knows to be committed")
    d.deliver(answer)


@TARGETS.vector("constructed.file-lost", 2, "durable.restart.log-epoch", "state.epoch-monotonic", level="state")
def _file_lost(d: RecordingDirector) -> None:
    """A replica whose log is ahead of its quorum state file takes the epoch of the log."""
    start(d, 1, 1)
    d.crash(2)
    why = "epoch, leader and vote are on disk before any record of the epoch: the quorum state file was lost"
    d.construct(2, why, epoch=0, leader_id=None, leader_endpoint=None, voted_key=None)
    d.step("2 restarts in the epoch of its log, and its vote there counts as spent")
    d.restart(2)
    d.election_timeout(2)


_LEFT = "who leaves an epoch or a role waits for no answer to what it asked there any more"


@TARGETS.vector("constructed.fetch-in-another-role", 2, "fetch.response.common")
def _fetch_in_another_role(d: RecordingDirector) -> None:
    """A Prospective takes no records, even from the leader that it knows."""
    start(d, 1, 1)
    d.append(1)
    answer = d.fetch(2, 1, answer="held")
    waiting = d.state(2).awaiting
    d.fetch_timeout(2)
    d.construct(2, _LEFT, awaiting=waiting)
    d.step("the records of 1 arrive at 2, which knows 1 as leader, and is Prospective: it takes none")
    d.deliver(answer)


def _leads_again(d: Director) -> None:
    """1 resigns and leads the next epoch, with the vote of 3."""
    d.shutdown(1)
    d.lose(1)
    d.election_timeout(1)
    d.election_timeout(1)
    d.fetch_timeout(3)
    campaign(d, 1, 3)


@TARGETS.vector("constructed.fetch-of-the-last-epoch", 2, "fetch.response.common")
def _fetch_of_the_last_epoch(d: RecordingDirector) -> None:
    """A replica takes no records from a response with an error."""
    start(d, 1, 1)
    request = d.outstanding(2, 1, FetchRequest)
    _leads_again(d)
    answer = d.handle(request, "FENCED_LEADER_EPOCH", answer="held")
    d.construct(2, _LEFT, epoch=d.state(1).epoch)
    d.step("an error, of the leader and epoch that 2 knows by now: it changes nothing")
    d.deliver(answer)


@TARGETS.vector("constructed.snapshot-of-the-last-epoch", 4, "fetch.snapshot.install", configuration=OBSERVED)
def _snapshot_of_the_last_epoch(d: RecordingDirector) -> None:
    """A replica takes no snapshot from a response with an error, and requests another one."""
    lead_with_snapshot(d)
    d.fetch(4, 1)
    request = d.outstanding(4, 1, FetchSnapshotRequest)
    _leads_again(d)
    answer = d.handle(request, "FENCED_LEADER_EPOCH", answer="held")
    d.construct(4, _LEFT, epoch=d.state(1).epoch)
    d.step("an error, of the leader and epoch that 4 knows by now: it gives the snapshot up")
    d.deliver(answer)


@TARGETS.vector(
    "constructed.snapshot-from-second-leader",
    4,
    "fetch.response.common",
    "state.follower.larger-epoch-leader",
    configuration=OBSERVED,
)
def _snapshot_from_second_leader(d: RecordingDirector) -> None:
    """A Follower takes no snapshot from a second leader of its epoch."""
    lead_with_snapshot(d)
    d.fetch(4, 1)
    answer = d.handle(d.outstanding(4, 1, FetchSnapshotRequest), "ok", answer="held")
    why = "an epoch has one leader, so nobody follows 3 where 1 answers as the leader"
    third = d.world.configuration.replicas[3].endpoint
    d.construct(4, why, leader_id=3, leader_endpoint=third)
    d.step("the snapshot of 1 arrives: 4 follows 3 in the same epoch, and does not take it")
    d.deliver(answer)


@TARGETS.vector("constructed.leader-removed-by-a-replica", 1, "remove-voter.reply-after-commit")
def _leader_removed_by_a_replica(d: RecordingDirector) -> None:
    """A removed leader responds once before it resigns."""
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    change = d.state(1).pending_change
    assert isinstance(change, AwaitingCommit), "the removal waits for its commit"
    why = "a replica asks for the removal of no other id than its own, and the leader is not it"
    d.construct(1, why, pending_change=change._replace(requester=Requester(3, 77)))
    d.step("the removal is committed: 3 is answered, once, and 1 resigns")
    fetch_in_turn(d, 1, 2, 3)

"""Requests of a foreign cluster and malformed requests, each followed by a valid one with an effect."""

from kraft_reference.events import RemoveVoter
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    UpdateVoterRequest,
    VoteRequest,
)
from kraft_simulation.scenarios.opening import elect, nominate, observe, start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import lead_with_snapshot, move_voter, new_disk
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import JOINING, OBSERVED, Targets

TARGETS = Targets()

_ANOTHER = "another-cluster"
_FOREIGN = ("wire.common-errors", "bootstrap.same-cluster-id")
_MALFORMED = ("wire.common-errors",)


def _foreign(d: RecordingDirector, request: str, verdict: str | None) -> None:
    """Check the verdict of the response to the valid request; None if there is no response yet."""
    d.step("the request names another cluster: refused, and nothing changes")
    d.unsent(request, "INCONSISTENT_CLUSTER_ID", cluster_id=_ANOTHER)
    d.step("the same request of the own cluster")
    if verdict is None:
        d.deliver(request)
    else:
        d.handle(request, verdict)


def _malformed(d: RecordingDirector, request: str, verdict: str, **fields: object) -> None:
    d.step("a field of the request is malformed: refused, and nothing changes")
    d.unsent(request, "INVALID_REQUEST", **fields)
    d.step("the same request, well formed")
    d.handle(request, verdict)


@TARGETS.vector("foreign.pre-vote", 2, *_FOREIGN)
def _pre_vote(d: RecordingDirector) -> None:
    """A replica refuses a Pre-Vote of another cluster."""
    d.election_timeout(1)
    _foreign(d, d.hold(1, 2), "granted")


@TARGETS.vector("foreign.pre-vote.larger-epoch", 2, *_FOREIGN)
def _pre_vote_of_a_larger_epoch(d: RecordingDirector) -> None:
    """A replica learns no epoch from a Pre-Vote of another cluster."""
    nominate(d, 1, 1)
    d.lose(1)
    d.election_timeout(1)
    d.roles("P(1,voted=1)", "U(0)")
    _foreign(d, d.hold(1, 2), "granted")


@TARGETS.vector("foreign.vote", 2, *_FOREIGN)
def _vote(d: RecordingDirector) -> None:
    """A replica refuses a Vote of another cluster, and learns no epoch from it."""
    nominate(d, 1, 1)
    _foreign(d, d.hold(1, 2), "granted")


@TARGETS.vector("foreign.vote.to-leader", 1, *_FOREIGN)
def _vote_to_leader(d: RecordingDirector) -> None:
    """A Vote of another cluster does not depose a Leader."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    _foreign(d, d.outstanding(3, 1, VoteRequest), "granted")
    d.roles("U(2,voted=3)")


@TARGETS.vector("foreign.fetch", 1, *_FOREIGN)
def _fetch(d: RecordingDirector) -> None:
    """A Fetch of another cluster commits nothing, and gets no records."""
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    request = d.outstanding(2, 1, FetchRequest)
    committed = d.state(1).high_watermark
    _foreign(d, request, "ok")
    d.high_watermark(1, committed + 1)


def _snapshot_wanted(d: RecordingDirector) -> str:
    lead_with_snapshot(d)
    d.fetch(4, 1)
    return d.outstanding(4, 1, FetchSnapshotRequest)


@TARGETS.vector("foreign.fetch-snapshot", 1, *_FOREIGN, configuration=OBSERVED)
def _fetch_snapshot(d: RecordingDirector) -> None:
    """A FetchSnapshot of another cluster gets no snapshot."""
    _foreign(d, _snapshot_wanted(d), "ok")


@TARGETS.vector("foreign.begin-quorum-epoch", 2, *_FOREIGN)
def _begin_quorum_epoch(d: RecordingDirector) -> None:
    """A replica does not follow the Leader of another cluster."""
    nominate(d, 1, 1)
    d.vote(1, 3, "granted")
    d.roles("L(1)", "U(0)", "U(1,voted=1)")
    _foreign(d, d.outstanding(1, 2, BeginQuorumEpochRequest), "ok")
    d.roles("", "F(1,1)")


@TARGETS.vector("foreign.end-quorum-epoch", 2, *_FOREIGN, level="effects")
def _end_quorum_epoch(d: RecordingDirector) -> None:
    """EndQuorumEpoch of another cluster does not start an election."""
    elect(d, 1, 1)
    d.fetched(2, False)
    d.shutdown(1)
    _foreign(d, d.outstanding(1, 2, EndQuorumEpochRequest), "ok")


@TARGETS.vector("foreign.end-quorum-epoch.larger-epoch", 3, *_FOREIGN)
def _end_of_a_larger_epoch(d: RecordingDirector) -> None:
    """A replica learns no epoch and no leader from EndQuorumEpoch of another cluster."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted")
    d.shutdown(1)
    _foreign(d, d.outstanding(1, 3, EndQuorumEpochRequest), "ok")
    d.roles("", "", "F(1,1)")


@TARGETS.vector("foreign.add-voter", 1, *_FOREIGN, configuration=JOINING)
def _joins(d: RecordingDirector) -> None:
    """AddVoter of another cluster adds no voter."""
    start(d, 1, 1, end_offset=4)
    observe(d, 1, 4)
    _foreign(d, d.outstanding(4, 1, AddVoterRequest), None)
    d.check("a change is pending", d.state(1).pending_change is not None, True)


@TARGETS.vector("foreign.remove-voter", 1, *_FOREIGN, configuration=cluster(3, joining=(3,)))
def _removes_old_self(d: RecordingDirector) -> None:
    """RemoveVoter from a replica of another cluster removes no voter."""
    start(d, 1, 1, end_offset=4)
    new_disk(d, 3, "U9")
    observe(d, 1, 2, 3)
    _foreign(d, d.outstanding(3, 1, RemoveVoterRequest), None)
    d.check("a change is pending", d.state(1).pending_change is not None, True)


@TARGETS.vector("foreign.remove-voter.client", 1, *_FOREIGN)
def _client_removes(d: RecordingDirector) -> None:
    """RemoveVoter from a client that names another cluster removes no voter."""
    start(d, 1, 1, end_offset=4)
    d.step("RemoveVoter of a client names another cluster")
    d.happen(1, RemoveVoter(9, ReplicaKey(3, "U3"), cluster_id=_ANOTHER))
    d.answered(9, "INCONSISTENT_CLUSTER_ID")
    d.step("the same request of the own cluster")
    d.remove_voter(1, 3)
    d.voters(1, d.state(1).voters - {ReplicaKey(3, "U3")})


def _moved(d: RecordingDirector) -> str:
    move_voter(d)
    return d.outstanding(2, 1, UpdateVoterRequest)


@TARGETS.vector("foreign.update-voter", 1, *_FOREIGN)
def _reports(d: RecordingDirector) -> None:
    """UpdateVoter of another cluster changes no entry."""
    _foreign(d, _moved(d), "ok")


@TARGETS.vector("foreign.none-named.vote", 2, *_FOREIGN)
def _vote_that_names_none(d: RecordingDirector) -> None:
    """A Vote may omit the cluster id."""
    nominate(d, 1, 1)
    request = d.hold(1, 2)
    d.without(request, "cluster_id")
    d.step("a request that names no cluster is one of the own")
    d.handle(request, "granted")


@TARGETS.vector("foreign.none-named.fetch", 1, *_FOREIGN)
def _fetch_that_names_none(d: RecordingDirector) -> None:
    """A Fetch may omit the cluster id."""
    start(d, 1, 1)
    d.append(1)
    request = d.outstanding(2, 1, FetchRequest)
    d.without(request, "cluster_id")
    d.step("a request that names no cluster is one of the own")
    d.handle(request, "ok")


@TARGETS.vector("malformed.pre-vote", 2, *_MALFORMED, "prevote.request.last-epoch-bound")
def _malformed_pre_vote(d: RecordingDirector) -> None:
    """A Pre-Vote with a last epoch above its own is malformed."""
    d.election_timeout(1)
    _malformed(d, d.hold(1, 2), "granted", last_epoch=1)


@TARGETS.vector("malformed.pre-vote-offset", 2, *_MALFORMED)
def _malformed_pre_vote_offset(d: RecordingDirector) -> None:
    """A Pre-Vote with a negative offset is malformed."""
    d.election_timeout(1)
    _malformed(d, d.hold(1, 2), "granted", end_offset=-1)


@TARGETS.vector("malformed.vote", 2, *_MALFORMED)
def _malformed_vote(d: RecordingDirector) -> None:
    """A Vote with a last epoch above its own is malformed."""
    nominate(d, 1, 1)
    _malformed(d, d.hold(1, 2), "granted", last_epoch=2)


@TARGETS.vector("malformed.fetch", 1, *_MALFORMED)
def _malformed_fetch(d: RecordingDirector) -> None:
    """A Fetch with a negative offset is malformed."""
    start(d, 1, 1)
    d.append(1)
    _malformed(d, d.outstanding(2, 1, FetchRequest), "ok", fetch_offset=-1)


@TARGETS.vector("malformed.update-voter", 1, *_MALFORMED)
def _malformed_report(d: RecordingDirector) -> None:
    """UpdateVoter without an endpoint is malformed."""
    _malformed(d, _moved(d), "ok", endpoint=None)

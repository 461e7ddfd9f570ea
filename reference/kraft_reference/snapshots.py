"""Snapshots as far as they carry voters: taking one, and fetching the leader's.  Beside it: Snapshots.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.leadership import with_fetcher
from kraft_reference.log import log_on, rebased, snapshot_at, tears_a_batch
from kraft_reference.messages import Error, FetchSnapshotRequest, FetchSnapshotResponse
from kraft_reference.outcome import Outcome, Refusal, entered
from kraft_reference.responses import (
    free_connection,
    is_correlated,
    is_foreign,
    not_for_leader,
    refused,
    respond,
    response_head,
    useless_answer,
)
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, voter_entry
from kraft_reference.transitions import learn


def after_take_snapshot(state: ReplicaState, end_offset: int) -> Outcome:
    """A snapshot of committed records; the log before its end is deleted.

    Rules: snapshot.control-records-first, snapshot.set-at-its-end-offset, snapshot.trim-keeps-last.
    """
    log = state.log
    if not log.start_offset < end_offset <= state.high_watermark or tears_a_batch(log, end_offset):
        return Outcome(state, refusal=Refusal.SNAPSHOT_OUT_OF_RANGE)
    return Outcome(state._replace(log=rebased(log, snapshot_at(log, end_offset))))


def fetch_snapshot_request(
    state: ReplicaState, configuration: Configuration, correlation_id: int
) -> FetchSnapshotRequest:
    """Rules: voters.fetch-goes-to-known-leader, identity.could-become-voter."""
    assert state.leader_id is not None, "a Follower knows its leader"
    assert state.wanted_snapshot is not None, "there is a snapshot to fetch"
    end_offset, epoch = state.wanted_snapshot
    return FetchSnapshotRequest(
        source=state.key.id,
        destination=state.leader_id,
        correlation_id=correlation_id,
        epoch=state.epoch,
        replica_key=state.key,
        snapshot_end_offset=end_offset,
        snapshot_epoch=epoch,
        cluster_id=configuration.cluster_id,
    )


def after_fetch_snapshot_request(
    state: ReplicaState, configuration: Configuration, request: FetchSnapshotRequest
) -> Outcome:
    """The Leader of exactly this epoch serves its newest snapshot, in its voters set or not.

    It counts for check quorum as a Fetch does, and for no progress.
    Rules: snapshot.removed-leader-serves, voters.fetch-from-leader-outside-set, check-quorum.counts-keys,
    fetch.snapshot.accepted, fetch.snapshot.bootstrap-not-served.
    """

    if is_foreign(configuration, request.cluster_id):
        return refused(state, configuration, request, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    if min(request.snapshot_end_offset, request.snapshot_epoch, request.source) < 0:
        return refused(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    if (error := not_for_leader(state, configuration, request)) is not None:
        return refused(state, configuration, request, *error)
    seen, timers = with_fetcher(state, configuration, voter_entry(state, request.replica_key))
    base = state.log.base
    if base.end_offset == 0 or base.id != (request.snapshot_end_offset, request.snapshot_epoch):
        return Outcome(seen, (respond(state, configuration, request, Error.SNAPSHOT_NOT_FOUND),), timers)
    response = FetchSnapshotResponse(*response_head(state, configuration, request, Error.NONE), snapshot=base)
    return Outcome(seen, (response,), timers)


def after_fetch_snapshot_response(
    state: ReplicaState, configuration: Configuration, response: FetchSnapshotResponse, draw: Draw
) -> Outcome:
    """The log begins anew from the snapshot, and so do the voters sets and the levels.

    Rules: snapshot.load-resets-history, fetch.snapshot.install, fetch.response.common, fetch.timer.
    """
    if not is_correlated(state, response):
        return Outcome(state, refusal=Refusal.UNCORRELATED_RESPONSE)
    rest = free_connection(state, response)
    useless = useless_answer(state, response)
    if useless is not None:
        return Outcome(rest, refusal=useless)
    learned = learn(rest, configuration, response.epoch, response.leader_id, response.leader_endpoint)
    if learned is not rest:
        return entered(state, learned, configuration, draw)
    if response.error is not Error.NONE:
        # The leader has a newer one by now: the next Fetch says which.
        return Outcome(rest._replace(wanted_snapshot=None), refusal=Refusal.ERROR_RESPONSE)
    snapshot = response.snapshot
    if state.role is not Role.FOLLOWER or state.leader_id != response.source:
        return Outcome(rest, refusal=Refusal.NOT_FOLLOWER_OF_SENDER)
    if snapshot is None or snapshot.id != state.wanted_snapshot:
        return Outcome(rest, refusal=Refusal.SNAPSHOT_NOT_WANTED)
    after = rest._replace(wanted_snapshot=None)
    if snapshot.end_offset < max(state.high_watermark, state.log.start_offset):
        return Outcome(after, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
    timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)
    loaded = after._replace(
        log=log_on(snapshot), high_watermark=max(state.high_watermark, snapshot.end_offset), fetched=True
    )
    return Outcome(loaded, timers=timers)

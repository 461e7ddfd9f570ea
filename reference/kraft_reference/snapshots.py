"""Snapshots as far as they carry voters: taking one, and fetching the leader's.  Beside it: Snapshots.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import Offset
from kraft_reference.leadership import with_fetcher
from kraft_reference.log import log_from, snapshot_at, splits_batch, trim
from kraft_reference.messages import Error, FetchSnapshotRequest, FetchSnapshotResponse
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.responses import leader_error, learn_first, refuse, respond, response_head
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, voter_entry


def after_take_snapshot(state: ReplicaState, end_offset: Offset) -> Outcome:
    """Take a snapshot of committed records; the log before its end is deleted."""
    # Rules: snapshot.control-records-first, snapshot.set-at-its-end-offset, snapshot.trim-keeps-last.
    log = state.log
    if not log.start_offset < end_offset <= state.high_watermark or splits_batch(log, end_offset):
        return Outcome(state, refusal=Refusal.SNAPSHOT_OUT_OF_RANGE)
    return Outcome(state._replace(log=trim(log, snapshot_at(log, end_offset))))


def fetch_snapshot_request(
    state: ReplicaState, configuration: Configuration, correlation_id: int
) -> FetchSnapshotRequest:
    """Return a FetchSnapshot of the snapshot that the leader named."""
    # Rules: voters.fetch-goes-to-known-leader, identity.could-become-voter.
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
    """The leader of exactly the request's epoch serves its newest snapshot, even if it is no voter itself any more."""
    if min(request.snapshot_end_offset, request.snapshot_epoch, request.source) < 0:
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Rules: fetch.snapshot.accepted, snapshot.removed-leader-serves, voters.fetch-from-leader-outside-set.
    if (error := leader_error(state, configuration, request)) is not None:
        return refuse(state, configuration, request, *error)
    # A FetchSnapshot counts for check quorum as a Fetch does, but is no progress.  Rule: check-quorum.counts-keys.
    credited, timers = with_fetcher(state, configuration, voter_entry(state, request.replica_key))
    # Rule: fetch.snapshot.bootstrap-not-served.
    base = state.log.base
    if base.end_offset == 0 or base.id != (request.snapshot_end_offset, request.snapshot_epoch):
        return Outcome(credited, (respond(state, configuration, request, Error.SNAPSHOT_NOT_FOUND),), timers)
    response = FetchSnapshotResponse(*response_head(state, configuration, request, Error.NONE), snapshot=base)
    return Outcome(credited, (response,), timers)


def after_fetch_snapshot_response(
    state: ReplicaState, configuration: Configuration, response: FetchSnapshotResponse, draw: Draw
) -> Outcome:
    """Begin the log again from the snapshot; voter sets and levels of the old log are forgotten."""
    # Rule: fetch.response.common.
    if (learned := learn_first(state, configuration, response, draw)) is not None:
        return learned
    if response.error is not Error.NONE:
        # The leader has a newer snapshot by now; the next Fetch response names it.
        return Outcome(state._replace(wanted_snapshot=None), refusal=Refusal.ERROR_RESPONSE)
    snapshot = response.snapshot
    if state.role is not Role.FOLLOWER or state.leader_id != response.source:
        return Outcome(state, refusal=Refusal.NOT_FOLLOWER_OF_SENDER)
    if snapshot is None or snapshot.id != state.wanted_snapshot:
        return Outcome(state, refusal=Refusal.SNAPSHOT_NOT_WANTED)
    after = state._replace(wanted_snapshot=None)
    if snapshot.end_offset < max(state.high_watermark, state.log.start_offset):
        return Outcome(after, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
    # Rules: fetch.snapshot.install, fetch.timer.
    timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)
    # Rule: snapshot.load-resets-history.
    loaded = after._replace(
        log=log_from(snapshot), high_watermark=max(state.high_watermark, snapshot.end_offset), fetched=True
    )
    return Outcome(loaded, timers=timers)

"""Replication: Fetch, divergence and truncation, the high watermark, appends.  Beside it: Replication.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.leadership import with_fetcher
from kraft_reference.log import EpochEnd, agrees, append, batch_end, end_of_epoch, needs_snapshot, truncate
from kraft_reference.messages import Error, FetchRequest, FetchResponse
from kraft_reference.outcome import Outcome, Refusal, entered
from kraft_reference.pending_changes import append_caught_up, append_records, conclude_committed
from kraft_reference.records import Record
from kraft_reference.responses import (
    free_connection,
    is_correlated,
    is_foreign,
    not_for_leader,
    refused,
    response_head,
    useless_answer,
)
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, voter_entry
from kraft_reference.transitions import learn
from kraft_reference.watermark import with_high_watermark

_NOT_DIVERGING = EpochEnd(-1, -1)
_NO_SNAPSHOT = (-1, -1)


def fetch_targets(state: ReplicaState, configuration: Configuration) -> tuple[int, ...]:
    """To whom the replica may send a Fetch now, by ascending id; empty for the roles that do not fetch.

    Rules: fetch.who-fetches, discovery.bootstrap, discovery.bootstrap-fallback, discovery.leader-endpoint-known,
    observer.fetch-timeout, voters.fetch-from-leader-outside-set, voters.observer-discovery,
    voters.fetch-goes-to-known-leader.
    """
    if state.role is Role.FOLLOWER:
        assert state.leader_id is not None, "a Follower knows its leader"
        if not state.searching:
            return (state.leader_id,)
        return tuple(sorted({state.leader_id, *configuration.bootstrap_server_ids(state.key.id)}))
    if state.role is Role.UNATTACHED:
        return configuration.bootstrap_server_ids(state.key.id)
    return ()


def fetch_request(
    state: ReplicaState, configuration: Configuration, destination: int, correlation_id: int
) -> FetchRequest:
    """Rules: fetch.replica-key, fetch.leader-only."""
    return FetchRequest(
        source=state.key.id,
        destination=destination,
        correlation_id=correlation_id,
        epoch=state.epoch,
        replica_key=state.key,
        fetch_offset=state.log.end_offset,
        last_epoch=state.log.last_epoch,
        cluster_id=configuration.cluster_id,
    )


def _response(
    state: ReplicaState,
    configuration: Configuration,
    request: FetchRequest,
    records: tuple[Record, ...] = (),
    diverging: EpochEnd = _NOT_DIVERGING,
    snapshot_id: tuple[int, int] = _NO_SNAPSHOT,
) -> FetchResponse:
    """The data; no high watermark is published before a record of the own epoch is committed.

    Rules: hw.own-epoch, fetch.leader-only.
    """
    # Rule: hw.own-epoch.
    publishes = state.high_watermark > state.epoch_start_offset
    return FetchResponse(
        *response_head(state, configuration, request, Error.NONE),
        high_watermark=state.high_watermark if publishes else UNKNOWN_HIGH_WATERMARK,
        diverging_epoch=diverging.epoch,
        diverging_end_offset=diverging.offset,
        records=records,
        snapshot_end_offset=snapshot_id[0],
        snapshot_epoch=snapshot_id[1],
    )


def after_fetch_request(
    state: ReplicaState, configuration: Configuration, request: FetchRequest, draw: Draw
) -> Outcome:
    """Only the Leader of exactly this epoch serves, voters and observers, in its voters set or not.

    Who was removed is served like any observer, and learns of it from the record: there is no NOT_FOLLOWER
    (reassign.removed-voter-told-by-fetch).
    Rules: fetch.leader-only, fetch.leader-outside-set-serves, identity.leader-tracks-by-key.
    """

    if is_foreign(configuration, request.cluster_id):
        return refused(state, configuration, request, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    if min(request.fetch_offset, request.last_epoch, request.source) < 0:
        # Rule: wire.common-errors.
        return refused(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Rule: fetch.leader-only.
    if (error := not_for_leader(state, configuration, request)) is not None:
        return refused(state, configuration, request, *error)
    # Rule: fetch.replica-key.
    entry = voter_entry(state, request.replica_key)
    gone = needs_snapshot(state.log, request.fetch_offset, request.last_epoch)
    # Rule: fetch.diverging.truncate.
    valid = not gone and agrees(state.log, request.fetch_offset, request.last_epoch)
    timers: tuple[StartTimer, ...] = ()
    seen = state
    # Rule: check-quorum.counts-keys.
    if valid or configuration.profile.diverging_fetch == "counts":
        seen, timers = with_fetcher(state, configuration, entry)
    if gone:
        sent = _response(seen, configuration, request, snapshot_id=state.log.base.id)
        return Outcome(seen, (sent,), timers)
    # Rule: fetch.diverging.truncate.
    if not valid:
        diverging = end_of_epoch(state.log, request.last_epoch)
        return Outcome(seen, (_response(seen, configuration, request, (), diverging),), timers)
    # Rules: fetch.replica-key, hw.majority.
    tracked = entry or request.replica_key
    fetch_offsets = {**seen.fetch_offsets, tracked: request.fetch_offset}
    progressed = with_high_watermark(seen._replace(fetch_offsets=fetch_offsets))
    answer = _response(progressed, configuration, request, _records(state, configuration, request))
    concluded = conclude_committed(state, Outcome(progressed, (answer,), timers), configuration, draw)
    return append_caught_up(concluded, configuration, draw)


def _records(state: ReplicaState, configuration: Configuration, request: FetchRequest) -> tuple[Record, ...]:
    """The records from the fetch offset on, up to the limit, in whole batches.

    Rule: kraft-version.upgrade-atomic-batch.
    """
    log, most = state.log, configuration.fetch_max_records
    end = min(request.fetch_offset + most, log.end_offset) if most else log.end_offset
    return log.between(request.fetch_offset, batch_end(log, end))


def _cut_offset(state: ReplicaState, configuration: Configuration, response: FetchResponse) -> int:
    """The largest offset that agrees with the diverging epoch and end offset.  Rule: fetch.diverging.truncate."""
    own = end_of_epoch(state.log, response.diverging_epoch)
    # What lies beyond the leader's end of that epoch agrees with nothing, whatever epoch it has here.
    cuts_beyond = own.epoch == response.diverging_epoch or configuration.profile.diverging_cut == "smaller-offset"
    return min(own.offset, response.diverging_end_offset) if cuts_beyond else own.offset


def after_fetch_response(
    state: ReplicaState, configuration: Configuration, response: FetchResponse, draw: Draw
) -> Outcome:
    """Epoch and leader first; data only as Follower of that leader in that epoch.

    Rules: fetch.response.common, discovery.leader-endpoint-known.
    """
    if not is_correlated(state, response):
        return Outcome(state, refusal=Refusal.UNCORRELATED_RESPONSE)
    rest = free_connection(state, response)
    useless = useless_answer(state, response)
    if useless is not None:
        # The fetch timer goes on: only a successful response restarts it.  Rule: fetch.timer.
        return Outcome(rest, refusal=useless)
    learned = learn(rest, configuration, response.epoch, response.leader_id, response.leader_endpoint)
    # A larger epoch only moves the replica: the data answers a Fetch of the smaller one.
    follows_sender = (
        response.epoch == state.epoch and learned.role is Role.FOLLOWER and learned.leader_id == response.source
    )
    if response.error is not Error.NONE or not follows_sender:
        if learned is not rest:
            return entered(state, learned, configuration, draw)
        # Rule: fetch.timer.
        failed = response.error is not Error.NONE
        return Outcome(rest, refusal=Refusal.ERROR_RESPONSE if failed else Refusal.NOT_FOLLOWER_OF_SENDER)
    # Rules: fetch.timer, fetch.fetched-flag.
    timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)
    fetched = learned._replace(fetched=True, searching=False)
    known = max(state.high_watermark, state.log.start_offset)
    if response.snapshot_id is not None:
        if response.snapshot_end_offset < known:
            return Outcome(rest, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
        return Outcome(fetched._replace(wanted_snapshot=response.snapshot_id), timers=timers)
    # Rules: fetch.diverging.truncate, voters.truncation-reverts.
    if response.diverging_epoch >= 0:
        cut = _cut_offset(state, configuration, response)
        if cut < known:
            return Outcome(rest, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
        return Outcome(fetched._replace(log=truncate(fetched.log, cut)), timers=timers)
    # Rules: voters.effective-on-append, observer.becomes-voter, observer.becomes-non-voter.
    log = append(fetched.log, response.records) if response.records else fetched.log
    # Rule: hw.follower.
    high_watermark = max(state.high_watermark, min(response.high_watermark, log.end_offset))
    return Outcome(fetched._replace(log=log, high_watermark=high_watermark), timers=timers)


def after_append(state: ReplicaState, configuration: Configuration, record: Record, draw: Draw) -> Outcome:
    """A client's record at the end of the Leader's log.

    Rules: hw.majority, durable.flush-before-fetch.
    """
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    after, timers = append_records(state, configuration, (record,), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)

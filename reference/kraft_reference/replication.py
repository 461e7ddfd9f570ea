"""Replication: Fetch, divergence and truncation, the high watermark, appends.  Beside it: Replication.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import Offset, ReplicaId
from kraft_reference.leadership import with_fetcher
from kraft_reference.log import EpochEnd, append, batch_end, end_of_epoch, matches, needs_snapshot, truncate
from kraft_reference.messages import Error, FetchRequest, FetchResponse
from kraft_reference.outcome import Outcome, Refusal, with_timers
from kraft_reference.pending_changes import append_caught_up, append_records, conclude_committed
from kraft_reference.records import Record
from kraft_reference.responses import leader_error, reason_to_ignore, refuse, response_head
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, voter_entry
from kraft_reference.transitions import learn
from kraft_reference.watermark import with_high_watermark

_NOT_DIVERGING = EpochEnd(-1, -1)
_NO_SNAPSHOT = (-1, -1)


def fetch_targets(state: ReplicaState, configuration: Configuration) -> tuple[ReplicaId, ...]:
    """Return the replicas that a Fetch may go to now, by ascending id; empty for the roles that do not fetch."""
    # A Follower fetches from its leader, even if that is not in its voter set.
    # Rules: fetch.who-fetches, discovery.leader-endpoint-known, voters.fetch-from-leader-outside-set,
    # voters.fetch-goes-to-known-leader.
    if state.role is Role.FOLLOWER:
        assert state.leader_id is not None, "a Follower knows its leader"
        if not state.searching:
            return (state.leader_id,)
        # Rule: observer.fetch-timeout.
        return tuple(sorted({state.leader_id, *configuration.bootstrap_server_ids(state.key.id)}))
    # Rules: discovery.bootstrap, discovery.bootstrap-fallback, voters.observer-discovery.
    if state.role is Role.UNATTACHED:
        return configuration.bootstrap_server_ids(state.key.id)
    return ()


def fetch_request(
    state: ReplicaState, configuration: Configuration, destination: ReplicaId, correlation_id: int
) -> FetchRequest:
    """Return a Fetch from the end of the replica's log."""
    # Rules: fetch.replica-key, fetch.leader-only.
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
    """Return a Fetch response; the high watermark is unknown until a record of the leader's epoch is committed.

    Rule: fetch.leader-only.
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
    """The leader of exactly the request's epoch serves voters and observers, even if it is no voter itself any more.

    A removed voter is served as any observer is, and learns of its removal from the record: there is no error
    NOT_FOLLOWER (reassign.removed-voter-told-by-fetch).
    """
    if min(request.fetch_offset, request.last_epoch, request.source) < 0:
        # Rule: wire.common-errors.
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Rules: fetch.leader-only, fetch.leader-outside-set-serves.
    if (error := leader_error(state, configuration, request)) is not None:
        return refuse(state, configuration, request, *error)
    # Rules: fetch.replica-key, identity.leader-tracks-by-key.
    entry = voter_entry(state, request.replica_key)
    lacks_records = needs_snapshot(state.log, request.fetch_offset, request.last_epoch)
    # Rule: fetch.diverging.truncate.
    valid = not lacks_records and matches(state.log, request.fetch_offset, request.last_epoch)
    timers: tuple[StartTimer, ...] = ()
    credited = state
    # Rule: check-quorum.counts-keys.
    if valid or configuration.profile.diverging_fetch == "counts":
        credited, timers = with_fetcher(state, configuration, entry)
    if lacks_records:
        snapshot = _response(credited, configuration, request, snapshot_id=state.log.base.id)
        return Outcome(credited, (snapshot,), timers)
    # Rule: fetch.diverging.truncate.
    if not valid:
        diverging = end_of_epoch(state.log, request.last_epoch)
        return Outcome(credited, (_response(credited, configuration, request, (), diverging),), timers)
    # Rules: fetch.replica-key, hw.majority.
    tracked = entry or request.replica_key
    fetch_offsets = {**credited.fetch_offsets, tracked: request.fetch_offset}
    progressed = with_high_watermark(credited._replace(fetch_offsets=fetch_offsets))
    response = _response(progressed, configuration, request, _records(state, configuration, request))
    # The high watermark may have passed the record of a voter change, and a new voter may have caught up.
    concluded = conclude_committed(state, Outcome(progressed, (response,), timers), configuration, draw)
    return append_caught_up(concluded, configuration, draw)


def _records(state: ReplicaState, configuration: Configuration, request: FetchRequest) -> tuple[Record, ...]:
    """Return the records from the fetch offset on, up to the limit, in whole batches."""
    # Rule: kraft-version.upgrade-atomic-batch.
    log, most = state.log, configuration.fetch_max_records
    end = min(request.fetch_offset + most, log.end_offset) if most else log.end_offset
    return log.between(request.fetch_offset, batch_end(log, end))


def _truncation_offset(state: ReplicaState, configuration: Configuration, response: FetchResponse) -> Offset:
    """Return the offset to truncate to; with the decision `own-offset` another round may be needed."""
    # Rule: fetch.diverging.truncate.
    own = end_of_epoch(state.log, response.diverging_epoch)
    # Records beyond the leader's end of the diverging epoch diverge, whatever epoch they have here (smaller-offset).
    cuts_beyond = (
        own.epoch == response.diverging_epoch or configuration.profile.latitude.diverging_cut == "smaller-offset"
    )
    return min(own.offset, response.diverging_end_offset) if cuts_beyond else own.offset


def after_fetch_response(
    state: ReplicaState, configuration: Configuration, response: FetchResponse, draw: Draw
) -> Outcome:
    """Learn epoch and leader first; the data counts only for a Follower of that leader in that epoch.

    Rules: fetch.response.common, discovery.leader-endpoint-known.
    """
    reason = reason_to_ignore(state, response)
    if reason is not None:
        # The fetch timer runs on: only a successful response restarts it.  Rule: fetch.timer.
        return Outcome(state, refusal=reason)
    learned = learn(state, configuration, response.epoch, response.leader_id, response.leader_endpoint)
    follower = learned or state
    # A larger epoch only moves the replica: the data is for a Fetch of the smaller one.
    follows_sender = (
        response.epoch == state.epoch and follower.role is Role.FOLLOWER and follower.leader_id == response.source
    )
    if response.error is not Error.NONE or not follows_sender:
        if learned is not None:
            return with_timers(state, learned, configuration, draw)
        # Rule: fetch.timer.
        failed = response.error is not Error.NONE
        return Outcome(state, refusal=Refusal.ERROR_RESPONSE if failed else Refusal.NOT_FOLLOWER_OF_SENDER)
    # Rules: fetch.timer, fetch.fetched-flag.
    timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),)
    fetched = follower._replace(fetched=True, searching=False)
    committed = max(state.high_watermark, state.log.start_offset)
    if response.snapshot_id is not None:
        if response.snapshot_end_offset < committed:
            return Outcome(state, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
        return Outcome(fetched._replace(wanted_snapshot=response.snapshot_id), timers=timers)
    # Rules: fetch.diverging.truncate, voters.truncation-reverts.
    if response.diverging_epoch >= 0:
        end_offset = _truncation_offset(state, configuration, response)
        if end_offset < committed:
            return Outcome(state, refusal=Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
        return Outcome(fetched._replace(log=truncate(fetched.log, end_offset)), timers=timers)
    # Rules: voters.effective-on-append, observer.becomes-voter, observer.becomes-non-voter.
    log = append(fetched.log, response.records) if response.records else fetched.log
    # Rule: hw.follower.
    high_watermark = max(state.high_watermark, min(response.high_watermark, log.end_offset))
    return Outcome(fetched._replace(log=log, high_watermark=high_watermark), timers=timers)


def after_append(state: ReplicaState, configuration: Configuration, record: Record, draw: Draw) -> Outcome:
    """Append a client's record to the leader's log."""
    # Rules: hw.majority, durable.flush-before-fetch.
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    after, timers = append_records(state, configuration, (record,), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)

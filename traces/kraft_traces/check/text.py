"""The text of an observation, made fast.

`observation.tla_text` over the canonical values gives the same text and is what a reader should read first; this
module writes what most lines have, a replica's state, Fetches and records, without the detour.
A line that leaves something out gives a text that TLC never gives, and is then compared field by field (`differences`).
"""

from functools import lru_cache
from itertools import pairwise

import jpype
from msgspec import UNSET, UnsetType

from kraft_spec.mapping_forms import change_row, key_to_model, reports_to_model, text_to_model
from kraft_traces.check.observation import canonical_effect, canonical_message, canonical_record, tla_text
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedFlushLog, TracedSend, TracedStartTimer
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedMessage, TracedVoteRequest
from kraft_traces.state_types import TracedChange, TracedReport, TracedSnapshotId, TracedState, TracedVoters
from kraft_traces.values import TracedKey, TracedRecord

_TRUTH = {True: "TRUE", False: "FALSE"}


# TLC has no value without a text, so this one is never equal to what it gives: the fields are compared then.
_LEFT_OUT = "UNSET"


@lru_cache(maxsize=4096)
def _key(key: TracedKey | UnsetType | None) -> str:
    return _LEFT_OUT if key is UNSET else tla_text(key_to_model(key))


@lru_cache(maxsize=1024)
def _voters(entry: TracedVoters | UnsetType) -> str:
    if entry is UNSET or entry.voters is UNSET:
        return _LEFT_OUT
    keys = sorted(entry.voters, key=lambda key: (key.id, key.directory_id or ""))
    target = "{}" if entry.target is None else _ids(entry.target)
    return f"{entry.offset}, {{{', '.join(_key(key) for key in keys)}}}, {target}"


# In these, what is left out is as false as what is empty: the second look is for the few that are.
def _ids(ids: tuple[int, ...] | UnsetType) -> str:
    return f"{{{', '.join(map(str, sorted(ids)))}}}" if ids else _nothing(ids)


def _awaiting(pairs: tuple[tuple[int, int], ...] | UnsetType) -> str:
    return f"{{{', '.join([f'<<{to}, {c}>>' for to, c in sorted(pairs)])}}}" if pairs else _nothing(pairs)


def _fetch_offsets(pairs: tuple[tuple[TracedKey, int], ...] | UnsetType) -> str:
    if not pairs:
        return _nothing(pairs)
    order = _order(tuple([key for key, _ in pairs]))
    ordered = pairs if order is None else [pairs[place] for place in order]
    return f"{{{', '.join([f'<<{_key(key)}, {offset}>>' for key, offset in ordered])}}}"


@lru_cache(maxsize=1024)
def _order(keys: tuple[TracedKey, ...]) -> tuple[int, ...] | None:
    """The places of keys in the order in which TLC shows a set of them; None if that is their own order.

    TLC orders texts as they came into its table of strings.
    """
    ids = [key.id for key in keys]
    if all(one < other for one, other in pairwise(ids)):
        return None
    if len(set(ids)) == len(ids):
        return tuple(sorted(range(len(keys)), key=lambda place: ids[place]))
    table = jpype.JClass("util.UniqueString")
    ranks = [int(table.uniqueStringOf(text_to_model(key.directory_id)).getTok()) for key in keys]
    return tuple(sorted(range(len(keys)), key=lambda place: (ids[place], ranks[place])))


def _nothing(members: tuple[object, ...] | UnsetType) -> str:
    return _LEFT_OUT if members is UNSET else "{}"


def _endpoint(endpoint: str | UnsetType | None) -> str:
    if endpoint:
        return f'"{endpoint}"'
    return _LEFT_OUT if endpoint is UNSET else f'"{text_to_model(endpoint)}"'


def _leader(leader_id: int | UnsetType | None) -> str:
    return "-1" if leader_id is None else str(leader_id)


@lru_cache(maxsize=64)
def _change(change: TracedChange | UnsetType) -> str:
    return _LEFT_OUT if change is UNSET else tla_text(change_row(change))


@lru_cache(maxsize=64)
def _reports(reports: tuple[TracedReport, ...]) -> str:
    return tla_text(reports_to_model(reports))


def _wanted(wanted: TracedSnapshotId | UnsetType) -> str:
    return _LEFT_OUT if wanted is UNSET else f"<<{wanted.end_offset}, {wanted.epoch}>>"


def _changing(state: TracedState) -> str:
    """The text of what is about voter changes, of which there is mostly nothing."""
    change, reports, wanted = state.pending_change, state.reports, state.wanted_snapshot
    awaited = state.awaited_targets
    return (
        f"{'<<>>' if change is None else _change(change)}, "
        f"{_reports(reports) if reports else _nothing(reports)}, "
        f"{_awaiting(awaited) if awaited else _nothing(awaited)}, "
        f"{'<<-1, -1>>' if wanted is None else _wanted(wanted)}"
    )


def state_text(state: TracedState) -> str:
    """The text of `ObservedState`."""
    return (
        f'<<{_key(state.replica_key)}, "{state.role}", {state.epoch}, {_leader(state.leader_id)}, '
        f"{_endpoint(state.leader_endpoint)}, {_key(state.voted_key)}, {state.log_end_offset}, {state.last_epoch}, "
        f"{state.flushed_offset}, {state.high_watermark}, {_voters(state.voters)}, {state.kraft_version}, "
        f"{_ids(state.granted)}, {_ids(state.rejected)}, {_TRUTH.get(state.fetched)}, {_TRUTH.get(state.searching)}, "  # type: ignore[arg-type]
        f"{_awaiting(state.awaiting)}, {_ids(state.acknowledged)}, {_ids(state.fetchers)}, "
        f"{_fetch_offsets(state.fetch_offsets)}, {state.log_start_offset}, {_changing(state)}, "
        f"{state.quorum_state_version}, {_endpoint(state.moved_to)}>>"
    )


# The same record is appended by its leader, sent to every follower and appended there.
@lru_cache(maxsize=4096)
def _record(record: TracedRecord) -> str:
    return tla_text(canonical_record(record))


def _records(records: tuple[TracedRecord, ...]) -> str:
    # TLC shows an empty sequence that it has computed with a space.
    return f"<<{', '.join([_record(record) for record in records])}>>" if records else "<< >>"


def _message(message: TracedMessage) -> str:
    """The text of `ObservedMessage`: the three most frequent kinds by hand."""
    if isinstance(message, TracedFetchRequest):
        return (
            f'<<"FetchRequest", {message.source}, {message.destination}, {message.correlation_id}, {message.epoch}, '
            f"{_key(message.replica_key)}, {message.fetch_offset}, {message.last_epoch}>>"
        )
    if isinstance(message, TracedFetchResponse) and message.records is not UNSET:
        return (
            f'<<"FetchResponse", {message.source}, {message.destination}, {message.correlation_id}, '
            f'"{message.error}", {message.epoch}, {_leader(message.leader_id)}, {_endpoint(message.leader_endpoint)}, '
            f"{message.high_watermark}, {message.diverging_epoch}, {message.diverging_end_offset}, "
            f"{_records(message.records)}, {message.snapshot_end_offset}, {message.snapshot_epoch}>>"
        )
    if isinstance(message, TracedVoteRequest):
        return (
            f'<<"VoteRequest", {message.source}, {message.destination}, {message.correlation_id}, {message.epoch}, '
            f"{_key(message.replica_key)}, {_key(message.voter_key)}, {message.last_epoch}, {message.end_offset}, "
            f"{_TRUTH.get(message.pre_vote)}>>"  # type: ignore[arg-type]
        )
    return tla_text(canonical_message(message))


def _effect(effect: TracedEffect) -> str:
    if isinstance(effect, TracedSend):
        return _message(effect.message)
    if isinstance(effect, TracedAppendRecords):
        return f'<<"AppendRecords", {effect.base_offset}, {_records(effect.records)}>>'
    if isinstance(effect, TracedFlushLog):
        return f'<<"FlushLog", {effect.end_offset}>>'
    return tla_text(canonical_effect(effect))


def effects_text(effects: tuple[TracedEffect, ...]) -> str:
    """The text of `ObservedEffects`."""
    shown = [_effect(effect) for effect in effects if not isinstance(effect, TracedStartTimer)]
    return f"<<{', '.join(shown)}>>"


def observation_text(state: TracedState, reason: str, effects: tuple[TracedEffect, ...]) -> str:
    """The text of `Observation`."""
    return f'<<{state_text(state)}, <<"{reason}", {effects_text(effects)}>>>>'

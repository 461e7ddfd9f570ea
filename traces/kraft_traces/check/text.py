"""The text of an observation, made fast.

`observation.tla_text` over the canonical values gives the same text and is what a reader should read first; this
module writes what most lines have, a replica's state, Fetches and records, without the detour.
A line that leaves something out gives a text that TLC never gives, and is then compared field by field (`differences`).
"""

from functools import lru_cache

from msgspec import UNSET, UnsetType

from kraft_spec.mapping_forms import key_to_model, text_to_model
from kraft_traces.check.observation import canonical_effect, canonical_message, canonical_record, tla_text
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedFlushLog, TracedSend, TracedStartTimer
from kraft_traces.lines import TracedState, TracedVoters
from kraft_traces.messages import TracedFetchRequest, TracedFetchResponse, TracedMessage, TracedVoteRequest
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
    return f"{entry.offset}, {{{', '.join(_key(key) for key in keys)}}}"


# In these, what is left out is as false as what is empty: the second look is for the few that are.
def _ids(ids: tuple[int, ...] | UnsetType) -> str:
    return f"{{{', '.join(map(str, sorted(ids)))}}}" if ids else _nothing(ids)


def _awaiting(pairs: tuple[tuple[int, int], ...] | UnsetType) -> str:
    return f"{{{', '.join([f'<<{to}, {c}>>' for to, c in sorted(pairs)])}}}" if pairs else _nothing(pairs)


def _fetch_offsets(pairs: tuple[tuple[TracedKey, int], ...] | UnsetType) -> str:
    return f"{{{', '.join([f'<<{_key(key)}, {o}>>' for key, o in pairs])}}}" if pairs else _nothing(pairs)


def _nothing(members: tuple[object, ...] | UnsetType) -> str:
    return _LEFT_OUT if members is UNSET else "{}"


def _endpoint(endpoint: str | UnsetType | None) -> str:
    if endpoint:
        return f'"{endpoint}"'
    return _LEFT_OUT if endpoint is UNSET else f'"{text_to_model(endpoint)}"'


def _leader(leader_id: int | UnsetType | None) -> str:
    return "-1" if leader_id is None else str(leader_id)


def state_text(state: TracedState) -> str:
    """The text of `ObservedState`."""
    return (
        f'<<{_key(state.replica_key)}, "{state.role}", {state.epoch}, {_leader(state.leader_id)}, '
        f"{_endpoint(state.leader_endpoint)}, {_key(state.voted_key)}, {state.log_end_offset}, {state.last_epoch}, "
        f"{state.flushed_offset}, {state.high_watermark}, {_voters(state.voters)}, {state.kraft_version}, "
        f"{_ids(state.granted)}, {_ids(state.rejected)}, {_TRUTH.get(state.fetched)}, {_TRUTH.get(state.searching)}, "  # type: ignore[arg-type]
        f"{_awaiting(state.awaiting)}, {_ids(state.acknowledged)}, {_ids(state.fetchers)}, "
        f"{_fetch_offsets(state.fetch_offsets)}>>"
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
            f"{_records(message.records)}>>"
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
        return f'<<"Append", {effect.base_offset}, {_records(effect.records)}>>'
    if isinstance(effect, TracedFlushLog):
        return f'<<"Flush", {effect.end_offset}>>'
    return tla_text(canonical_effect(effect))


def effects_text(effects: tuple[TracedEffect, ...]) -> str:
    """The text of `ObservedEffects`."""
    shown = [_effect(effect) for effect in effects if not isinstance(effect, TracedStartTimer)]
    return f"<<{', '.join(shown)}>>"


def observation_text(state: TracedState, reason: str, effects: tuple[TracedEffect, ...]) -> str:
    """The text of `Observation`."""
    return f'<<{state_text(state)}, <<"{reason}", {effects_text(effects)}>>>>'

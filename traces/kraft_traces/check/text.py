"""The text of an observation, made fast.

`observation.tla_text` over the canonical values gives the same text and is what a reader should read first; this
module writes the two shapes that every line has, a replica's state and a message, without the detour.
A line that leaves something out gives a text that TLC never gives, and is then compared field by field.
"""

from functools import lru_cache

from msgspec import UNSET, UnsetType

from kraft_traces.check.observation import (
    EFFECT_FIELDS,
    canonical_fields,
    canonical_message,
    tla_text,
)
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import TracedState, TracedVoters
from kraft_traces.messages import TracedFetchRequest, TracedFetchResponse, TracedMessage, TracedVoteRequest
from kraft_traces.values import TracedKey

_TRUTH = {True: "TRUE", False: "FALSE"}


@lru_cache(maxsize=4096)
def _key(key: TracedKey | UnsetType | None) -> str:
    if key is None:
        return '<<-1, "">>'
    return "UNSET" if key is UNSET else f'<<{key.id}, "{key.directory_id or ""}">>'


@lru_cache(maxsize=1024)
def _voters(entry: TracedVoters | UnsetType) -> str:
    if entry is UNSET or entry.voters is UNSET:
        return "UNSET"
    keys = sorted(entry.voters, key=lambda key: (key.id, key.directory_id or ""))
    return f"{entry.offset}, {{{', '.join(_key(key) for key in keys)}}}"


def _ids(ids: tuple[int, ...] | UnsetType) -> str:
    # UNSET is as false as (): either the model has nothing there, or the texts differ and the fields are compared.
    return f"{{{', '.join(map(str, sorted(ids)))}}}" if ids else "{}"


def _awaiting(pairs: tuple[tuple[int, int], ...] | UnsetType) -> str:
    return f"{{{', '.join([f'<<{to}, {c}>>' for to, c in sorted(pairs)])}}}" if pairs else "{}"


def _fetch_offsets(pairs: tuple[tuple[TracedKey, int], ...] | UnsetType) -> str:
    return f"{{{', '.join([f'<<{_key(key)}, {o}>>' for key, o in pairs])}}}" if pairs else "{}"


def _leader(leader_id: int | UnsetType | None) -> str:
    return "-1" if leader_id is None else str(leader_id)


def state_text(state: TracedState) -> str:
    """The text of `ObservedState`."""
    return (
        f'<<{_key(state.replica_key)}, "{state.role}", {state.epoch}, {_leader(state.leader_id)}, "{state.leader_endpoint or ""}", '
        f"{_key(state.voted_key)}, {state.log_end_offset}, {state.last_epoch}, {state.flushed_offset}, "
        f"{state.high_watermark}, {_voters(state.voters)}, {state.kraft_version}, {_ids(state.granted)}, "
        f"{_ids(state.rejected)}, {_TRUTH.get(state.fetched)}, {_TRUTH.get(state.searching)}, "  # type: ignore[arg-type]
        f"{_awaiting(state.awaiting)}, {_ids(state.acknowledged)}, {_ids(state.fetchers)}, "
        f"{_fetch_offsets(state.fetch_offsets)}>>"
    )


def _message(message: TracedMessage) -> str:
    """The text of `ObservedMessage`: the three most frequent kinds by hand."""
    if isinstance(message, TracedFetchRequest):
        return (
            f'<<"FetchRequest", {message.source}, {message.destination}, {message.correlation_id}, {message.epoch}, '
            f"{_key(message.replica_key)}, {message.fetch_offset}, {message.last_epoch}>>"
        )
    if isinstance(message, TracedFetchResponse) and not message.records:
        return (
            f'<<"FetchResponse", {message.source}, {message.destination}, {message.correlation_id}, '
            f'"{message.error}", {message.epoch}, {_leader(message.leader_id)}, "{message.leader_endpoint or ""}", '
            f"{message.high_watermark}, {message.diverging_epoch}, {message.diverging_end_offset}, << >>>>"
        )
    if isinstance(message, TracedVoteRequest):
        return (
            f'<<"VoteRequest", {message.source}, {message.destination}, {message.correlation_id}, {message.epoch}, '
            f"{_key(message.replica_key)}, {_key(message.voter_key)}, {message.last_epoch}, {message.end_offset}, "
            f"{_TRUTH.get(message.pre_vote)}>>"  # type: ignore[arg-type]
        )
    return tla_text(canonical_message(message))


def effects_text(effects: tuple[TracedEffect, ...]) -> str:
    """The text of `ObservedEffects`."""
    shown: list[str] = []
    for effect in effects:
        if isinstance(effect, TracedSend):
            shown.append(_message(effect.message))
        elif not isinstance(effect, TracedStartTimer):
            name, fields = EFFECT_FIELDS[type(effect)]
            shown.append(tla_text((name, *canonical_fields(effect, fields))))
    return f"<<{', '.join(shown)}>>"


def observation_text(state: TracedState, reason: str, effects: tuple[TracedEffect, ...]) -> str:
    """The text of `Observation`."""
    return f'<<{state_text(state)}, <<"{reason}", {effects_text(effects)}>>>>'

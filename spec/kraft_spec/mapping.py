"""Between the model and the reference: which name here is which name there, and how its values look.

One table for each thing that both have.
The trace checker and the edge replay (`kraft_spec.edges`) take names, forms and order from here and nowhere else.
Beside it in the model: `NewReplica` in Durability.tla, the messages in Elections.tla, Leadership.tla and
Replication.tla, `Observed*` in Observed.tla, `Cluster` in MCBounds.tla.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kraft_reference import effects, events, messages
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.log import Log
from kraft_reference.profile import PROFILES, Profile
from kraft_reference.state import ReplicaState
from kraft_spec.mapping_forms import (
    ERROR,
    ID_TUPLE,
    KEY,
    KEY_SET,
    KEYS,
    OFFSETS,
    PLAIN,
    RECORD_ROWS,
    RECORDS,
    REPLICA_ID,
    REQUESTS,
    ROLE,
    SET,
    TEXT,
    VOTERS_HISTORY,
    Form,
    ModelValue,
    function_entries,
)


class Field(NamedTuple):
    """One name in the model, one in the reference, and the form of the values."""

    model: str
    reference: str
    form: Form


STATE: tuple[Field, ...] = (
    Field("key", "key", KEY),
    Field("role", "role", ROLE),
    Field("epoch", "epoch", PLAIN),
    Field("leader", "leader_id", REPLICA_ID),
    Field("endpoint", "leader_endpoint", TEXT),
    Field("voted", "voted_key", KEY),
    Field("log", "log.records", RECORDS),
    Field("flushed", "log.flushed", PLAIN),
    Field("voters", "log.voters", VOTERS_HISTORY),
    Field("highWatermark", "high_watermark", PLAIN),
    Field("granted", "granted", SET),
    Field("rejected", "rejected", SET),
    Field("fetched", "fetched", PLAIN),
    Field("searching", "searching", PLAIN),
    Field("epochStart", "epoch_start_offset", PLAIN),
    Field("offsets", "fetch_offsets", OFFSETS),
    Field("fetchers", "fetchers", SET),
    Field("acknowledged", "acknowledged", SET),
    Field("preferred", "preferred_candidates", KEYS),
    Field("awaiting", "awaiting", REQUESTS),
)
"""The state of a replica: `replicas[r]` and `ReplicaState`."""

_ENVELOPE = (
    Field("from", "source", PLAIN),
    Field("to", "destination", PLAIN),
    Field("corr", "correlation_id", PLAIN),
)
_ANSWER = (
    *_ENVELOPE,
    Field("error", "error", ERROR),
    Field("epoch", "epoch", PLAIN),
    Field("leader", "leader_id", REPLICA_ID),
    Field("endpoint", "leader_endpoint", TEXT),
)

MESSAGES: Mapping[type[messages.Message], tuple[Field, ...]] = {
    messages.VoteRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("key", "replica_key", KEY),
        Field("voterKey", "voter_key", KEY),
        Field("lastEpoch", "last_epoch", PLAIN),
        Field("endOffset", "end_offset", PLAIN),
        Field("preVote", "pre_vote", PLAIN),
    ),
    messages.VoteResponse: (*_ANSWER, Field("granted", "granted", PLAIN), Field("preVote", "pre_vote", PLAIN)),
    messages.BeginQuorumEpochRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("voterKey", "voter_key", KEY),
        Field("endpoint", "leader_endpoint", TEXT),
    ),
    messages.BeginQuorumEpochResponse: _ANSWER,
    messages.EndQuorumEpochRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("preferred", "preferred_candidates", KEYS),
    ),
    messages.EndQuorumEpochResponse: _ANSWER,
    messages.FetchRequest: (
        *_ENVELOPE,
        Field("epoch", "epoch", PLAIN),
        Field("key", "replica_key", KEY),
        Field("offset", "fetch_offset", PLAIN),
        Field("lastEpoch", "last_epoch", PLAIN),
    ),
    messages.FetchResponse: (
        *_ANSWER,
        Field("highWatermark", "high_watermark", PLAIN),
        Field("divergingEpoch", "diverging_epoch", PLAIN),
        Field("divergingOffset", "diverging_end_offset", PLAIN),
        Field("records", "records", RECORDS),
    ),
}
"""The messages, each field in the order of `ObservedMessage`; the field `type` is the name of the class."""

EVENTS: Mapping[type[events.Event], tuple[Field, ...]] = {
    **dict.fromkeys((events.ElectionTimeout, events.FetchTimeout, events.CheckQuorumTimeout), ()),
    **dict.fromkeys((events.BeginQuorumEpochTimeout, events.Poll, events.Shutdown, events.Restart), ()),
    events.RequestTimeout: (Field("destination", "destination", PLAIN),),
    events.PollFetch: (Field("destination", "destination", PLAIN),),
    events.ClientAppend: (Field("value", "value", PLAIN),),
    events.AppendVoters: (Field("voters", "voters", KEY_SET),),
    events.Crash: (Field("kept", "log_end_offset", PLAIN),),
    events.ReplaceDisk: (Field("directory", "directory_id", TEXT),),
}
"""What an event adds to its name and its replica; `Receive` is `Handle` and the type of its message."""

EFFECTS: Mapping[type[effects.DurableEffect], tuple[str, tuple[Field, ...]]] = {
    effects.PersistQuorumState: (
        "PersistQuorumState",
        (Field("epoch", "epoch", PLAIN), Field("leader", "leader_id", REPLICA_ID), Field("voted", "voted_key", KEY)),
    ),
    effects.TruncateLog: ("Truncate", (Field("end", "end_offset", PLAIN),)),
    effects.AppendRecords: ("Append", (Field("base", "base_offset", PLAIN), Field("records", "records", RECORDS))),
    effects.FlushLog: ("Flush", (Field("end", "end_offset", PLAIN),)),
}
"""The durable effects: the name in the model, and the fields in the order of `ObservedEffect`."""

CLUSTER: tuple[Field, ...] = (
    Field("voters", "voters", KEY_SET),
    Field("kraftVersion", "kraft_version", PLAIN),
    Field("bootstrap", "bootstrap_servers", ID_TUPLE),
    Field("fetchMaxRecords", "fetch_max_records", PLAIN),
    Field("off", "switched_off", SET),
)
"""What `config` says of the whole cluster."""

REPLICAS: tuple[Field, ...] = (
    Field("endpoints", "endpoint", TEXT),
    Field("keys", "key", KEY),
    Field("preVote", "pre_vote", PLAIN),
    Field("speaksEndpoints", "speaks_endpoints", PLAIN),
)
"""What `config` says of each replica: functions of the replica id."""

DECISIONS: tuple[Field, ...] = (
    Field("observerRefusal", "observer_refusal", PLAIN),
    Field("voterKeyError", "voter_key_error", PLAIN),
    Field("prospectiveAnnouncement", "prospective_announcement", PLAIN),
    Field("endQuorumFetchedFlag", "end_quorum_fetched_flag", PLAIN),
    Field("divergingFetch", "diverging_fetch", PLAIN),
    Field("restartPrecedence", "restart_precedence", PLAIN),
)
"""`config.decisions`: the answers of a profile."""

NOT_IN_THE_MODEL: Mapping[type, Mapping[str, str]] = {
    Configuration: {"cluster_id": "all messages are of one cluster", "timeouts": "the model has no clock"},
    Profile: {"name": "the answers count", "resigned_metric": "the model has no metrics"},
    **{
        request: {"cluster_id": "all messages are of one cluster; a request takes it from the configuration"}
        for request in messages.REQUESTS
    },
}
"""Fields of the reference that no table has, and why."""


def _attribute(structure: object, path: str) -> Any:
    for name in path.split("."):
        structure = getattr(structure, name)
    return structure


def _record(fields: tuple[Field, ...], structure: object) -> dict[str, ModelValue]:
    return {field.model: field.form.to_model(_attribute(structure, field.reference)) for field in fields}


def _arguments(fields: tuple[Field, ...], record: Mapping[str, ModelValue]) -> dict[str, Any]:
    return {field.reference: field.form.from_model(record[field.model]) for field in fields}


def state_to_model(state: ReplicaState) -> dict[str, ModelValue]:
    """The record `replicas[r]` of the model."""
    return _record(STATE, state)


def state_from_model(record: Mapping[str, ModelValue]) -> ReplicaState:
    """The state of a replica that a record of the model stands for."""
    named = _arguments(STATE, record)
    log = {name.removeprefix("log."): named.pop(name) for name in tuple(named) if name.startswith("log.")}
    return ReplicaState(log=Log(**log), **named)


MESSAGE_TYPES: Mapping[str, type[messages.Message]] = {kind.__name__: kind for kind in MESSAGES}
"""The messages by their name."""


def message_to_model(message: messages.Message) -> dict[str, ModelValue]:
    """A message as it is in the network of the model."""
    return {"type": type(message).__name__, **_record(MESSAGES[type(message)], message)}


def message_from_model(record: Mapping[str, ModelValue], cluster_id: str) -> messages.Message:
    """The message that a record of the model stands for; `cluster_id` is its sender's."""
    kind = MESSAGE_TYPES[record["type"]]
    named = _arguments(MESSAGES[kind], record)
    if kind in messages.REQUESTS:
        named["cluster_id"] = cluster_id
    return kind(**named)


def _row(name: str, fields: tuple[Field, ...], structure: object) -> tuple[ModelValue, ...]:
    values = [(field.form, getattr(structure, field.reference)) for field in fields]
    return (name, *[RECORD_ROWS(value) if form is RECORDS else form.to_model(value) for form, value in values])


def effect_row(effect: effects.DurableEffect | effects.Send) -> tuple[ModelValue, ...]:
    """An effect as `ObservedEffects` shows it."""
    if isinstance(effect, effects.Send):
        message = effect.message
        return _row(type(message).__name__, MESSAGES[type(message)], message)
    return _row(*EFFECTS[type(effect)], effect)


def row_names(name: str) -> tuple[str, ...]:
    """The names of the fields of `effect_row`, after its first: the model's."""
    kind = MESSAGE_TYPES.get(name)
    fields = MESSAGES[kind] if kind else _EFFECT_FIELDS[name]
    return tuple(field.model for field in fields)


_EFFECT_FIELDS = dict(EFFECTS.values())

EVENT_TYPES: Mapping[str, type[events.Event]] = {kind.__name__: kind for kind in EVENTS}
"""The events that deliver nothing, by their name."""


def event_to_model(event: events.Event, replica_id: int) -> dict[str, ModelValue]:
    """An event at a replica: [name, replica, ...]."""
    head: dict[str, ModelValue] = {"name": events.event_name(event), "replica": replica_id}
    if isinstance(event, events.Receive):
        return {**head, "message": message_to_model(event.message)}
    return {**head, **_record(EVENTS[type(event)], event)}


def event_from_model(record: Mapping[str, ModelValue], cluster_id: str) -> events.Event:
    """The event that a record of the model stands for; `cluster_id` is that of the message it may deliver."""
    if "message" in record:
        return events.Receive(message_from_model(record["message"], cluster_id))
    kind = EVENT_TYPES[record["name"]]
    return kind(**_arguments(EVENTS[kind], record))


def configuration_to_model(configuration: Configuration) -> dict[str, ModelValue]:
    """The variable `config` of the model."""
    replicas = configuration.replicas
    columns = {
        field.model: {i: field.form.to_model(getattr(replica, field.reference)) for i, replica in replicas.items()}
        for field in REPLICAS
    }
    return {**columns, **_record(CLUSTER, configuration), "decisions": _record(DECISIONS, configuration.profile)}


def configuration_from_model(record: Mapping[str, ModelValue]) -> Configuration:
    """The cluster that a `config` of the model stands for."""
    columns = {field.reference: (field.form, function_entries(record[field.model])) for field in REPLICAS}
    return Configuration(
        replicas={
            i: ReplicaConfiguration(**{name: form.from_model(column[i]) for name, (form, column) in columns.items()})
            for i in sorted(function_entries(record["keys"]))
        },
        profile=_profile(_arguments(DECISIONS, record["decisions"])),
        **_arguments(CLUSTER, record),
    )


def _profile(answers: Mapping[str, Any]) -> Profile:
    """The profile that has these answers, else one without a name of its own."""
    for profile in PROFILES.values():
        if all(getattr(profile, name) == answer for name, answer in answers.items()):
            return profile
    return Profile("of the model", **answers)

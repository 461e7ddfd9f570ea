"""Mapping between names and values of the model and of the reference.

`mapping_tables` has a table for each shared record, `mapping_forms` the conversion of each kind of value.
The trace checker and the edge replay (`kraft_dev.edges`) take all names, forms and orders from here.
Counterparts in the model: `NewReplica` in Durability.tla, the messages in Elections.tla, Leadership.tla,
Replication.tla and VoterChanges.tla, `Observed*` in Observed.tla, `Cluster` in MCBounds.tla.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kraft_reference import effects, events, messages
from kraft_reference.configuration import Configuration, ReplicaConfiguration, Timeouts
from kraft_reference.log import Log
from kraft_reference.profile import PROFILES, Profile, with_settings
from kraft_reference.state import ReplicaState
from kraft_spec.mapping_forms import ModelValue, function_entries
from kraft_spec.mapping_tables import (
    CLUSTER,
    EFFECTS,
    EVENTS,
    MESSAGES,
    NOT_IN_THE_MODEL,
    PROFILE,
    REPLICAS,
    REPLY,
    SAME_CLUSTER,
    STATE,
    Field,
)

__all__ = (
    "CLUSTER",
    "EFFECTS",
    "EVENTS",
    "EVENT_TYPES",
    "MESSAGES",
    "MESSAGE_TYPES",
    "NOT_IN_THE_MODEL",
    "OTHER_CLUSTER",
    "PROFILE",
    "REPLICAS",
    "REPLY",
    "REPLY_NAME",
    "SAME_CLUSTER",
    "STATE",
    "Field",
    "configuration_from_model",
    "configuration_to_model",
    "effect_to_model",
    "event_from_model",
    "event_to_model",
    "is_same_cluster",
    "message_from_model",
    "message_to_model",
    "profile_to_model",
    "state_from_model",
    "state_to_model",
)

OTHER_CLUSTER = "another cluster"
"""`cluster_id` of a request from the model that names another cluster."""


def _attribute(structure: object, path: str) -> Any:
    for name in path.split("."):
        structure = getattr(structure, name)
    return structure


def _record(fields: tuple[Field, ...], structure: object) -> dict[str, ModelValue]:
    return {field.model: field.form.to_model(_attribute(structure, field.reference)) for field in fields}


def _arguments(fields: tuple[Field, ...], record: Mapping[str, ModelValue]) -> dict[str, Any]:
    return {field.reference: field.form.from_model(record[field.model]) for field in fields}


def state_to_model(state: ReplicaState) -> dict[str, ModelValue]:
    """Return the record `replicas[r]` of the model."""
    return _record(STATE, state)


def state_from_model(record: Mapping[str, ModelValue]) -> ReplicaState:
    """Return the state of a replica from a record of the model."""
    named = _arguments(STATE, record)
    log = {name.removeprefix("log."): named.pop(name) for name in tuple(named) if name.startswith("log.")}
    return ReplicaState(log=Log(**log), **named)


MESSAGE_TYPES: Mapping[str, type[messages.Message]] = {kind.__name__: kind for kind in MESSAGES}
"""Message types by name."""


def message_to_model(message: messages.Message) -> dict[str, ModelValue]:
    """Return a message as in the model's network."""
    return {"type": type(message).__name__, **_record(MESSAGES[type(message)], message)}


def message_from_model(record: Mapping[str, ModelValue], cluster_id: str) -> messages.Message:
    """Return the message from a record of the model; `cluster_id` is its sender's."""
    kind = MESSAGE_TYPES[record["type"]]
    named = _arguments(MESSAGES[kind], record)
    if "cluster_id" in NOT_IN_THE_MODEL.get(kind, {}):
        named["cluster_id"] = cluster_id
    if kind is messages.AddVoterRequest:
        named["timeout_ms"] = _SOME_TIME_MS
    return kind(**named)


_SOME_TIME_MS = Timeouts().voter_change_timeout_ms
"""Timeout of an AddVoter request from the model, which has no clock."""


def effect_to_model(effect: effects.DurableEffect | effects.Send | effects.Answer) -> dict[str, ModelValue]:
    """Return an effect as in `ObservedEffects`; its `type` is the name of the effect or of the message."""
    if isinstance(effect, effects.Send):
        return message_to_model(effect.message)
    if isinstance(effect, effects.Answer):
        return {"type": REPLY_NAME, **_record(REPLY, effect.reply)}
    return {"type": type(effect).__name__, **_record(EFFECTS[type(effect)], effect)}


REPLY_NAME = messages.Reply.__name__
"""Name of a reply to a client among the effects."""

EVENT_TYPES: Mapping[str, type[events.Event]] = {kind.__name__: kind for kind in EVENTS}
"""Types of the events that deliver no message, by name."""


def event_to_model(event: events.Event, replica_id: int, cluster_id: str) -> dict[str, ModelValue]:
    """Return an event at a replica of this cluster: [name, replica, ...]."""
    head: dict[str, ModelValue] = {"name": events.event_name(event), "replica": replica_id}
    if isinstance(event, events.Receive):
        return {**head, "message": message_to_model(event.message)}
    record = _record(EVENTS[type(event)], event)
    if SAME_CLUSTER in record:
        record[SAME_CLUSTER] = is_same_cluster(record[SAME_CLUSTER], cluster_id)
    return {**head, **record}


def is_same_cluster(named: str | None, cluster_id: str) -> bool:
    """Return True if a request with this cluster id, or with none, addresses the cluster."""
    return named in (None, cluster_id)


def event_from_model(record: Mapping[str, ModelValue], cluster_id: str) -> events.Event:
    """Return the event from a record of the model, at a replica of the cluster with this id."""
    if "message" in record:
        return events.Receive(message_from_model(record["message"], cluster_id))
    kind = EVENT_TYPES[record["name"]]
    named = _arguments(EVENTS[kind], record)
    if SAME_CLUSTER in record:
        named["cluster_id"] = cluster_id if record[SAME_CLUSTER] else OTHER_CLUSTER
    return kind(**named)


def configuration_to_model(configuration: Configuration) -> dict[str, ModelValue]:
    """Return the variable `config` of the model."""
    replicas = {
        i: replace(replica, initial_voters=configuration.initial_voters(i))
        for i, replica in configuration.replicas.items()
    }
    columns = {
        field.model: {i: field.form.to_model(getattr(replica, field.reference)) for i, replica in replicas.items()}
        for field in REPLICAS
    }
    return {**columns, **_record(CLUSTER, configuration), "profile": profile_to_model(configuration.profile)}


def profile_to_model(profile: Profile) -> dict[str, ModelValue]:
    """Return the field `profile` of `config`."""
    return _record(PROFILE, profile)


def configuration_from_model(record: Mapping[str, ModelValue]) -> Configuration:
    """Return the cluster from a `config` of the model."""
    columns = {field.reference: (field.form, function_entries(record[field.model])) for field in REPLICAS}
    cluster = _arguments(CLUSTER, record)

    def replica(i: int) -> ReplicaConfiguration:
        arguments = {name: form.from_model(column[i]) for name, (form, column) in columns.items()}
        if arguments["initial_voters"] == cluster["voters"]:
            arguments["initial_voters"] = None
        return ReplicaConfiguration(**arguments)

    return Configuration(
        replicas={i: replica(i) for i in sorted(function_entries(record["keys"]))},
        profile=_profile(record["profile"]),
        **cluster,
    )


def _profile(decisions: Mapping[str, Any]) -> Profile:
    """Return the profile with these decisions; if there is none, one without a name of its own."""
    for profile in PROFILES.values():
        if profile_to_model(profile) == decisions:
            return profile
    return with_settings(Profile("of the model"), **decisions)

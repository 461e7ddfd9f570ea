"""The fields of the model's records, from the reference's declarations: their names, their order, their forms.

A field is called in the model as in the reference and in a trace, but for those that are named here.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

from kraft_reference import effects, events, messages
from kraft_reference.changes import PendingChange, Report
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Log, Snapshot, VersionEntry, VotersEntry
from kraft_reference.profile import Profile
from kraft_reference.records import Record
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_spec.mapping_forms import (
    CHANGE,
    ERROR,
    ID_TUPLE,
    KEY,
    KEY_SET,
    KEYS,
    NAMED_KEY,
    OFFSETS,
    OPTIONAL_LIST,
    OPTIONAL_SNAPSHOT,
    PLAIN,
    RECORDS,
    REPLICA_ID,
    REPORTS,
    REQUESTS,
    ROLE,
    SET,
    SNAPSHOT,
    SNAPSHOT_ID,
    TEXT,
    VERSIONS_HISTORY,
    VOTERS_HISTORY,
    Form,
)


class Field(NamedTuple):
    """One name in the model, one in the reference, and the form of the values."""

    model: str
    reference: str
    form: Form
    kind: object = None
    """The type of the values in the reference, where somebody asks for it."""


_FORMS: Mapping[object, Form] = {
    int: PLAIN,
    bool: PLAIN,
    Role: ROLE,
    messages.Error: ERROR,
    int | None: REPLICA_ID,
    str: TEXT,
    str | None: TEXT,
    ReplicaKey: NAMED_KEY,
    ReplicaKey | None: KEY,
    tuple[ReplicaKey, ...]: KEYS,
    frozenset[ReplicaKey]: KEY_SET,
    frozenset[ReplicaKey] | None: KEY_SET,
    frozenset[int]: SET,
    tuple[int, ...]: ID_TUPLE,
    tuple[int, ...] | None: OPTIONAL_LIST,
    tuple[int, int] | None: SNAPSHOT_ID,
    Mapping[int, int]: REQUESTS,
    Mapping[ReplicaKey, int]: OFFSETS,
    tuple[Record, ...]: RECORDS,
    tuple[VotersEntry, ...]: VOTERS_HISTORY,
    tuple[VersionEntry, ...]: VERSIONS_HISTORY,
    Snapshot: SNAPSHOT,
    Snapshot | None: OPTIONAL_SNAPSHOT,
    PendingChange | None: CHANGE,
    tuple[Report, ...]: REPORTS,
}
"""The form of the values of a type of the reference."""

NOT_IN_THE_MODEL: Mapping[type, Mapping[str, str]] = {
    Configuration: {"cluster_id": "all messages are of one cluster", "timeouts": "the model has no clock"},
    Profile: {"name": "the answers count", "resigned_metric": "the model has no metrics"},
    **{
        request: {"cluster_id": "all messages are of one cluster; a request takes it from the configuration"}
        for request in messages.REQUESTS
        if request is not messages.ApiVersionsRequest
    },
    messages.AddVoterRequest: {
        "cluster_id": "all messages are of one cluster; a request takes it from the configuration",
        "timeout_ms": "the model has no clock",
    },
    events.AddVoter: {"timeout_ms": "the model has no clock"},
}
"""Fields of the reference that the model does not have, and why."""

SAME_CLUSTER = "same_cluster"
"""In the model, whether a client's request names no other cluster; the reference has its `cluster_id`."""


def _form(annotation: object) -> Form:
    return PLAIN if get_origin(annotation) is Literal else _FORMS[annotation]


def _declared(kind: type, *apart: str) -> tuple[Field, ...]:
    """The fields of a type in their order, without those that the model does not have and those that stand apart."""
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(hints)
    left_out = {*NOT_IN_THE_MODEL.get(kind, ()), *apart}
    return tuple(Field(name, name, _form(hints[name]), hints[name]) for name in names if name not in left_out)


def _event(kind: type[events.Event]) -> tuple[Field, ...]:
    declared = _declared(kind)
    return tuple(
        Field(SAME_CLUSTER, "cluster_id", PLAIN, bool) if one.model == "cluster_id" else one for one in declared
    )


STATE: tuple[Field, ...] = (
    Field("replica_key", "key", NAMED_KEY, ReplicaKey),
    *_declared(ReplicaState, "key", "log"),
    Field("log", "log.records", RECORDS, tuple[Record, ...]),
    *(one._replace(reference=f"log.{one.reference}") for one in _declared(Log, "records")),
)
"""The state of a replica: `replicas[r]` and `ReplicaState`, with the parts of its log."""

MESSAGES: Mapping[type[messages.Message], tuple[Field, ...]] = {
    kind: _declared(kind) for kind in get_args(messages.Message)
}
"""The messages, each field in the order of `ObservedMessage`; the field `type` is the name of the class."""

REPLY: tuple[Field, ...] = _declared(messages.Reply)
"""The answer to a client, which never enters the network: a `Reply` among the sends."""

EVENTS: Mapping[type[events.Event], tuple[Field, ...]] = {
    kind: _event(kind) for kind in get_args(events.Event) if kind is not events.Receive
}
"""What an event adds to its name and its replica; `Receive` is `Handle` and the type of its message."""

EFFECTS: Mapping[type[effects.DurableEffect], tuple[Field, ...]] = {
    kind: _declared(kind) for kind in get_args(effects.DurableEffect)
}
"""The durable effects, each field in the order of `ObservedEffect`."""

CLUSTER: tuple[Field, ...] = _declared(Configuration, "replicas", "profile")
"""What `config` says of the whole cluster."""

REPLICAS: tuple[Field, ...] = (
    Field("keys", "key", KEY, ReplicaKey),
    Field("endpoints", "endpoint", TEXT, str),
    *_declared(ReplicaConfiguration, "key", "endpoint"),
)
"""What `config` says of each replica: functions of the replica id.

Of a replica that was formatted with the voters of the cluster `initial_voters` has those, the reference None."""

DECISIONS: tuple[Field, ...] = _declared(Profile)
"""`config.decisions`: the answers of a profile."""

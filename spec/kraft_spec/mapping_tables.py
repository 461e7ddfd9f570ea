"""Fields of the model's records, derived from the reference's declarations: names, order and forms.

A field has the same name in the model, the reference and a trace, except for those listed here.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

from kraft_reference import effects, events, messages
from kraft_reference.changes import PendingChange, Report
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Log, Snapshot, VersionEntry, VotersEntry
from kraft_reference.profile import Latitude, Profile
from kraft_reference.records import Record
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_spec.mapping_forms import (
    AWAITED_TARGETS,
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
    """A field: its names in the model and the reference, and the form of its values."""

    model: str
    reference: str
    form: Form
    kind: object = None
    """Type of the values in the reference, if needed."""


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
"""Form of each type of the reference."""

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
"""Fields of the reference that the model omits, and the reasons."""

SAME_CLUSTER = "same_cluster"
"""True in the model if a client's request names no other cluster; the reference has its `cluster_id`."""


def _form_of(annotation: object) -> Form:
    return PLAIN if get_origin(annotation) is Literal else _FORMS[annotation]


_FORMS_BY_NAME: Mapping[str, Form] = {"awaited_targets": AWAITED_TARGETS}
"""Forms of fields whose type does not determine the names in the model."""


def _declared_fields(kind: type, *apart: str) -> tuple[Field, ...]:
    """Return the fields of a type in their order, except those that the model omits and those in `apart`."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
    left_out = {*NOT_IN_THE_MODEL.get(kind, ()), *apart}
    forms = {name: _FORMS_BY_NAME.get(name) or _form_of(hints[name]) for name in names if name not in left_out}
    return tuple(Field(name, name, form, hints[name]) for name, form in forms.items())


def _event_fields(kind: type[events.Event]) -> tuple[Field, ...]:
    declared = _declared_fields(kind)
    return tuple(
        Field(SAME_CLUSTER, "cluster_id", PLAIN, bool) if field.model == "cluster_id" else field for field in declared
    )


STATE: tuple[Field, ...] = (
    Field("replica_key", "key", NAMED_KEY, ReplicaKey),
    *_declared_fields(ReplicaState, "key", "log"),
    Field("log", "log.records", RECORDS, tuple[Record, ...]),
    *(field._replace(reference=f"log.{field.reference}") for field in _declared_fields(Log, "records")),
)
"""State of a replica: `replicas[r]` and `ReplicaState`, with the parts of its log."""

MESSAGES: Mapping[type[messages.Message], tuple[Field, ...]] = {
    kind: _declared_fields(kind) for kind in get_args(messages.Message)
}
"""Messages, with fields in the order of `ObservedMessage`; the field `type` is the name of the class."""

REPLY: tuple[Field, ...] = _declared_fields(messages.Reply)
"""Reply to a client: a `Reply` among the sends, which never enters the network."""

EVENTS: Mapping[type[events.Event], tuple[Field, ...]] = {
    kind: _event_fields(kind) for kind in get_args(events.Event) if kind is not events.Receive
}
"""Fields of an event besides name and replica; `Receive` is `Handle` and the type of its message."""

EFFECTS: Mapping[type[effects.DurableEffect], tuple[Field, ...]] = {
    kind: _declared_fields(kind) for kind in get_args(effects.DurableEffect)
}
"""Durable effects, with fields in the order of `ObservedEffect`."""

CLUSTER: tuple[Field, ...] = _declared_fields(Configuration, "replicas", "profile")
"""Cluster-wide fields of `config`."""

REPLICAS: tuple[Field, ...] = (
    Field("keys", "key", KEY, ReplicaKey),
    Field("endpoints", "endpoint", TEXT, str),
    *_declared_fields(ReplicaConfiguration, "key", "endpoint"),
)
"""Per-replica fields of `config`: functions of the replica id.

The reference has None as the `initial_voters` of a replica that was formatted with the cluster's voters."""

PROFILE: tuple[Field, ...] = (
    *_declared_fields(Profile, "latitude"),
    *(field._replace(reference=f"latitude.{field.reference}") for field in _declared_fields(Latitude)),
)
"""`config.profile`: the decisions of a profile."""

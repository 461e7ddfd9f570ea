"""Shapes of the model's variables and messages, derived from the fields of `mapping_tables`."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args, get_origin

from kraft_proofs.induction.symbols import NUMBER, TRUTH
from kraft_proofs.translation.values import TEXT, FunctionOf, SequenceOf, SetOf, Shape
from kraft_reference import messages
from kraft_reference.changes import PendingChange, Report
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot, VersionEntry, VotersEntry
from kraft_reference.records import Record
from kraft_reference.roles import Role
from kraft_spec import mapping_tables
from kraft_spec.mapping_forms import (
    AWAITED_TARGETS,
    REQUESTS,
    Form,
    ModelAwaitedTarget,
    ModelDetails,
    ModelKey,
    ModelReport,
    ModelRequest,
    ModelSnapshotId,
)
from kraft_spec.mapping_tables import Field

KEY: Shape = ModelKey(NUMBER, TEXT)
_CONTENT: Mapping[str, Shape] = {
    "voters": SetOf(KEY),
    "details": SetOf(ModelDetails(NUMBER, TEXT, NUMBER, NUMBER)),
    "target": SetOf(NUMBER),
}
_CHANGE: Mapping[str, Shape] = {
    "kind": TEXT,
    "phase": TEXT,
    "voter": KEY,
    "endpoint": TEXT,
    "min_version": NUMBER,
    "max_version": NUMBER,
    "offset": NUMBER,
    "requester": NUMBER,
    "request": NUMBER,
    "when_committed": TRUTH,
}
_SHAPES: Mapping[object, Shape] = {
    int: NUMBER,
    int | None: NUMBER,
    bool: TRUTH,
    str: TEXT,
    str | None: TEXT,
    Role: TEXT,
    messages.Error: TEXT,
    ReplicaKey: KEY,
    ReplicaKey | None: KEY,
    tuple[ReplicaKey, ...]: SequenceOf(KEY),
    frozenset[ReplicaKey]: SetOf(KEY),
    frozenset[ReplicaKey] | None: SetOf(KEY),
    frozenset[int]: SetOf(NUMBER),
    tuple[int, ...]: SetOf(NUMBER),
    tuple[int, int] | None: ModelSnapshotId(NUMBER, NUMBER),
    Mapping[ReplicaKey, int]: FunctionOf(KEY, NUMBER),
    tuple[Record, ...]: SequenceOf({"epoch": NUMBER, "kind": TEXT, "value": NUMBER, **_CONTENT}),
    tuple[VotersEntry, ...]: SequenceOf({"offset": NUMBER, **_CONTENT}),
    tuple[VersionEntry, ...]: SequenceOf({"offset": NUMBER, "kraft_version": NUMBER}),
    Snapshot: {"end_offset": NUMBER, "epoch": NUMBER, "kraft_version": NUMBER, **_CONTENT},
    PendingChange | None: _CHANGE,
    tuple[Report, ...]: SetOf(ModelReport(KEY, TEXT, NUMBER, NUMBER)),
}
"""Shape of each type of the reference in the model, as written by `mapping_forms`."""

_SHAPES_BY_FORM: Mapping[Form, Shape] = {
    REQUESTS: SetOf(ModelRequest(NUMBER, NUMBER)),
    AWAITED_TARGETS: SetOf(ModelAwaitedTarget(NUMBER, NUMBER)),
}


def _shapes_of(fields: Iterable[Field]) -> Mapping[str, Shape]:
    return {field.model: _SHAPES_BY_FORM.get(field.form) or _SHAPES[_type_of(field.kind)] for field in fields}


def _type_of(kind: object) -> object:
    """Return the type; for a Literal, the type of its values."""
    return type(get_args(kind)[0]) if get_origin(kind) is Literal else kind


REPLICA_STATE: Shape = _shapes_of(mapping_tables.STATE)

CONFIGURATION: Shape = {
    **{name: FunctionOf(NUMBER, shape) for name, shape in _shapes_of(mapping_tables.REPLICAS).items()},
    **_shapes_of(mapping_tables.CLUSTER),
}
"""Configuration set by operators, without the decisions of a profile."""

MESSAGES: Mapping[str, Shape] = {
    kind.__name__: {"type": TEXT, **_shapes_of(mapping_tables.MESSAGES[kind])}
    for kind in (
        messages.VoteRequest,
        messages.VoteResponse,
        messages.BeginQuorumEpochRequest,
        messages.BeginQuorumEpochResponse,
        messages.EndQuorumEpochRequest,
        messages.EndQuorumEpochResponse,
        messages.FetchSnapshotRequest,
        messages.ApiVersionsRequest,
        messages.AddVoterResponse,
        messages.RemoveVoterResponse,
        messages.UpdateVoterResponse,
    )
}
"""Messages whose actions are proved."""

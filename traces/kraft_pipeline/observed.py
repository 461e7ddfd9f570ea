"""Columns of an event in the tables."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json

from kraft_pipeline.schemas import EVENTS

FAULTS: dict[str, str] = {
    "Crash": "crash between steps",
    "ReplaceDisk": "disk replaced",
    "DropMessage": "message lost",
    "DuplicateMessage": "message doubled",
    "CutLink": "link cut",
    "AnswerUnsupportedVersion": "Pre-Vote not understood",
}
"""Faults that are separate events, by event."""

CRASH_IN_STEP = "crash within a step"
"""Fault that may occur in any event at a replica."""

FAULT_KINDS = (*FAULTS.values(), CRASH_IN_STEP)

# Created once, because Arrow looks for pandas each time that it converts Python values.
_FAULT_EVENTS, _FAULTS = pa.array(FAULTS), pa.array(FAULTS.values())

FIRST_ROLE = "Unattached"
"""Role of each replica before the first event, on an empty disk."""

_ERROR = pa.struct([("error", pa.string())])
_STATE = ("epoch", "leader_id", "log_end_offset", "high_watermark")
_LINE = pa.schema(
    [
        ("kind", pa.string()),
        ("sequence", pa.int64()),
        ("time_ms", pa.int64()),
        ("event", pa.string()),
        ("replica", pa.int32()),
        ("message", pa.struct([("type", pa.string()), ("pre_vote", pa.bool_())])),
        ("effects", pa.list_(pa.struct([("message", _ERROR), ("reply", _ERROR)]))),
        ("refusal", pa.string()),
        ("crash", pa.struct([("completed", pa.int64())])),
        ("answer", _ERROR),
        ("state", pa.struct([("role", pa.string()), *((name, EVENTS.arrow.field(name).type) for name in _STATE)])),
    ]
)
"""Part of a line that is read."""


def events_of(trace_id: str, raw: bytes, first_line: int, roles: dict[int, str | None]) -> Any:
    """Return the rows of `events` of some lines of a trace as a `RecordBatch`, without an object per line.

    Args:
        trace_id: id of the trace.
        raw: well-formed lines; only events get a row.
        first_line: number of the first line.
        roles: recorded role of each replica before these lines, updated to that after them.
    """
    lines = _read(raw)
    numbers = pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), len(lines)), start=first_line - 1)
    lines = lines.append_column("line", numbers)
    events = lines.filter(pc.equal(lines["kind"], "event")).combine_chunks()
    message, state = events["message"], events["state"]
    role_after = pc.struct_field(state, "role")
    fault = pc.replace_with_mask(
        pc.take(_FAULTS, pc.index_in(events["event"], _FAULT_EVENTS)).combine_chunks(),
        pc.is_valid(events["crash"]).combine_chunks(),
        CRASH_IN_STEP,
    )
    columns = {
        "trace_id": pa.repeat(trace_id, len(events)),
        **{name: events[name] for name in ("line", "sequence", "time_ms", "event", "replica", "refusal")},
        "message": pc.struct_field(message, "type"),
        "pre_vote": pc.struct_field(message, "pre_vote"),
        "fault": fault,
        "errors": _errors(events),
        "role_before": _before(events["replica"].to_pylist(), role_after.to_pylist(), roles),
        "role_after": role_after,
        **{name: pc.struct_field(state, name) for name in _STATE},
    }
    table = pa.table([columns[name] for name in EVENTS.names], schema=EVENTS.arrow)
    (batch,) = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=EVENTS.arrow)]
    return batch


def _read(raw: bytes) -> Any:
    # One block, because a line must not be split over two.
    whole = json.ReadOptions(use_threads=False, block_size=len(raw) + 1)
    parse = json.ParseOptions(explicit_schema=_LINE, unexpected_field_behavior="ignore")
    return json.read_json(pa.BufferReader(raw), whole, parse)


def _errors(events: Any) -> Any:
    """Return the error codes of the responses and replies that each event sends."""
    codes: list[list[str]] = [[] for _ in range(len(events))]
    effects = events["effects"].combine_chunks()
    sent = pc.list_flatten(effects)
    errors = pc.coalesce(*(pc.struct_field(sent, [kind, "error"]) for kind in ("message", "reply")))
    valid, senders = pc.is_valid(errors), pc.list_parent_indices(effects)
    for event, error in zip(senders.filter(valid).to_pylist(), errors.filter(valid).to_pylist(), strict=True):
        codes[event].append(error)
    for event, error in enumerate(pc.struct_field(events["answer"], "error").to_pylist()):
        if error is not None:
            codes[event].append(error)
    return pa.array(codes, EVENTS.arrow.field("errors").type)


def _before(replicas: list[int | None], after: list[str | None], roles: dict[int, str | None]) -> Any:
    """Return the role before each event, from the line before at its replica."""
    before: list[str | None] = []
    for replica, role in zip(replicas, after, strict=True):
        if replica is None:
            before.append(None)
        else:
            before.append(roles.get(replica))
            roles[replica] = role
    return pa.array(before, pa.string())

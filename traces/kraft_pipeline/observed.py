"""The columns of an event: what coverage and readers of the tables want of a line."""

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
"""The faults that are events of their own, by event."""

CRASH_IN_STEP = "crash within a step"
"""The fault that may strike in any event at a replica."""

FAULT_KINDS = (*FAULTS.values(), CRASH_IN_STEP)

# Once, because Arrow looks for pandas each time that it makes an array of Python's values.
_FAULT_EVENTS, _FAULTS = pa.array(FAULTS), pa.array(FAULTS.values())

FIRST_ROLE = "Unattached"
"""Of each replica before the first event: it starts on an empty disk."""

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
"""The part of a line that is looked at."""


def events_of(trace_id: str, raw: bytes, first_line: int, roles: dict[int, str | None]) -> Any:
    """The rows of `events` of some lines of a trace, a `RecordBatch`: all at once, none of them as an object.

    Args:
        trace_id: of the trace.
        raw: lines that have been held to their form; of those that are no events there is no row.
        first_line: number of the first.
        roles: of each replica what the line before shows, if it does; brought to what the last of these lines shows.
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
    # In one block, because a line must not straddle two.
    whole = json.ReadOptions(use_threads=False, block_size=len(raw) + 1)
    parse = json.ParseOptions(explicit_schema=_LINE, unexpected_field_behavior="ignore")
    return json.read_json(pa.BufferReader(raw), whole, parse)


def _errors(events: Any) -> Any:
    """The error codes of the answers that each event sends."""
    found: list[list[str]] = [[] for _ in range(len(events))]
    effects = events["effects"].combine_chunks()
    sent = pc.list_flatten(effects)
    errors = pc.coalesce(*(pc.struct_field(sent, [kind, "error"]) for kind in ("message", "reply")))
    there, senders = pc.is_valid(errors), pc.list_parent_indices(effects)
    for event, error in zip(senders.filter(there).to_pylist(), errors.filter(there).to_pylist(), strict=True):
        found[event].append(error)
    for event, error in enumerate(pc.struct_field(events["answer"], "error").to_pylist()):
        if error is not None:
            found[event].append(error)
    return pa.array(found, EVENTS.arrow.field("errors").type)


def _before(replicas: list[int | None], after: list[str | None], roles: dict[int, str | None]) -> Any:
    """What the line before each one at its replica shows."""
    before: list[str | None] = []
    for replica, role in zip(replicas, after, strict=True):
        if replica is None:
            before.append(None)
        else:
            before.append(roles.get(replica))
            roles[replica] = role
    return pa.array(before, pa.string())

"""The columns of an event: what coverage and readers of the tables want of a line."""

from typing import Any

from msgspec import UNSET

from kraft_traces.effects import TracedAnswer, TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState

Row = dict[str, Any]

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


def event_row(trace_id: str, line_number: int, line: EventLine, role_before: str | None) -> Row:
    """The row of a line; `role_before` is what the line before it at that replica shows, if it does."""
    state = _UNOBSERVED if line.state is UNSET else line.state
    message = line.message
    pre_vote = getattr(message, "pre_vote", None)
    return {
        "trace_id": trace_id,
        "line": line_number,
        "sequence": line.sequence,
        "time_ms": _or_none(line.time_ms),
        "event": line.event,
        "replica": _or_none(line.replica),
        "message": None if message is UNSET else message.__struct_config__.tag,
        "pre_vote": pre_vote if isinstance(pre_vote, bool) else None,
        "refusal": line.refusal if line.refusal else None,
        "fault": FAULTS.get(line.event) if line.crash is UNSET else CRASH_IN_STEP,
        "errors": _errors(line),
        "role_before": role_before,
        "role_after": None if state.role is UNSET else state.role.value,
        "epoch": _or_none(state.epoch),
        "leader_id": _or_none(state.leader_id),
        "log_end_offset": _or_none(state.log_end_offset),
        "high_watermark": _or_none(state.high_watermark),
    }


_UNOBSERVED = TracedState()


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value


def _errors(line: EventLine) -> list[str]:
    if line.answer is not UNSET:
        error = getattr(line.answer, "error", UNSET)
        return [] if error is UNSET else [error.value]
    if not line.effects:
        return []
    found: list[str] = []
    for effect in line.effects:
        if type(effect) is TracedSend:
            error = getattr(effect.message, "error", UNSET)
            if error is not UNSET:
                found.append(error.value)
        elif type(effect) is TracedAnswer:
            found.append(effect.reply.error.value)
    return found

"""Conversion of the reference's messages to trace form, and back."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference import messages
from kraft_reference.messages import Message
from kraft_traces.forms import forms, reference_values, traced_values
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage

_TRACED: dict[type[Message], type[TracedMessage]] = {
    getattr(messages, name): traced for name, traced in TRACED_MESSAGES.items()
}
_REFERENCE: dict[type[TracedMessage], type[Message]] = {traced: kind for kind, traced in _TRACED.items()}


def traced_message(identifier: str, message: Message) -> TracedMessage:
    """Return the trace form of a message."""
    return _TRACED[type(message)](identifier, *traced_values(message))


def message_of(traced: TracedMessage, path: str = "$.message") -> Message:
    """Return the reference's message.

    Raises:
        IncompleteLineError: a field other than the id is missing; `path` is the JSON path of the message.
    """
    kind = _REFERENCE[type(traced)]
    return kind(**reference_values(kind, traced, path))


def complete_message(traced: TracedMessage, **beside: object) -> Message:
    """Return the reference's message, with defaults for the fields that its version on the wire does not have.

    Raises:
        IncompleteLineError: a field without a default is missing.
    """
    kind: Any = _REFERENCE[type(traced)]
    missing = {name: _ABSENT.get(name) for name in forms(kind) if getattr(traced, name) is UNSET and name not in beside}
    return message_of(replace(traced, **missing, **beside))


_ABSENT: dict[str, object] = {
    "epoch": 0,
    "granted": False,
    "error": messages.Error.NONE,
    "pre_vote": False,
    "records": (),
    "high_watermark": -1,
    "diverging_epoch": -1,
    "diverging_end_offset": -1,
    "snapshot_end_offset": -1,
    "snapshot_epoch": -1,
    "correlation_id": 0,
    "min_version": 0,
    "max_version": 0,
    "preferred_candidates": (),
    "timeout_ms": 30_000,
    "when_committed": True,
}
"""Defaults of the fields that a version lacks; None for all others."""

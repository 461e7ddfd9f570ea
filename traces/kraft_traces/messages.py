"""Messages of the reference in the form of a trace, and back."""

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
    """The trace's form of a message."""
    return _TRACED[type(message)](identifier, *traced_values(message))


def message_of(traced: TracedMessage, path: str = "$.message") -> Message:
    """The reference's form of a message.

    Raises:
        IncompleteLineError: a field other than the id was not observed; `path` is where the message stands.
    """
    kind = _REFERENCE[type(traced)]
    return kind(**reference_values(kind, traced, path))


def whole(seen: TracedMessage, **beside: object) -> Message:
    """The message, with what its version on the wire does not carry as a replica takes it that does not get it.

    Raises:
        IncompleteLineError: a field is missing that nothing stands for.
    """
    kind: Any = _REFERENCE[type(seen)]
    missing = {name: _ABSENT.get(name) for name in forms(kind) if getattr(seen, name) is UNSET and name not in beside}
    return message_of(replace(seen, **missing, **beside))


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
"""What stands for a field that a version lacks; None for all others."""

"""Messages of the reference in the form of a trace, and back."""

from kraft_reference import messages
from kraft_reference.messages import Message
from kraft_traces.forms import reference_values, traced_values
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

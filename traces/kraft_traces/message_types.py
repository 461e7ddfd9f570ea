"""Types of messages in a trace: the fields of `kraft_reference.messages` and an id, each optional.

`UNSET` stands for a field that was not observed and `None` for an explicit null.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from msgspec import UNSET, UnsetType, defstruct

from kraft_reference import messages
from kraft_traces.forms import Derived, forms, observed
from kraft_traces.values import MessageId


class _Message(Derived, frozen=True, gc=False, tag_field="type"):
    id: MessageId | UnsetType = UNSET


def _traced(kind: Any) -> type[_Message]:
    declared = [(name, *observed(form)) for name, form in forms(kind).items()]
    return defstruct(  # type: ignore[return-value]  # it has this base
        f"Traced{kind.__name__}",
        declared,
        bases=(_Message,),
        namespace={"__doc__": kind.__doc__},
        module=__name__,
        tag=kind.__name__,
        frozen=True,
        gc=False,
    )


_REQUESTS = [request.__name__ for request in messages.REQUESTS]

TRACED_MESSAGES: Mapping[str, type[_Message]] = {
    name: _traced(getattr(messages, name))
    for request in _REQUESTS
    for name in (request, request.replace("Request", "Response"))
}
"""Types of messages by name, which is their `type` in a trace: each request and its response."""

# The type checker only knows the messages that the code names; their fields are `Any`.
if TYPE_CHECKING:
    TracedMessage = _Message

    class TracedVoteRequest(_Message, frozen=True):
        """Vote or Pre-Vote request."""

    class TracedVoteResponse(_Message, frozen=True):
        """Vote or Pre-Vote response."""

    class TracedEndQuorumEpochRequest(_Message, frozen=True):
        """Resignation of a leader."""

    class TracedFetchRequest(_Message, frozen=True):
        """Fetch request."""

    class TracedFetchResponse(_Message, frozen=True):
        """Fetch response."""

    class TracedFetchSnapshotResponse(_Message, frozen=True):
        """FetchSnapshot response."""

    class TracedAddVoterRequest(_Message, frozen=True):
        """AddRaftVoter request of a joining controller for itself."""

else:
    TracedMessage = Union[tuple(TRACED_MESSAGES.values())]  # noqa: UP007 - of as many as there are
    """Message of a line."""
    globals().update({f"Traced{name}": traced for name, traced in TRACED_MESSAGES.items()})


def message_type(message: TracedMessage) -> str:
    """Type name of the message as written in a trace, such as VoteRequest."""
    return str(message.__struct_config__.tag)


def is_request(message: TracedMessage) -> bool:
    """True for a request, False for a response."""
    return message_type(message).endswith("Request")


CHANGE_ANSWERS: tuple[type[TracedMessage], ...] = tuple(
    TRACED_MESSAGES[name] for name in ("AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse")
)
"""Responses to voter changes: a step may send one together with another message to the same receiver."""

"""The types of messages in a trace: the fields of `kraft_reference.messages` with an id, each of which may be absent.

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
    return defstruct(  # type: ignore[return-value]  # it has the base that is given
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
"""By the name of the message, which is its `type` in a trace: each request and its response."""

# The type checker is told of the messages that the code asks for by name; what it has no fields of is `Any` to it.
if TYPE_CHECKING:
    TracedMessage = _Message

    class TracedVoteRequest(_Message, frozen=True):
        """A Vote or Pre-Vote."""

    class TracedVoteResponse(_Message, frozen=True):
        """An answer to it."""

    class TracedEndQuorumEpochRequest(_Message, frozen=True):
        """A leader's resignation."""

    class TracedFetchRequest(_Message, frozen=True):
        """A Fetch."""

    class TracedFetchResponse(_Message, frozen=True):
        """An answer to it."""

    class TracedFetchSnapshotResponse(_Message, frozen=True):
        """An answer to a FetchSnapshot."""

    class TracedAddVoterRequest(_Message, frozen=True):
        """A joining controller's AddRaftVoter for itself."""

else:
    TracedMessage = Union[tuple(TRACED_MESSAGES.values())]  # noqa: UP007 - of as many as there are
    """A message as a line shows it."""
    globals().update({f"Traced{name}": traced for name, traced in TRACED_MESSAGES.items()})


def type_of(message: TracedMessage) -> str:
    """What a line calls the message."""
    return str(message.__struct_config__.tag)


def is_request(message: TracedMessage) -> bool:
    """Does it ask for something, or does it answer?"""
    return type_of(message).endswith("Request")


CHANGE_ANSWERS: tuple[type[TracedMessage], ...] = tuple(
    TRACED_MESSAGES[name] for name in ("AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse")
)
"""The answers to voter changes: a step may send one beside another message to the same receiver."""

"""The events of a trace: their names, and what a line of each may carry."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_reference import events
from kraft_reference.effects import Timer
from kraft_reference.timers import TIMER_EVENTS
from kraft_simulation.occurrence import NetworkEvent
from kraft_traces.forms import forms
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.values import MessageId

HANDLE = "Handle"
"""What the names of the events that deliver a message begin with."""

_EVENTS = (*get_args(events.Event), *get_args(NetworkEvent))

STARTS = frozenset(("Restart", "ReplaceDisk"))
"""The events after which a process begins its correlation ids anew."""

EVENT_TYPES: Mapping[str, Any] = {kind.__name__: kind for kind in _EVENTS if kind is not events.Receive}
"""The events that deliver nothing, by their name."""

EVENT_NAMES: tuple[str, ...] = tuple(
    name
    for kind in _EVENTS
    for name in ([f"{HANDLE}{one}" for one in TRACED_MESSAGES] if kind is events.Receive else [kind.__name__])
)

if TYPE_CHECKING:
    EventName = str
else:
    EventName = Literal[EVENT_NAMES]

Source = Literal["poll", "connection", "client", "operator", "fault", "network"]


class TracedCause(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What made the event happen: exactly one of a delivered message, a timer and another source."""

    message_id: MessageId | UnsetType = UNSET
    timer: Timer | UnsetType = UNSET
    source: Source | UnsetType = UNSET


class EventShape(NamedTuple):
    """What a line of one event may carry."""

    at_replica: bool
    """Does it happen at a replica?  If not, it is the network's and has no replica, effects or state."""
    cause: TracedCause | None
    """Its cause; None for an event that a message causes."""
    message: type[TracedMessage] | None = None
    """The type of the message that it delivers."""
    input: tuple[str, ...] = ()
    """The fields of its `input`."""


_CAUSES: Mapping[Timer | Source, tuple[type[events.Event | NetworkEvent], ...]] = {
    **{timer: (type(event),) for timer, event in TIMER_EVENTS.items()},
    "connection": (events.RequestTimeout,),
    "poll": (events.Poll, events.PollFetch, events.AdvanceReassignment),
    "client": (
        events.ClientAppend,
        events.AddVoter,
        events.RemoveVoter,
        events.UpdateFeatures,
        events.AlterPartitionReassignments,
        events.TakeSnapshot,
    ),
    "operator": (events.AppendVoters, events.Shutdown, events.Restart, events.ReplaceSoftware),
    "fault": (events.Crash, events.ReplaceDisk),
    "network": get_args(NetworkEvent),
}
"""What makes an event happen that no message causes."""


def _shape(kind: Any) -> EventShape:
    (cause,) = [cause for cause, kinds in _CAUSES.items() if kind in kinds]
    traced = TracedCause(timer=cause) if isinstance(cause, Timer) else TracedCause(source=cause)
    return EventShape(kind not in _CAUSES["network"], traced, None, tuple(forms(kind)))


EVENTS: Mapping[str, EventShape] = {name: _shape(kind) for name, kind in EVENT_TYPES.items()} | {
    f"{HANDLE}{name}": EventShape(True, None, traced) for name, traced in TRACED_MESSAGES.items()
}
"""By name of the event."""

"""Events of a trace: their names, and the fields that a line of each may have."""

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
"""Prefix of the names of events that deliver a message."""

_EVENTS = (*get_args(events.Event), *get_args(NetworkEvent))

STARTS = frozenset(("Restart", "ReplaceDisk"))
"""Events after which a process starts its correlation ids again."""

EVENT_TYPES: Mapping[str, Any] = {kind.__name__: kind for kind in _EVENTS if kind is not events.Receive}
"""Events that deliver no message, by name."""

EVENT_NAMES: tuple[str, ...] = tuple(
    name
    for kind in _EVENTS
    for name in ([f"{HANDLE}{message}" for message in TRACED_MESSAGES] if kind is events.Receive else [kind.__name__])
)

if TYPE_CHECKING:
    EventName = str
else:
    EventName = Literal[EVENT_NAMES]

Source = Literal["poll", "connection", "client", "operator", "fault", "network"]


class TracedCause(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Cause of an event: exactly one of a delivered message, a timer and another source."""

    message_id: MessageId | UnsetType = UNSET
    timer: Timer | UnsetType = UNSET
    source: Source | UnsetType = UNSET


class EventShape(NamedTuple):
    """Fields that a line of an event may have."""

    at_replica: bool
    """True for an event of a replica; an event of the network has no replica, effects or state."""
    cause: TracedCause | None
    """Cause of the event; None if a message causes it."""
    message: type[TracedMessage] | None = None
    """Type of the delivered message."""
    input: tuple[str, ...] = ()
    """Fields of its `input`."""
    default: Mapping[str, object] | None = None
    """Fields of the input that a line without `input` has; None if such a line lacks its input."""


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
"""Causes of the events that no message causes."""


_DEFAULTS: Mapping[Any, Mapping[str, object]] = {events.Poll: {"announce_to": None}}


def _shape(kind: Any) -> EventShape:
    (cause,) = [cause for cause, kinds in _CAUSES.items() if kind in kinds]
    traced = TracedCause(timer=cause) if isinstance(cause, Timer) else TracedCause(source=cause)
    return EventShape(kind not in _CAUSES["network"], traced, None, tuple(forms(kind)), _DEFAULTS.get(kind))


EVENTS: Mapping[str, EventShape] = {name: _shape(kind) for name, kind in EVENT_TYPES.items()} | {
    f"{HANDLE}{name}": EventShape(True, None, traced) for name, traced in TRACED_MESSAGES.items()
}
"""Fields of each event, by name of the event."""

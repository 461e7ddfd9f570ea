"""The events of a trace: their names, and what a line of each may carry."""

from typing import Literal, NamedTuple, get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.effects import Timer
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.values import MessageId

EventName = Literal[
    "ElectionTimeout",
    "FetchTimeout",
    "CheckQuorumTimeout",
    "BeginQuorumEpochTimeout",
    "VoterChangeTimeout",
    "RequestTimeout",
    "Poll",
    "PollFetch",
    "HandleVoteRequest",
    "HandleVoteResponse",
    "HandleBeginQuorumEpochRequest",
    "HandleBeginQuorumEpochResponse",
    "HandleEndQuorumEpochRequest",
    "HandleEndQuorumEpochResponse",
    "HandleFetchRequest",
    "HandleFetchResponse",
    "HandleFetchSnapshotRequest",
    "HandleFetchSnapshotResponse",
    "HandleApiVersionsRequest",
    "HandleApiVersionsResponse",
    "HandleAddVoterRequest",
    "HandleAddVoterResponse",
    "HandleRemoveVoterRequest",
    "HandleRemoveVoterResponse",
    "HandleUpdateVoterRequest",
    "HandleUpdateVoterResponse",
    "ClientAppend",
    "AppendVoters",
    "AddVoter",
    "RemoveVoter",
    "UpdateFeatures",
    "AlterPartitionReassignments",
    "AdvanceReassignment",
    "TakeSnapshot",
    "Shutdown",
    "Crash",
    "Restart",
    "ReplaceDisk",
    "DropMessage",
    "DuplicateMessage",
    "AnswerUnsupportedVersion",
    "CutLink",
    "HealLink",
]
EVENT_NAMES: tuple[EventName, ...] = get_args(EventName)

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


def _timer(timer: Timer) -> EventShape:
    return EventShape(True, TracedCause(timer=timer))


def _from(source: Source, *fields: str) -> EventShape:
    return EventShape(source != "network", TracedCause(source=source), None, fields)


EVENTS: dict[str, EventShape] = {
    "ElectionTimeout": _timer(Timer.ELECTION),
    "FetchTimeout": _timer(Timer.FETCH),
    "CheckQuorumTimeout": _timer(Timer.CHECK_QUORUM),
    "BeginQuorumEpochTimeout": _timer(Timer.BEGIN_QUORUM_EPOCH),
    "VoterChangeTimeout": _timer(Timer.VOTER_CHANGE),
    "RequestTimeout": _from("connection", "destination"),
    "Poll": _from("poll"),
    "PollFetch": _from("poll", "destination"),
    "ClientAppend": _from("client", "value"),
    "AppendVoters": _from("operator", "voters"),
    "AddVoter": _from("client", "request", "voter", "endpoint", "timeout_ms", "when_committed", "cluster_id"),
    "RemoveVoter": _from("client", "request", "voter", "cluster_id"),
    "UpdateFeatures": _from("client", "request", "kraft_version", "brokers_min", "brokers_max"),
    "AlterPartitionReassignments": _from("client", "request", "replicas"),
    "AdvanceReassignment": _from("poll", "chosen"),
    "TakeSnapshot": _from("client", "end_offset"),
    "Shutdown": _from("operator"),
    "Crash": _from("fault", "log_end_offset"),
    "Restart": _from("operator", "endpoint"),
    "ReplaceDisk": _from("fault", "directory_id"),
    "DropMessage": _from("network", "message_id"),
    "DuplicateMessage": _from("network", "message_id"),
    "AnswerUnsupportedVersion": _from("network", "message_id"),
    "CutLink": _from("network", "source", "destination"),
    "HealLink": _from("network", "source", "destination"),
} | {f"Handle{name}": EventShape(True, None, traced) for name, traced in TRACED_MESSAGES.items()}
"""By name of the event."""

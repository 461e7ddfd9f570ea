"""From a trace line to the value of the model's variable `event`.

A complete line stands for exactly one event; what a foreign line that leaves something out may stand for is in
`attempts`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from kraft_reference import events
from kraft_spec.mapping import EVENTS as MODEL_EVENTS
from kraft_spec.mapping import is_same_cluster
from kraft_spec.tlc.values import INTEGER_MAX, INTEGER_MIN
from kraft_traces.lines import EventLine
from kraft_traces.values import CHANGE_SUFFIX, FETCH_SUFFIX, AskedKey, TracedKey
from kraft_traces.vocabulary import EVENTS

Event = dict[str, object]

HANDLE = "Handle"
"""What the names of the events that deliver a message begin with."""


class LeftOutError(Exception):
    """A line leaves out what is needed to know its event.

    Attributes:
        field: JSON path in the line, without `$.`.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class UnrepresentableError(Exception):
    """A line holds a number that the model cannot."""


class Place(NamedTuple):
    """What a message id stands for."""

    sent: int
    """Sequence of the line that sent the message."""
    destination: int
    """Its receiver."""
    change: bool
    """Whether it answers a voter change."""


def message_place(identifier: str) -> Place:
    """What a message id stands for."""
    sent, _, to = identifier.removesuffix(CHANGE_SUFFIX).removesuffix(FETCH_SUFFIX).partition(".")
    return Place(_within(int(sent)), int(to), identifier.endswith(CHANGE_SUFFIX))


def _within(number: int) -> int:
    """A number that TLC can hold; none of this size is ever right, so another one is as wrong."""
    return min(max(number, INTEGER_MIN), INTEGER_MAX)


def delivered_id(line: EventLine) -> str | UnsetType:
    """The id of the message that a line delivers, which its cause names too."""
    identifier = UNSET if line.message is UNSET else line.message.id
    if identifier is UNSET and line.cause is not UNSET:
        return line.cause.message_id
    return identifier


def base(line: EventLine) -> Event:
    """The part of an event that every line has; its type is that of the message which came, "" for none."""
    crash = line.crash
    event: Event = {
        "name": line.event,
        "type": line.event.removeprefix(HANDLE) if line.event.startswith(HANDLE) else "",
        "replica": 0 if line.replica is UNSET else line.replica,
        "sequence": line.sequence,
        "completed": -1,
    }
    if crash is not UNSET:
        event["completed"] = _within(crash.completed)
        event["log_end_offset"] = _within(crash.log_end_offset)
    return event


def complete_event(line: EventLine, cluster_id: str) -> Event:
    """The one event of a line that leaves nothing out, in a trace of the cluster with this id.

    Raises:
        LeftOutError: it does.
        UnrepresentableError: it holds a number beyond the model's.
    """
    event = base(line)
    event.update(_specifics(line, cluster_id))
    return event


def _specifics(line: EventLine, cluster_id: str) -> Mapping[str, object]:
    name: str = line.event
    if name.startswith(HANDLE):
        identifier = delivered_id(line)
        if identifier is UNSET:
            raise LeftOutError("message.id")
        return {"sent": message_place(identifier).sent}
    if name not in _CHOOSERS:
        return {}
    given = line.input
    if given is UNSET:
        raise LeftOutError(f"input.{EVENTS[name].input[0]}")
    for field in EVENTS[name].input:
        if getattr(given, field) is UNSET:
            raise LeftOutError(f"input.{field}")
    chosen = _CHOOSERS[name](given)
    if given.cluster_id is not UNSET:
        chosen["same_cluster"] = is_same_cluster(given.cluster_id, cluster_id)
    return chosen


def _choice(event: type[events.Event], **chosen: object) -> Event:
    """What an event adds to its name and its replica, from the reference's names to the model's."""
    return {field.model: field.form.to_model(chosen[field.reference]) for field in MODEL_EVENTS[event]}


def appended_value(value: int) -> Event:
    """The choice of a ClientAppend.

    Raises:
        UnrepresentableError: the model has no such number.
    """
    if _within(value) != value:
        raise UnrepresentableError(f"the value {value} does not fit in the 32 bits of the model's integers")
    return _choice(events.ClientAppend, value=value)


def appended_voters(voters: Iterable[TracedKey]) -> Event:
    """The choice of an AppendVoters."""
    return _choice(events.AppendVoters, voters=voters)


def kept(log_end_offset: int) -> Event:
    """The choice of a Crash."""
    return _choice(events.Crash, log_end_offset=_within(log_end_offset))


def new_directory(directory_id: str) -> Event:
    """The choice of a ReplaceDisk."""
    return _choice(events.ReplaceDisk, directory_id=directory_id)


def started(endpoint: str | None) -> Event:
    """The choice of a Restart."""
    return _choice(events.Restart, endpoint=endpoint)


def snapshot_taken(end_offset: int) -> Event:
    """The choice of a TakeSnapshot."""
    return _choice(events.TakeSnapshot, end_offset=_within(end_offset))


def voter_added(request: int, voter: AskedKey, endpoint: str | None, *, when_committed: bool) -> Event:
    """The choice of an AddVoter, for a request that names this cluster or none."""
    asked: dict[str, object] = {"request": request, "voter": voter, "endpoint": endpoint}
    return _choice(events.AddVoter, **asked, when_committed=when_committed, cluster_id=True)


def voter_removed(request: int, voter: AskedKey) -> Event:
    """The choice of a RemoveVoter, for a request that names this cluster or none."""
    return _choice(events.RemoveVoter, request=request, voter=voter, cluster_id=True)


def features_updated(request: int, kraft_version: int, brokers_min: int, brokers_max: int) -> Event:
    """The choice of an UpdateFeatures."""
    brokers = {"brokers_min": brokers_min, "brokers_max": brokers_max}
    return _choice(events.UpdateFeatures, request=request, kraft_version=kraft_version, **brokers)


def target_asked(request: int, replicas: Iterable[int] | None) -> Event:
    """The choice of an AlterPartitionReassignments for the quorum."""
    return _choice(events.AlterPartitionReassignments, request=request, replicas=replicas)


def reassignment_advanced(chosen: TracedKey | None) -> Event:
    """The choice of an AdvanceReassignment."""
    return _choice(events.AdvanceReassignment, chosen=chosen)


def place_of(identifier: str) -> Event:
    """What an event of the network says of the message that it is about."""
    return message_place(identifier)._asdict()


def _link(given: Any) -> Event:
    return {"source": given.source, "destination": given.destination}


def _destination(given: Any) -> Event:
    return _choice(events.PollFetch, destination=given.destination)


# Any: a `TracedInput` of which it is known that the fields of this event are there.
_CHOOSERS: Mapping[str, Callable[[Any], Event]] = {
    "PollFetch": _destination,
    "RequestTimeout": lambda given: _choice(events.RequestTimeout, destination=given.destination),
    "ClientAppend": lambda given: appended_value(given.value),
    "AppendVoters": lambda given: appended_voters(given.voters),
    "Crash": lambda given: kept(given.log_end_offset),
    "ReplaceDisk": lambda given: new_directory(given.directory_id),
    "AddVoter": lambda given: voter_added(
        given.request, given.voter, given.endpoint, when_committed=given.when_committed
    ),
    "RemoveVoter": lambda given: voter_removed(given.request, given.voter),
    "UpdateFeatures": lambda given: features_updated(
        given.request, given.kraft_version, given.brokers_min, given.brokers_max
    ),
    "AlterPartitionReassignments": lambda given: target_asked(given.request, given.replicas),
    "AdvanceReassignment": lambda given: reassignment_advanced(given.chosen),
    "TakeSnapshot": lambda given: snapshot_taken(given.end_offset),
    "Restart": lambda given: started(given.endpoint),
    "DropMessage": lambda given: place_of(given.message_id),
    "DuplicateMessage": lambda given: place_of(given.message_id),
    "AnswerUnsupportedVersion": lambda given: place_of(given.message_id),
    "CutLink": _link,
    "HealLink": _link,
}
"""The choice that an event's own input makes, by event."""

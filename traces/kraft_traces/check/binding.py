"""Conversion of a trace line to the value of the model's variable `event`.

A complete line determines one event; `attempts` lists the possible events of a foreign line with missing fields.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from kraft_reference import events
from kraft_spec.mapping import EVENTS as MODEL_EVENTS
from kraft_spec.mapping import is_same_cluster
from kraft_spec.tlc.values import INTEGER_MAX, INTEGER_MIN
from kraft_traces.lines import EventLine, input_of
from kraft_traces.values import CHANGE_SUFFIX, FETCH_SUFFIX
from kraft_traces.vocabulary import EVENT_TYPES, EVENTS, HANDLE

Event = dict[str, object]


class MissingFieldError(Exception):
    """A line lacks a field that determines its event.

    Attributes:
        field: JSON path in the line, without `$.`.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class UnrepresentableError(Exception):
    """A line has a number that the model cannot represent."""


class Place(NamedTuple):
    """Parts of a message id."""

    sent: int
    """Sequence of the line that sent the message."""
    destination: int
    """Receiver of the message."""
    change: bool
    """True for a response to a voter change."""


def message_place(identifier: str) -> Place:
    """Return the parts of a message id."""
    sent, _, to = identifier.removesuffix(CHANGE_SUFFIX).removesuffix(FETCH_SUFFIX).partition(".")
    return Place(_within(int(sent)), int(to), identifier.endswith(CHANGE_SUFFIX))


def _within(number: int) -> int:
    """Clamp a number to TLC's range; a number outside of it is always wrong, and so is its substitute."""
    return min(max(number, INTEGER_MIN), INTEGER_MAX)


def delivered_id(line: EventLine) -> str | UnsetType:
    """Return the id of the message that a line delivers, from the message or from the cause."""
    identifier = UNSET if line.message is UNSET else line.message.id
    if identifier is UNSET and line.cause is not UNSET:
        return line.cause.message_id
    return identifier


def base(line: EventLine) -> Event:
    """Return the part of an event that every line has; `type` is that of the delivered message, "" for none."""
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
    """Return the event of a complete line, in a trace of the cluster with this id.

    Raises:
        MissingFieldError: a field that determines the event is missing.
        UnrepresentableError: the line has a number that the model cannot represent.
    """
    event = base(line)
    event.update(_specifics(line, cluster_id))
    return event


def _specifics(line: EventLine, cluster_id: str) -> Mapping[str, object]:
    name, fields_of_input = line.event, input_of(line)
    if name.startswith(HANDLE):
        identifier = delivered_id(line)
        if identifier is UNSET:
            raise MissingFieldError("message.id")
        return {"sent": message_place(identifier).sent}
    fields = EVENTS[name].input
    for field in fields:
        if fields_of_input is UNSET or getattr(fields_of_input, field) is UNSET:
            raise MissingFieldError(f"input.{field}")
    values = {field: getattr(fields_of_input, field) for field in fields}
    if "message_id" in values:
        return message_place(values["message_id"])._asdict()
    if "cluster_id" in values:
        values["cluster_id"] = is_same_cluster(values["cluster_id"], cluster_id)
    return choice(EVENT_TYPES[name], **values) if EVENTS[name].at_replica else values


def choice(kind: type[events.Event], **chosen: Any) -> Event:
    """Return the fields of a model's event beyond name and replica, converted from those of a trace.

    `cluster_id` of a request is True if it names this cluster or none.

    Raises:
        UnrepresentableError: the model cannot represent a number.
    """
    if kind is events.ClientAppend and _within(chosen["value"]) != chosen["value"]:
        raise UnrepresentableError(f"the value {chosen['value']} does not fit in the 32 bits of the model's integers")
    numbers = {name: _within(value) if type(value) is int else value for name, value in chosen.items()}
    return {field.model: field.form.to_model(numbers[field.reference]) for field in MODEL_EVENTS[kind]}

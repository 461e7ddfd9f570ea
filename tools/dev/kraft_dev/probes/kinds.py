"""What must be reached, read off the sources: nothing here is a list of names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from types import UnionType
from typing import get_args

from kraft_reference import effects, events, messages
from kraft_reference.cluster import occurrence
from kraft_reference.cluster.workload import Faults
from kraft_reference.messages import Error
from kraft_reference.outcome import Refusal
from kraft_reference.roles import TRANSITIONS, Cause, Role, Transition
from kraft_spec.models.running import next_actions


@dataclass(frozen=True, slots=True)
class Kind:
    """Things of one kind that can happen.

    Attributes:
        name: As the table and the list of reasons call it.
        names: All that must be reached, in the order of the source.
    """

    name: str
    names: Callable[[], tuple[str, ...]]


def row_name(source: Role, cause: Cause, target: Role) -> str:
    """A row of the transition table."""
    return f"{source} -> {target}: {cause}"


def name_of(row: Transition) -> str:
    """The same."""
    return row_name(row.source, row.cause, row.target)


def _members(union: UnionType) -> Iterator[str]:
    for member in get_args(union):
        yield member.__name__


def message_names() -> tuple[str, ...]:
    """The types of messages."""
    return tuple(_members(messages.Message))


def event_names() -> tuple[str, ...]:
    """The events of replicas and of the network, and the actions of the model's Next."""
    of_replicas = [name for name in _members(events.Event) if name != events.Receive.__name__]
    of_messages = [f"Handle{name}" for name in message_names()]
    of_network = _members(occurrence.NetworkEvent)
    return tuple(dict.fromkeys((*of_replicas, *of_messages, *of_network, *next_actions().values())))


def effect_names() -> tuple[str, ...]:
    """What a step can ask its driver to do."""
    return tuple(_members(effects.Effect))


def fault_names() -> tuple[str, ...]:
    """The kinds of misfortune that the simulator can be told to bring about; not how long each lasts."""
    return tuple(field.name for field in fields(Faults) if not field.name.endswith(("_min", "_max")))


KINDS: tuple[Kind, ...] = (
    Kind("event", event_names),
    Kind("transition", lambda: tuple(name_of(row) for row in TRANSITIONS)),
    Kind("refusal", lambda: tuple(Refusal)),
    Kind("error", lambda: tuple(Error)),
    Kind("message", message_names),
    Kind("effect", effect_names),
    Kind("fault", fault_names),
)
"""The table of probes."""

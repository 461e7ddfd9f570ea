"""Subject of an action: the replica at which it happened, and its message.

TLC reports the action of a step without its bound variables, so they are inferred from the two states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraft_spec.counterexamples.messages import kind_words
from kraft_spec.counterexamples.state import Message, State

INITIAL = "Init"
"""The action of the first state."""

_ABOUT_ONE_MESSAGE = ("DropMessage", "AnswerUnsupportedVersion")


@dataclass(frozen=True, slots=True)
class Happening:
    """Subject of an action.

    Attributes:
        replicas: Ids of the replicas that changed, or of the receiver of a message.
        messages: The message that was consumed; several if the states leave it ambiguous.
        link: The link that was cut or healed; or None.
    """

    replicas: tuple[int, ...]
    messages: tuple[Message, ...]
    link: tuple[int, int] | None = None

    def words(self) -> str:
        """Return text such as `replica 2, VoteRequest from 1`; empty if nothing is known."""
        parts = [f"replica{'s' * (len(self.replicas) > 1)} {', '.join(map(str, self.replicas))}"] * bool(self.replicas)
        if self.messages:
            kinds = sorted({kind_words(message) for message in self.messages})
            senders = sorted({message["source"] for message in self.messages})
            parts.append(f"{' or '.join(kinds)} from {' or '.join(map(str, senders))}")
        if self.link is not None:
            parts.append(f"from {self.link[0]} to {self.link[1]}")
        return ", ".join(parts)


def happening(name: str, before: State, after: State) -> Happening:
    """Return the subject of the step from `before` to `after` by the action `name`."""
    changed = tuple(sorted(id_ for id_, replica in after.replicas.items() if replica != before.replicas.get(id_)))
    messages = _handled_messages(name, changed, before, after)
    if not changed and messages:
        changed = tuple(sorted({message["destination"] for message in messages}))
    links = before.cuts ^ after.cuts
    return Happening(changed, messages, next(iter(links)) if len(links) == 1 else None)


def _handled_messages(name: str, changed: tuple[int, ...], before: State, after: State) -> tuple[Message, ...]:
    """Return the messages that the step consumed; if none left the network, those that it may have handled."""
    kind = name.removeprefix("Handle")
    if kind == name and name not in _ABOUT_ONE_MESSAGE:
        return ()

    def fits(message: Mapping[Any, Any]) -> bool:
        return name in _ABOUT_ONE_MESSAGE or (
            message["type"] == kind and (not changed or message["destination"] in changed)
        )

    taken = [message for message in before.network - after.network if fits(message)]
    # A message that may be delivered again stays in the network.
    possible = taken or [message for message in before.network if fits(message)]
    return tuple(sorted(possible, key=repr))

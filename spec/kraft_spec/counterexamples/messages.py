"""Messages in words: the kind, the other side, and the fields that say something."""

from collections.abc import Iterable, Mapping
from typing import Any

from kraft_spec.counterexamples.records import records_words
from kraft_spec.counterexamples.state import Message, field_name, says_nothing, value_words

_ENVELOPE = ("type", "source", "destination", "correlation_id", "granted", "pre_vote", "records")


def kind_words(message: Message) -> str:
    """`VoteRequest`, or `VoteRequest (Pre-Vote)`."""
    return f"{message['type']}{' (Pre-Vote)' if message.get('pre_vote') else ''}"


def message_words(message: Message, keys: Mapping[int, Any]) -> str:
    """What a message says beside its sender and its receiver; empty if that is nothing.

    Args:
        message: It.
        keys: The key of each replica: one that a message has to name is left out while it is the replica's.
    """
    said: list[str] = []
    if "granted" in message:
        said.append("granted" if message["granted"] else "refused")
    expected = {"replica_key": keys.get(message["source"]), "voter_key": keys.get(message["destination"])}
    for name in sorted(message):
        value = message[name]
        if name in _ENVELOPE or says_nothing(value) or (name in expected and expected[name] == value):
            continue
        said.append(f"{field_name(name)} {value_words(value)}")
    if records := message.get("records"):
        said.append(f"records {records_words(records)}")
    return ", ".join(said)


def sent_words(message: Message, keys: Mapping[int, Any]) -> str:
    """A message that was sent: `VoteRequest to 2 (end offset 1, epoch 1)`."""
    content = message_words(message, keys)
    return f"{kind_words(message)} to {message['destination']}{f' ({content})' if content else ''}"


def sends(messages: Iterable[Message], keys: Mapping[int, Any]) -> list[str]:
    """One phrase for messages that differ in their receiver only."""
    receivers: dict[tuple[str, str], list[int]] = {}
    for message in messages:
        content = (kind_words(message), message_words(message, keys))
        receivers.setdefault(content, []).append(message["destination"])
    return sorted(
        f"sends {kind} to {', '.join(map(str, sorted(to)))}{f' ({content})' if content else ''}"
        for (kind, content), to in receivers.items()
    )

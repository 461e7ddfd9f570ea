"""Messages in words: the kind, the receiver, and the fields with content."""

from collections.abc import Iterable, Mapping
from typing import Any

from kraft_spec.counterexamples.records import records_words
from kraft_spec.counterexamples.state import Message, field_name, says_nothing, value_words

_ENVELOPE = ("type", "source", "destination", "correlation_id", "granted", "pre_vote", "records")


def kind_words(message: Message) -> str:
    """Return text such as `VoteRequest`, or `VoteRequest (Pre-Vote)`."""
    return f"{message['type']}{' (Pre-Vote)' if message.get('pre_vote') else ''}"


def message_words(message: Message, keys: Mapping[int, Any]) -> str:
    """Return the content of a message except its sender and receiver; empty if there is none.

    Args:
        message: The message.
        keys: Key of each replica; a message's key field is omitted if it equals the replica's key.
    """
    phrases: list[str] = []
    if "granted" in message:
        phrases.append("granted" if message["granted"] else "refused")
    expected = {"replica_key": keys.get(message["source"]), "voter_key": keys.get(message["destination"])}
    for name in sorted(message):
        value = message[name]
        if name in _ENVELOPE or says_nothing(value) or (name in expected and expected[name] == value):
            continue
        phrases.append(f"{field_name(name)} {value_words(value)}")
    if records := message.get("records"):
        phrases.append(f"records {records_words(records)}")
    return ", ".join(phrases)


def sent_words(message: Message, keys: Mapping[int, Any]) -> str:
    """Return a sent message, such as `VoteRequest to 2 (end offset 1, epoch 1)`."""
    content = message_words(message, keys)
    return f"{kind_words(message)} to {message['destination']}{f' ({content})' if content else ''}"


def sends(messages: Iterable[Message], keys: Mapping[int, Any]) -> list[str]:
    """Return phrases for sent messages; those that differ only in their receiver share one."""
    receivers: dict[tuple[str, str], list[int]] = {}
    for message in messages:
        content = (kind_words(message), message_words(message, keys))
        receivers.setdefault(content, []).append(message["destination"])
    return sorted(
        f"sends {kind} to {', '.join(map(str, sorted(to)))}{f' ({content})' if content else ''}"
        for (kind, content), to in receivers.items()
    )

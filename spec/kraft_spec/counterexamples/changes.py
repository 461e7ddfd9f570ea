"""Changes of a step, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from kraft_spec.counterexamples.actions import Happening
from kraft_spec.counterexamples.messages import kind_words, sends
from kraft_spec.counterexamples.records import end_offset, log_changes
from kraft_spec.counterexamples.state import Message, State, by_id, field_name, value_words
from kraft_spec.tlc.values import Function

_NOT_LISTED = ("replicas", "network", "cuts", "history")
_BOUNDS = ("config", "spent")
"""Constants, and counters that keep a model check finite."""

_BOOKKEEPING = ("awaiting",)
"""Connections that await a response: the messages show them."""

_LOG = ("log", "base")


def change_words(before: State, after: State, about: Happening) -> tuple[str, ...]:
    """Return a phrase for each change of a step, at least one."""
    phrases: list[str] = []
    old, new = before.replicas, after.replicas
    for replica_id in sorted(new):
        if new[replica_id] != old[replica_id]:
            which = f"replica {replica_id}: " if len(about.replicas) > 1 else ""
            phrases += [f"{which}{phrase}" for phrase in _replica_words(old[replica_id], new[replica_id])]
    phrases += _network_words(before, after, about)
    phrases += _committed_words(before, after)
    for name in sorted(after.variables):
        if name not in (*_NOT_LISTED, *_BOUNDS):
            # In the partition model `cluster` is the whole state, so its name is omitted.
            path = "" if name == "cluster" else field_name(name)
            phrases += _differences(path, before.variables[name], after.variables[name])
    nothing = "takes it and is otherwise as it was" if about.messages else "nothing that a replica or a message shows"
    return tuple(phrases) or (nothing,)


def _replica_words(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[str]:
    changed = {name: (before.get(name), after[name]) for name in sorted(after) if before.get(name) != after[name]}
    if "role" in changed:
        # A replica that stops in an action other than Crash crashed before completing its effects.
        by_a_crash = " by a crash" if after["role"] == "Stopped" else ""
        yield f"{changed.pop('role')[0]} -> {after['role']}{by_a_crash}"
    for name in ("epoch", "voted_key", "leader_id"):
        if name in changed:
            was, now = changed.pop(name)
            yield f"{field_name(name)} {_value_of(name, was)} -> {_value_of(name, now)}"
    log_changed = any(name in changed for name in _LOG)
    if log_changed:
        yield from log_changes(before, after)
    for name, words in (("voters", _voters_words), ("versions", _levels_words)):
        if name in changed:
            del changed[name]
            # The length of the history follows the log.
            earlier = [] if log_changed else [f"earlier {name} {len(before[name]) - 1} -> {len(after[name]) - 1}"]
            yield from list(words(before[name], after[name])) or earlier
    for name, (was, now) in changed.items():
        if name not in (*_LOG, *_BOOKKEEPING):
            yield f"{field_name(name)} {_value_of(name, was)} -> {_value_of(name, now)}"


def _value_of(name: str, value: Any) -> str:
    """Return the value of a replica's field, with -1 replaced by its meaning."""
    if value == -1 and name in ("leader_id", "high_watermark"):
        return "none" if name == "leader_id" else "unknown"
    return value_words(value)


def _voters_words(before: Any, after: Any) -> Iterator[str]:
    """Yield changes of the current voter set; of voter details only if the voters are the same."""
    was, now = before[-1], after[-1]
    for name in ("voters", "target"):
        if was[name] != now[name]:
            yield f"{name} {value_words(was[name])} -> {value_words(now[name])}"
    if was["voters"] == now["voters"] and was["details"] != now["details"]:
        yield f"details of the voters {value_words(was['details'])} -> {value_words(now['details'])}"


def _levels_words(before: Any, after: Any) -> Iterator[str]:
    was, now = before[-1]["kraft_version"], after[-1]["kraft_version"]
    if was != now:
        yield f"kraft.version {was} -> {now}"


def _network_words(before: State, after: State, about: Happening) -> Iterator[str]:
    removed = before.network - after.network - set(about.messages)
    new = after.network - before.network
    abandoned = {message for message in new if message["correlation_id"] == 0 and _awaited_form(message) in removed}
    yield from sends(sorted(new - abandoned, key=repr), after.keys)
    for message in _in_order(abandoned):
        yield f"waits no more for an answer to its {kind_words(message)} to {message['destination']}"
    for message in _in_order(removed - {_awaited_form(each) for each in abandoned}):
        yield f"the {kind_words(message)} from {message['source']} to {message['destination']} is dropped"
    for origin, to in sorted(after.cuts - before.cuts):
        yield f"nothing gets from {origin} to {to}"
    for origin, to in sorted(before.cuts - after.cuts):
        yield f"messages get from {origin} to {to} again"


def _awaited_form(message: Message) -> Message:
    """Return an abandoned request as it was while its sender awaited the response."""
    return Function({**message, "correlation_id": 1})


def _in_order(messages: set[Message] | frozenset[Message]) -> list[Message]:
    return sorted(
        messages, key=lambda message: (message["type"], message["source"], message["destination"], repr(message))
    )


def _committed_words(before: State, after: State) -> Iterator[str]:
    """Yield the change of the committed offset; the replicas show the rest of the history."""
    was, now = (state.variables.get("history", {}).get("committed") for state in (before, after))
    if was is not None and now is not None and end_offset(was) != end_offset(now):
        yield f"committed up to offset {end_offset(now)}"


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield the changed parts of a value, each with its path."""
    if before == after:
        return
    was, now = _entries(before), _entries(after)
    if was is None or now is None:
        yield f"{path} {value_words(before)} -> {value_words(after)}".strip()
        return
    for key in sorted({*was, *now}, key=repr):
        inner = f"{path} {field_name(key)}".strip()
        if key in was and key in now:
            yield from _differences(inner, was[key], now[key])
        else:
            yield f"{inner} {' -> '.join(value_words(of[key]) if key in of else 'none' for of in (was, now))}"


def _entries(value: Any) -> Mapping[Any, Any] | None:
    """Return a function's entries, also those of 1..n if its values are functions; None for another value."""
    if isinstance(value, tuple) and value and all(isinstance(element, Function) for element in value):
        return by_id(value)
    return value if isinstance(value, Function) else None

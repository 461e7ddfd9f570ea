"""What a step changed, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from kraft_spec.counterexamples.actions import Happening
from kraft_spec.counterexamples.messages import kind_words, sends
from kraft_spec.counterexamples.records import end_offset, log_changes
from kraft_spec.counterexamples.state import Message, State, by_id, field_name, value_words
from kraft_spec.tlc.values import Function

_SAID_OTHERWISE = ("replicas", "network", "cuts", "history")
_BOUNDS = ("config", "spent")
"""What never changes, and what a slice counts to stay finite."""

_BOOKKEEPING = ("awaiting",)
"""On which connections an answer is awaited: the messages say so."""

_LOG = ("log", "base")


def change_words(before: State, after: State, about: Happening) -> tuple[str, ...]:
    """One phrase for each thing that is otherwise after a step; one at least."""
    said: list[str] = []
    old, new = before.replicas, after.replicas
    for one in sorted(new):
        if new[one] != old[one]:
            which = f"replica {one}: " if len(about.replicas) > 1 else ""
            said += [f"{which}{phrase}" for phrase in _replica_words(old[one], new[one])]
    said += _network_words(before, after, about)
    said += _committed_words(before, after)
    for name in sorted(after.variables):
        if name not in (*_SAID_OTHERWISE, *_BOUNDS):
            # What a cluster of brokers stores needs no word for the cluster.
            path = "" if name == "cluster" else field_name(name)
            said += _differences(path, before.variables[name], after.variables[name])
    nothing = "takes it and is otherwise as it was" if about.messages else "nothing that a replica or a message shows"
    return tuple(said) or (nothing,)


def _replica_words(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[str]:
    changed = {name: (before.get(name), after[name]) for name in sorted(after) if before.get(name) != after[name]}
    if "role" in changed:
        # Within another action than Crash that is one before all its effects were done.
        by_a_crash = " by a crash" if after["role"] == "Stopped" else ""
        yield f"{changed.pop('role')[0]} -> {after['role']}{by_a_crash}"
    for name in ("epoch", "voted_key", "leader_id"):
        if name in changed:
            was, now = changed.pop(name)
            yield f"{field_name(name)} {_of(name, was)} -> {_of(name, now)}"
    log_changed = any(name in changed for name in _LOG)
    if log_changed:
        yield from log_changes(before, after)
    for name, words in (("voters", _voters_words), ("versions", _levels_words)):
        if name in changed:
            del changed[name]
            # How much it remembers of them goes with the log.
            earlier = [] if log_changed else [f"earlier {name} {len(before[name]) - 1} -> {len(after[name]) - 1}"]
            yield from list(words(before[name], after[name])) or earlier
    for name, (was, now) in changed.items():
        if name not in (*_LOG, *_BOOKKEEPING):
            yield f"{field_name(name)} {_of(name, was)} -> {_of(name, now)}"


def _of(name: str, value: Any) -> str:
    """The value of a field of a replica, -1 by what it stands for there."""
    if value == -1 and name in ("leader_id", "high_watermark"):
        return "none" if name == "leader_id" else "unknown"
    return value_words(value)


def _voters_words(before: Any, after: Any) -> Iterator[str]:
    """The voters set in force; its details only where the voters are the same."""
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
    gone = before.network - after.network - set(about.messages)
    new = after.network - before.network
    forgotten = {message for message in new if message["correlation_id"] == 0 and _waited_for(message) in gone}
    yield from sends(sorted(new - forgotten, key=repr), after.keys)
    for message in _in_order(forgotten):
        yield f"waits no more for an answer to its {kind_words(message)} to {message['destination']}"
    for message in _in_order(gone - {_waited_for(each) for each in forgotten}):
        yield f"the {kind_words(message)} from {message['source']} to {message['destination']} is dropped"
    for origin, to in sorted(after.cuts - before.cuts):
        yield f"nothing gets from {origin} to {to}"
    for origin, to in sorted(before.cuts - after.cuts):
        yield f"messages get from {origin} to {to} again"


def _waited_for(message: Message) -> Message:
    """A request before its sender forgot it."""
    return Function({**message, "correlation_id": 1})


def _in_order(messages: set[Message] | frozenset[Message]) -> list[Message]:
    return sorted(
        messages, key=lambda message: (message["type"], message["source"], message["destination"], repr(message))
    )


def _committed_words(before: State, after: State) -> Iterator[str]:
    """Of what the properties remember only how far the log is committed: the replicas show the rest."""
    was, now = (state.variables.get("history", {}).get("committed") for state in (before, after))
    if was is not None and now is not None and end_offset(was) != end_offset(now):
        yield f"committed up to offset {end_offset(now)}"


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:
    """Each part of a value that is otherwise, by its path."""
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
    """A function by its arguments, also one of 1..n, where its values are functions; None for another value."""
    if isinstance(value, tuple) and value and all(isinstance(element, Function) for element in value):
        return by_id(value)
    return value if isinstance(value, Function) else None

"""Text of the model's values as a trace writes them: null for no value, 3-U3 for a key, [1, 2] for a set."""

from collections.abc import Callable, Iterable
from typing import Any

from kraft_reference.records import SET_KINDS
from kraft_spec.mapping_forms import CLIENT, REASSIGNMENT
from kraft_spec.tlc.values import TlaValue

MISSING = "missing"
"""Actual value of a field that a line of our own trace does not have."""

WHOLE = "only traces of other software may omit fields"
"""Reason why a `MISSING` field is an error: the header names the software that wrote the trace."""

NOTHING = "nothing"
"""Expected or actual value where only the other side has an effect."""


def plain(value: TlaValue) -> str:
    """Text of a number, a name or a truth value."""
    if value is True:
        return "true"
    return "false" if value is False else str(value)


def replica_id(value: TlaValue) -> str:
    """Text of a replica id, or null."""
    return "null" if value == -1 else str(value)


def text(value: TlaValue) -> str:
    """The text, or null if it is empty."""
    return str(value) or "null"


def key(value: TlaValue) -> str:
    """Text of a replica key: id and directory id, the id alone if the directory id is unknown, or null."""
    number, directory = _pair(value)
    if number == -1:
        return "null"
    return f"{number}-{directory}" if directory else str(number)


def keys(value: TlaValue) -> str:
    """Text of a sequence of replica keys."""
    return _list(map(key, _members(value)))


def key_set(value: TlaValue) -> str:
    """Text of a set of replica keys."""
    return _set(value, key)


def id_set(value: TlaValue) -> str:
    """Text of a set of replica ids."""
    return _set(value, str)


def target(value: TlaValue) -> str:
    """Text of the target of a reassignment, or null."""
    return id_set(value) if value else "null"


def id_pairs(value: TlaValue) -> str:
    """Text of pairs of numbers: receiver and correlation id of outstanding requests, or number and offset."""
    return _set(value, lambda pair: _list(map(str, _pair(pair))))


def key_pairs(value: TlaValue) -> str:
    """Text of fetch offsets by replica key."""
    return _set(value, lambda pair: _list((key(_pair(pair)[0]), str(_pair(pair)[1]))))


def details(value: TlaValue) -> str:
    """Text of the details of voters in a voter set: id, endpoint, range of supported kraft.versions."""
    return _set(value, _voter_details)


def _voter_details(value: TlaValue) -> str:
    number, endpoint, low, high = _members(value)
    return f"{number} at {text(endpoint)} supports {low} to {high}"


def snapshot(value: Any) -> str:
    """Text of a snapshot, or null."""
    if not value:
        return "null"
    held = [f"kraft.version {value['kraft_version']}", key_set(value["voters"]), details(value["details"])]
    held += [f"target {target(value['target'])}"] if value["target"] else []
    return f"snapshot {value['end_offset']} of epoch {value['epoch']}, {', '.join(held)}"


def snapshot_id(value: TlaValue) -> str:
    """Text of the end offset and epoch of a snapshot, or null."""
    end, epoch = _pair(value)
    return "null" if end == -1 else f"snapshot {end} of epoch {epoch}"


def change(value: Any) -> str:
    """Text of a pending voter change, or null."""
    if value["kind"] == "none":
        return "null"
    versions = f"kraft.version {value['min_version']} to {value['max_version']}, offset {value['offset']}"
    where = f"at {text(value['endpoint'])} in {value['phase']}"
    about = f"{value['kind']} {key(value['voter'])} {where}, {versions}"
    if value["requester"] == REASSIGNMENT:
        return f"{about}, a step of the leader's reassignment"
    requester = "a client" if value["requester"] == CLIENT else f"replica {value['requester']}"
    due = "committed" if value["when_committed"] else "appended"
    return f"{about}, request {value['request']} of {requester}, reply when {due}"


def reports(value: TlaValue) -> str:
    """Text of the endpoints and kraft.version ranges that voters reported about themselves."""
    return _set(value, _report)


def _report(value: TlaValue) -> str:
    reporter, endpoint, low, high = _members(value)
    return f"{key(reporter)} at {text(endpoint)} supports {low} to {high}"


def record(value: Any) -> str:
    """Text of a record: kind, contents, epoch."""
    kind, number, voters, about = value["kind"], value["value"], value["voters"], value["details"]
    held = [] if kind in SET_KINDS and number == 0 else [str(number)]
    held += [key_set(voters)] if kind in SET_KINDS or voters else []
    # A line may omit the details and the target of a record.
    wanted = value.get("target")
    held += [f"target {target(wanted)}"] if isinstance(wanted, frozenset | tuple) else []
    held += [details(about)] if isinstance(about, frozenset | tuple) and about else []
    return f"{kind} {' '.join(held)} of epoch {value['epoch']}"


def records(value: TlaValue) -> str:
    """Text of a sequence of records."""
    return _list(map(record, _members(value)))


def _members(value: TlaValue) -> tuple[TlaValue, ...]:
    assert isinstance(value, tuple), "a sequence of the model"
    return value


def _pair(value: TlaValue) -> tuple[TlaValue, TlaValue]:
    first, second = _members(value)
    return first, second


def _set(value: TlaValue, worded: Callable[[TlaValue], str]) -> str:
    """Text of a set in ascending order; a sequence, which may have a member twice, keeps its order."""
    return _list(map(worded, sorted(value, key=_order) if isinstance(value, frozenset) else _members(value)))


def _order(member: TlaValue) -> tuple[str, TlaValue]:
    return type(member).__name__, member


def _list(words: Iterable[str]) -> str:
    return f"[{', '.join(words)}]"

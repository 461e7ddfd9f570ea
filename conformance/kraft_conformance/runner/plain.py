"""Effects and states as plain JSON values in a canonical order, and their comparison."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kraft_spec.difference import Difference

_SETS = frozenset(
    {
        "granted",
        "rejected",
        "acknowledged",
        "fetchers",
        "awaiting",
        "fetch_offsets",
        "reports",
        "awaited_targets",
        "voters",
        "details",
        "target",
        "in_sync",
        "adding",
        "removing",
        "alive",
        "deleting",
        "legacy",
        "targets",
        "results",
    }
)
"""Lists whose order has no meaning: of a quorum, and from `in_sync` on of partitions."""

NEVER_JUDGED = frozenset({"id", "duration_ms", "timeout_ms"})
"""Names of messages, and durations."""
MAY_BE_LEFT_OUT = frozenset({"correlation_id", "cluster_id", "details", "version"})
"""Fields that are compared if present and may be omitted."""


class Comparison(NamedTuple):
    """Result of a comparison."""

    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]
    """Paths of expected fields that are not shown."""

    @classmethod
    def of(cls, items: Iterable[Difference | str]) -> "Comparison":
        """Split differences and paths into the two parts."""
        every = tuple(items)
        left_out = tuple([item for item in every if isinstance(item, str)])
        return cls(tuple([item for item in every if not isinstance(item, str)]), left_out)


def plain(value: object) -> Any:
    """Return the JSON value of a part of a line, with sets sorted."""
    return _sorted(msgspec.to_builtins(value))


def _sorted(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _sorted(item, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        parts = [_sorted(item) for item in value]
        return sorted(parts, key=_text) if name in _SETS else parts
    return value


def _text(value: Any) -> tuple[int, str]:
    """Return the sort key: ids by number, replica keys and details by their ids."""
    number = value.get("id", 0) if isinstance(value, dict) else value
    return number if isinstance(number, int) else 0, json.dumps(value, sort_keys=True)


def tag_of(part: msgspec.Struct) -> str:
    """Return the kind of an effect, or the type of a message."""
    return str(type(part).__struct_config__.tag)


def text(value: Any) -> str:
    """Return a value as messages show it."""
    return json.dumps(value, ensure_ascii=False)


def compare(path: str, expected: Any, actual: Any) -> Iterator[Difference | str]:
    """Yield the differences of two plain values, and the paths that the actual one omits."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        # The id of a message is a name; the id of a replica key is a value.
        names_a_message = "type" in expected
        for name, value in expected.items():
            if name in NEVER_JUDGED and (name != "id" or names_a_message):
                continue
            field = f"{path}.{name}" if path else name
            if name == "cluster_id" and actual.get(name) is None:
                # A request may omit it; null means omitted.  Rule: wire.common-errors.
                continue
            if name in actual:
                yield from compare(field, value, actual[name])
            elif name not in MAY_BE_LEFT_OUT:
                yield field
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (expected_item, other) in enumerate(zip(expected, actual, strict=True)):
            yield from compare(f"{path}[{index}]", expected_item, other)
    elif expected != actual:
        yield Difference(path, text(expected), text(actual))


def wrong_order(
    pairs: Iterable[tuple[str, str]], done: Mapping[str, int], begun: Mapping[str, int]
) -> Iterator[Difference]:
    """Yield the pairs whose second effect begins before the first is done, unless an effect is missing."""
    for first, second in pairs:
        if first in done and second in begun and done[first] > begun[second]:
            yield Difference(f"{first} and {second}", f"{first} before {second}", f"{second} before {first}")

"""Values and names of a state of a counterexample."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraft_spec.mapping_forms import NO_KEY, ModelKey
from kraft_spec.tlc.model_report import TraceState
from kraft_spec.tlc.value_text import parsed_value
from kraft_spec.tlc.values import Function

_SILENT: tuple[Any, ...] = (False, "", -1, "NONE", (), frozenset(), NO_KEY)
"""Default values, which are omitted."""

_NOTHING_PENDING = {"kind": "none"}
"""`NoChange` in Definitions.tla."""

Message = Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class State:
    """Values of all variables of the model.

    Attributes:
        variables: Value by name.
    """

    variables: Mapping[str, Any]

    @classmethod
    def of(cls, traced: TraceState) -> "State":
        """Parse a state that TLC printed.

        Raises:
            ValueTextError: It is not in TLC's format.
        """
        return cls({name: parsed_value(text) for name, text in traced.variables})

    @property
    def replicas(self) -> Mapping[int, Mapping[Any, Any]]:
        """State of each replica by its id; empty in a model without replicas."""
        return by_id(self.variables.get("replicas", ()))

    @property
    def keys(self) -> Mapping[int, Any]:
        """Key of each replica by its id."""
        return {replica_id: replica["replica_key"] for replica_id, replica in self.replicas.items()}

    @property
    def network(self) -> frozenset[Message]:
        """In-flight messages."""
        network: frozenset[Message] = self.variables.get("network", frozenset())
        return network

    @property
    def cuts(self) -> frozenset[tuple[int, int]]:
        """Cut links."""
        cuts: frozenset[tuple[int, int]] = self.variables.get("cuts", frozenset())
        return cuts


def by_id(value: Any) -> Mapping[int, Any]:
    """Return a function of replica ids as a mapping; TLC prints one over 1..n as a sequence."""
    if isinstance(value, Function):
        return {int(str(key)): entry for key, entry in value.items()}
    return dict(enumerate(value, 1))


def says_nothing(value: Any) -> bool:
    """Return True for a default value, whose field can be omitted."""
    return any(type(value) is type(silent) and value == silent for silent in _SILENT)


def value_words(value: Any) -> str:
    """Return a value as short text: keys as `1-A`, sets in braces, sequences in brackets, records by their fields."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or "none"
    if isinstance(value, frozenset):
        return f"{{{', '.join(in_order(value))}}}"
    if isinstance(value, tuple):
        return _tuple_words(value)
    if isinstance(value, Mapping):
        if value == _NOTHING_PENDING:
            return "none"
        entries = {name: entry for name, entry in value.items() if not says_nothing(entry)}
        return f"({', '.join(sorted(f'{field_name(name)} {value_words(entry)}' for name, entry in entries.items()))})"
    return str(value)


def _tuple_words(value: tuple[Any, ...]) -> str:
    match value:
        case ModelKey(-1, ""):
            return "nobody"
        case ModelKey(number, ""):
            return f"{number}"
        case ModelKey(number, directory):
            return f"{number}-{directory}"
        case (str(first), int(second)):
            return f"{first}-{second}"
    return f"[{', '.join(value_words(element) for element in value)}]"


def in_order(values: Any) -> list[str]:
    """Return the words of each value: numbers first, by size."""
    numbers = sorted(value for value in values if type(value) is int)
    texts = sorted(value_words(value) for value in values if type(value) is not int)
    return [*map(str, numbers), *texts]


def field_name(name: object) -> str:
    """Return `high_watermark` or `highWatermark` as "high watermark"; a key of a function as its value."""
    if not isinstance(name, str):
        return value_words(name)
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.replace("_", " ")

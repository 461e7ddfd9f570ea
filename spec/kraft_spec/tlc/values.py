"""Conversion between Python values and TLC values.

| TLA+                    | from Python                     | to Python                          |
|-------------------------|---------------------------------|------------------------------------|
| integer                 | int (32 bits)                   | int                                |
| BOOLEAN                 | bool                            | bool                               |
| STRING                  | str                             | str                                |
| sequence, tuple         | tuple, list                     | tuple                              |
| finite set              | frozenset, set                  | frozenset                          |
| record                  | mapping with str keys, or a     | the registered named tuple with    |
|                         | registered named tuple          | these fields, else `Function`      |
| function, finite domain | mapping with other keys         | `Function`; tuple if over 1..n     |
| model value             | refused                         | `ModelValue`                       |

A sequence equals a function over 1..n in TLA+, and a record a function over strings, so decoding cannot
distinguish them. The empty function is the empty sequence.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import jpype

from kraft_spec.tlc.jar import TlcBridgeError
from kraft_spec.tlc.jvm import JavaObject, start
from kraft_spec.tlc.records import field_names, is_record_type, named_record

INTEGER_MIN = -(2**31)
"""TLC's integers are Java's int."""

INTEGER_MAX = 2**31 - 1
"""TLC's integers are Java's int."""

SET_SIZE_MAX = 100_000
"""Limit for enumerating a set in Python: SUBSET of thirty elements would not fit in memory."""

_CACHE_ENTRIES_MAX = 50_000
"""Limit of each cache of Java values, so that a long run with ever new strings stays small."""


class ValueConversionError(TlcBridgeError):
    """The value has no counterpart in the other language."""


class Function(Mapping[Hashable, "TlaValue"]):
    """A TLA+ function with a finite domain, or a record: an immutable, hashable mapping.

    It equals any mapping with the same entries, so tests and callers can use dicts.
    """

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Mapping[Any, "TlaValue"]) -> None:
        self._entries: dict[Hashable, TlaValue] = dict(entries)
        self._hash: int | None = None

    def __getitem__(self, key: Hashable) -> "TlaValue":
        return self._entries[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return self._entries == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._entries.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Function({self._entries!r})"


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A model value of a configuration, equal only to itself.

    Attributes:
        name: Its name in the configuration.
    """

    name: str


TlaValue: TypeAlias = int | bool | str | tuple["TlaValue", ...] | frozenset["TlaValue"] | Function | ModelValue
"""Values that `decode` returns: immutable and hashable throughout."""


class ValueCodec:
    """Encodes and decodes values, with caches of Java values; `codec()` returns the shared instance."""

    def __init__(self) -> None:
        java_class = jpype.JClass
        self._unique_string = java_class("util.UniqueString").uniqueStringOf
        self._string_class = java_class("tlc2.value.impl.StringValue")
        self._integer = java_class("tlc2.value.impl.IntValue").gen
        self._record_class = java_class("tlc2.value.impl.RecordValue")
        self._tuple_class = java_class("tlc2.value.impl.TupleValue")
        self._set_class = java_class("tlc2.value.impl.SetEnumValue")
        self._function_class = java_class("tlc2.value.impl.FcnRcdValue")
        self._value_array = jpype.JArray(java_class("tlc2.value.impl.Value"))
        self._name_array = jpype.JArray(java_class("util.UniqueString"))
        self._value_class = java_class("tlc2.value.impl.Value")
        booleans = java_class("tlc2.value.impl.BoolValue")
        self._booleans = {True: booleans.ValTrue, False: booleans.ValFalse}
        self._strings: dict[str, JavaObject] = {}
        self._integers: dict[int, JavaObject] = {}
        self._shapes: dict[tuple[str, ...], tuple[JavaObject, tuple[str, ...]]] = {}
        self._orders: dict[type, tuple[JavaObject, tuple[int, ...]] | None] = {}
        self._decoders: dict[object, Callable[[JavaObject], TlaValue]] = {
            java_class("tlc2.value.impl.IntValue"): lambda value: int(value.val),
            java_class("tlc2.value.impl.BoolValue"): lambda value: bool(value.val),
            self._string_class: lambda value: str(value.getVal()),
            java_class("tlc2.value.impl.ModelValue"): lambda value: ModelValue(str(value.val)),
            self._tuple_class: lambda value: tuple(self.decode(element) for element in value.elems),
            self._record_class: self._decode_record,
            self._function_class: self._decode_function,
            self._set_class: self._decode_set,
        }

    def encode(self, value: object) -> JavaObject:
        """Convert a Python value to a TLC value, normalised where TLC requires it; return a TLC value unchanged.

        Raises:
            ValueConversionError: The value, or a part of it, has no TLA+ counterpart.
        """
        kind = type(value)
        # Ordered by frequency in events.
        if kind is str:
            return self._strings.get(value) or self._encode_string(value)  # type: ignore[call-overload,arg-type]
        if kind is int:
            return self._integers.get(value) or self._encode_integer(value)  # type: ignore[call-overload,arg-type]
        if kind is dict:
            return self._encode_mapping(value)  # type: ignore[arg-type]
        if kind is bool:
            return self._booleans[value]  # type: ignore[index]
        if isinstance(value, tuple | list):
            if kind is not tuple and (record := self._record_order(kind)) is not None:
                names, places = record
                return self._record_class(names, [self.encode(value[place]) for place in places], True)
            return self._tuple_class(self._value_array([self.encode(element) for element in value]))
        if isinstance(value, frozenset | set):
            members = self._value_array([self.encode(member) for member in value])
            return self._normalized(self._set_class(members, False), value)
        if isinstance(value, Mapping):
            return self._encode_mapping(value)
        if isinstance(value, str):
            return self._encode_string(str(value))
        if isinstance(value, self._value_class):
            return value
        raise ValueConversionError(f"no TLA+ value for {value!r} of type {kind.__name__}")

    def _encode_string(self, value: str) -> JavaObject:
        if len(self._strings) >= _CACHE_ENTRIES_MAX:
            self._strings.clear()
        encoded = self._strings[value] = self._string_class(value)
        return encoded

    def _encode_integer(self, value: int) -> JavaObject:
        if not INTEGER_MIN <= value <= INTEGER_MAX:
            raise ValueConversionError(f"{value} does not fit in TLC's 32-bit integers")
        if len(self._integers) >= _CACHE_ENTRIES_MAX:
            self._integers.clear()
        encoded = self._integers[value] = self._integer(value)
        return encoded

    def _encode_mapping(self, value: Mapping[Hashable, object]) -> JavaObject:
        keys = tuple(value)
        shape = self._shapes.get(keys)  # type: ignore[arg-type]
        if shape is None:
            if not keys:
                return self._tuple_class.EmptyTuple
            if not all(type(key) is str for key in keys):
                return self._encode_function(value)
            shape = self._new_shape(keys)  # type: ignore[arg-type]
        names, ordered = shape
        # The fields are already in TLC's order: True skips the sorting.
        return self._record_class(names, [self.encode(value[name]) for name in ordered], True)

    def _record_order(self, kind: type) -> tuple[JavaObject, tuple[int, ...]] | None:
        """Return the fields of a registered named tuple in TLC's order, and their places; None for another type."""
        if kind not in self._orders:
            order = None
            if is_record_type(kind):
                fields = field_names(kind)
                names, ordered = self._new_shape(fields)
                order = names, tuple(fields.index(name) for name in ordered)
            self._orders[kind] = order
        return self._orders[kind]

    def _new_shape(self, keys: tuple[str, ...]) -> tuple[JavaObject, tuple[str, ...]]:
        """Let TLC sort the fields once, in the order of its string table, which is not alphabetical."""
        probe = self._record_class(
            self._name_array([self._unique_string(key) for key in keys]),
            self._value_array([self._integer(index) for index in range(len(keys))]),
            False,
        )
        probe.normalize()
        if len(self._shapes) >= _CACHE_ENTRIES_MAX:
            self._shapes.clear()
        shape = self._shapes[keys] = (probe.names, tuple(keys[int(index.val)] for index in probe.values))
        return shape

    def _encode_function(self, value: Mapping[Hashable, object]) -> JavaObject:
        """Encode a mapping with keys other than strings."""
        domain = self._value_array([self.encode(key) for key in value])
        values = self._value_array([self.encode(entry) for entry in value.values()])
        return self._normalized(self._function_class(domain, values, False), value)

    def _normalized(self, encoded: JavaObject, value: object) -> JavaObject:
        """Sort a set or a domain; TLC can only compare elements of one kind."""
        try:
            return encoded.normalize()
        except jpype.JException as cause:
            raise ValueConversionError(f"{value!r}: {cause.getMessage()}") from cause

    def decode(self, value: JavaObject) -> TlaValue:
        """Convert a TLC value to Python, and enumerate lazy values (intervals, SUBSET, set of records).

        Raises:
            ValueConversionError: The value is not finite data: an operator, or a set too large or not enumerable.
        """
        decoder = self._decoders.get(type(value))
        if decoder is not None:
            return decoder(value)
        if not isinstance(value, self._value_class):
            raise ValueConversionError(f"not a TLC value: {value!r}")
        try:
            reduced = self._reduced(value)
        except jpype.JException as cause:
            raise ValueConversionError(f"TLC cannot enumerate {value.getKindString()}: {cause}") from cause
        if reduced is None or type(reduced) not in self._decoders:
            raise ValueConversionError(f"no Python value for {value.getKindString()}")
        return self.decode(reduced)

    def _reduced(self, value: JavaObject) -> JavaObject:
        """Return the enumerated equivalent of a lazy value; None if it is no set or function."""
        if hasattr(value, "getValue") and value.getValue() is not None:
            return value.getValue()
        if hasattr(value, "elements"):
            size = int(value.size())
            if size > SET_SIZE_MAX:
                raise ValueConversionError(f"a set of {size} elements, more than {SET_SIZE_MAX}")
            return value.toSetEnum()
        return value.toFcnRcd()

    def _decode_record(self, value: JavaObject) -> TlaValue:
        names = [str(name) for name in value.names]
        entries = {name: self.decode(entry) for name, entry in zip(names, value.values, strict=True)}
        return named_record(entries) or Function(entries)

    def _decode_function(self, value: JavaObject) -> TlaValue:
        value.normalize()
        keys = [self.decode(key) for key in value.getDomainAsValues()]
        values = [self.decode(entry) for entry in value.values]
        if keys == list(range(1, len(keys) + 1)) and not any(type(key) is bool for key in keys):
            return tuple(values)
        return Function(dict(zip(keys, values, strict=True)))

    def _decode_set(self, value: JavaObject) -> TlaValue:
        value.normalize()
        members = value.elems
        return frozenset(self.decode(members.elementAt(index)) for index in range(int(members.size())))


@cache
def codec() -> ValueCodec:
    """Return the codec of this process, starting the Java virtual machine if needed."""
    start()
    return ValueCodec()


def encode(value: object) -> JavaObject:
    """Convert a Python value to a TLC value: see `ValueCodec.encode`."""
    return codec().encode(value)


def decode(value: JavaObject) -> TlaValue:
    """Convert a TLC value to Python: see `ValueCodec.decode`."""
    return codec().decode(value)

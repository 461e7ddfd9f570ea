"""Schemas of the quorum's messages: their fields by version (`messages.toml`)."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from kraft_kafka.wire.errors import Reason, WireError

NULL_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
"""The uuid of 16 zero bytes, as Kafka writes uuids: base 64 for URLs, without padding."""

RANGES: Mapping[str, tuple[int, int]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (16, 32)},
}
"""Minimum and maximum of each whole number type."""


def width_of(kind: str) -> int:
    """Return the number of bytes of a whole number type."""
    low, high = RANGES[kind]
    return (high - low).bit_length() // 8


_ZERO: Mapping[str, Any] = {"bool": False, "string": "", "records": None, "uuid": NULL_UUID}
"""Default of each type for fields without one; 0 for whole numbers."""


class Kind(StrEnum):
    """Kind of a message."""

    REQUEST = "request"
    RESPONSE = "response"
    HEADER = "header"
    RECORD = "record"
    """The value of a control record."""
    TEXT = "text"
    """JSON in a file."""


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends included."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if self.high == _OPEN:
            return f"{self.low}+"
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"


_OPEN = 2**15 - 1


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message or of a struct in it."""

    name: str
    """Kafka's name, as in its JSON."""
    type: str
    """bool, int8 to int64, uint16, string, records, uuid, or the name of a struct."""
    versions: Versions
    is_array: bool = False
    tag: int | None = None
    is_nullable: bool = False
    default: Any = None
    """Value if the version lacks the field, or its tag is omitted."""
    is_ignorable: bool = False
    has_legacy_length: bool = False
    """A string with an int16 length even in flexible versions: the client id of the request header."""
    fields: tuple["Field", ...] = ()
    """Fields of the struct."""

    @property
    def is_struct(self) -> bool:
        """True if the field has fields of its own."""
        return bool(self.fields)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of Kafka's protocol, a header, the value of a control record, or a file of JSON."""

    name: str
    api: str
    """Name without `Request` or `Response`; empty for other messages."""
    key: int
    """API key, or type of the control record; -1 for other messages."""
    kind: Kind
    versions: Versions
    """Every version of kio."""
    flexible: Versions
    needed: Versions
    """Versions that the rules name."""
    rules: tuple[str, ...]
    fields: tuple[Field, ...] = field(repr=False)

    @property
    def source(self) -> str:
        """Tag and file of apache/kafka that the fields come from."""
        return f"apache/kafka 4.3.1 {self.name}.json"

    def checked(self, version: int, where: str, offset: int | None = None) -> int:
        """Return the version, if the message has it.

        Raises:
            WireError: the message does not have it.
        """
        if version not in self.versions:
            expected = f"a version of {self.name}, one of {self.versions}"
            raise WireError(Reason.UNKNOWN_VERSION, where, expected, str(version), offset)
        return version


def fields_of(fields: tuple[Field, ...], version: int) -> tuple[Field, ...]:
    """Return the fields of a version, in the order of the schema."""
    return tuple(field for field in fields if version in field.versions)


def each(field: Field, value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply a change to a value, or to every element of an array; null stays null."""
    if value is None:
        return None
    return [change(element) for element in value] if field.is_array else change(value)


def default_of(field: Field) -> Any:
    """Return the value of an absent field: Kafka's default, for a struct those of its fields."""
    if field.is_array:
        return None if field.default is None else []
    if field.is_struct:
        return {inner.name: default_of(inner) for inner in field.fields}
    return field.default


@cache
def messages() -> Mapping[str, Message]:
    """Return all messages by name, in the order of the file."""
    tables = tomllib.loads(files("kraft_kafka").joinpath("wire", "messages.toml").read_text(encoding="utf-8"))
    of_apis = [
        api | api[kind] | {"name": f"{api['name']}{kind.title()}", "api": api["name"], "kind": kind}
        for api in tables["api"]
        for kind in (Kind.REQUEST, Kind.RESPONSE)
    ]
    return {entry["name"]: _parse_message(entry) for entry in of_apis + tables["other"]}


@cache
def messages_by_key(kind: Kind) -> Mapping[int, Message]:
    """Return the messages of a kind by API key, or by the type of the control record."""
    return {message.key: message for message in messages().values() if message.kind is kind}


def message_of(api: str, kind: Kind) -> Message:
    """Return the request or response of an API.

    Raises:
        WireError: there is no such API.
    """
    for message in messages().values():
        if message.api and message.api.lower() == api.lower() and message.kind is kind:
            return message
    apis = sorted({message.api for message in messages().values() if message.api})
    raise WireError(Reason.UNKNOWN_API, "api", f"one of {', '.join(apis)}", api)


def record_of(name: str) -> Message:
    """Return the schema of a control record or QuorumStateData.

    Raises:
        WireError: there is no such record.
    """
    by_name = {message.name: message for message in messages().values() if message.kind in (Kind.RECORD, Kind.TEXT)}
    if name not in by_name:
        raise WireError(Reason.UNKNOWN_API, "record", f"one of {', '.join(by_name)}", name)
    return by_name[name]


def versions_of(text: str) -> Versions:
    """Parse `0`, `0-2` or `0+`."""
    if text.endswith("+"):
        return Versions(int(text[:-1]), _OPEN)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))


def fields_from(text: str) -> tuple[Field, ...]:
    """Parse lines of fields as in `messages.toml`: name, type, versions, and flags."""
    lines = [(len(line) - len(line.lstrip()), line.split()) for line in text.splitlines() if line]
    return _parse_fields(lines) if lines else ()


def _parse_message(entry: dict[str, Any]) -> Message:
    return Message(
        name=entry["name"],
        api=entry.get("api", ""),
        key=entry.get("key", -1),
        kind=Kind(entry["kind"]),
        versions=versions_of(entry["versions"]),
        flexible=versions_of(entry.get("flexible", "0+")),
        needed=versions_of(entry.get("needed", entry["versions"])),
        rules=tuple(entry["rules"]),
        fields=fields_from(entry["fields"]),
    )


def _parse_fields(lines: list[tuple[int, list[str]]]) -> tuple[Field, ...]:
    """Parse lines of fields; more deeply indented lines are fields of the line above."""
    parsed = []
    starts = [number for number, (indent, _) in enumerate(lines) if indent == lines[0][0]]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        parsed.append(_parse_field(lines[start][1], _parse_fields(lines[start + 1 : end]) if end > start + 1 else ()))
    return tuple(parsed)


def _parse_field(words: list[str], inner: tuple[Field, ...]) -> Field:
    name, kind, versions, *marks = words
    valued = dict(mark.split("=", 1) for mark in marks if "=" in mark)
    plain = kind.removeprefix("[]")
    return Field(
        name=name,
        type=plain,
        versions=versions_of(versions),
        is_array=kind != plain,
        tag=int(valued["tag"]) if "tag" in valued else None,
        is_nullable="nullable" in marks,
        default=_parse_default(plain, valued.get("default")),
        is_ignorable="ignorable" in marks,
        has_legacy_length="legacy" in marks,
        fields=inner,
    )


def _parse_default(kind: str, written: str | None) -> Any:
    if written is None:
        return _ZERO.get(kind, 0)
    if written in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[written]
    return written if kind == "string" else int(written)

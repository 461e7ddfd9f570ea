"""The messages of the quorum: which fields they have in which version (`messages.toml`)."""

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
"""The lowest and the highest of each type of whole numbers."""


def width_of(kind: str) -> int:
    """How many bytes such a whole number has."""
    low, high = RANGES[kind]
    return (high - low).bit_length() // 8


_ZERO: Mapping[str, Any] = {"bool": False, "string": "", "records": None, "uuid": NULL_UUID}
"""The default of a type whose field names none; 0 of the whole numbers."""


class Kind(StrEnum):
    """What a message is."""

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
    """One field of a message or of a struct in it."""

    name: str
    """Kafka's, as its JSON has it."""
    type: str
    """bool, int8 to int64, uint16, string, records, uuid, or the name of a struct."""
    versions: Versions
    is_array: bool = False
    tag: int | None = None
    is_nullable: bool = False
    default: Any = None
    """What stands for it where the version lacks it, or a tag is left out."""
    is_ignorable: bool = False
    has_legacy_length: bool = False
    """A string with an int16 length even in flexible versions: the client id of the request header."""
    fields: tuple["Field", ...] = ()
    """Of the struct."""

    @property
    def is_struct(self) -> bool:
        """Has it fields of its own?"""
        return bool(self.fields)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of Kafka's protocol, a header, the value of a control record, or a file of JSON."""

    name: str
    api: str
    """Name of the request without `Request`; empty if it is no request or response."""
    key: int
    """The API key, or the type of the control record; -1 if it has neither."""
    kind: Kind
    versions: Versions
    """Every version that kio has."""
    flexible: Versions
    needed: Versions
    """Those that the rules name."""
    rules: tuple[str, ...]
    fields: tuple[Field, ...] = field(repr=False)

    @property
    def source(self) -> str:
        """Tag and file of apache/kafka that the fields were read from."""
        return f"apache/kafka 4.3.1 {self.name}.json"

    def checked(self, version: int, where: str, offset: int | None = None) -> int:
        """The version, if there is such a one.

        Raises:
            WireError: there is none.
        """
        if version not in self.versions:
            known = f"a version of {self.name}, one of {self.versions}"
            raise WireError(Reason.UNKNOWN_VERSION, where, known, str(version), offset)
        return version


def fields_of(fields: tuple[Field, ...], version: int) -> tuple[Field, ...]:
    """Those that a version has, in the order of the schema."""
    return tuple(one for one in fields if version in one.versions)


def each(one: Field, value: Any, change: Callable[[Any], Any]) -> Any:
    """A value changed; of an array every element is, and null stays null."""
    if value is None:
        return None
    return [change(element) for element in value] if one.is_array else change(value)


def default_of(one: Field) -> Any:
    """What stands for a field that is not there: Kafka's default, of a struct those of its fields."""
    if one.is_array:
        return None if one.default is None else []
    if one.is_struct:
        return {inner.name: default_of(inner) for inner in one.fields}
    return one.default


@cache
def messages() -> Mapping[str, Message]:
    """All of them, by name, in the order of the file."""
    tables = tomllib.loads(files("kraft_kafka").joinpath("wire", "messages.toml").read_text(encoding="utf-8"))
    of_apis = [
        api | api[kind] | {"name": f"{api['name']}{kind.title()}", "api": api["name"], "kind": kind}
        for api in tables["api"]
        for kind in (Kind.REQUEST, Kind.RESPONSE)
    ]
    return {entry["name"]: _message(entry) for entry in of_apis + tables["other"]}


@cache
def messages_by_key(kind: Kind) -> Mapping[int, Message]:
    """The messages of a kind by API key, or by the type of the control record."""
    return {one.key: one for one in messages().values() if one.kind is kind}


def message_of(api: str, kind: Kind) -> Message:
    """The request or response of an API.

    Raises:
        WireError: there is no such API.
    """
    for one in messages().values():
        if one.api and one.api.lower() == api.lower() and one.kind is kind:
            return one
    known = sorted({one.api for one in messages().values() if one.api})
    raise WireError(Reason.UNKNOWN_API, "api", f"one of {', '.join(known)}", api)


def record_of(name: str) -> Message:
    """A control record or QuorumStateData.

    Raises:
        WireError: there is no such record.
    """
    known = {one.name: one for one in messages().values() if one.kind in (Kind.RECORD, Kind.TEXT)}
    if name not in known:
        raise WireError(Reason.UNKNOWN_API, "record", f"one of {', '.join(known)}", name)
    return known[name]


def versions_of(text: str) -> Versions:
    """`0`, `0-2` or `0+`."""
    if text.endswith("+"):
        return Versions(int(text[:-1]), _OPEN)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))


def fields_from(text: str) -> tuple[Field, ...]:
    """The fields that lines tell of, as `messages.toml` has them: name, type, versions, and marks."""
    lines = [(len(line) - len(line.lstrip()), line.split()) for line in text.splitlines() if line]
    return _nested(lines) if lines else ()


def _message(entry: dict[str, Any]) -> Message:
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


def _nested(lines: list[tuple[int, list[str]]]) -> tuple[Field, ...]:
    """The fields of lines, of which those that stand further in belong to the one above them."""
    made = []
    starts = [number for number, (indent, _) in enumerate(lines) if indent == lines[0][0]]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        made.append(_field(lines[start][1], _nested(lines[start + 1 : end]) if end > start + 1 else ()))
    return tuple(made)


def _field(words: list[str], inner: tuple[Field, ...]) -> Field:
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
        default=_default(plain, valued.get("default")),
        is_ignorable="ignorable" in marks,
        has_legacy_length="legacy" in marks,
        fields=inner,
    )


def _default(kind: str, written: str | None) -> Any:
    if written is None:
        return _ZERO.get(kind, 0)
    if written in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[written]
    return written if kind == "string" else int(written)

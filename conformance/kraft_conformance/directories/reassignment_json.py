"""Files of kafka-reassign-partitions: `{"version":1,"partitions":[{"topic":"A","partition":0,"replicas":[4,3,2]}]}`.

What Kafka's tool reads is read here; what it would guess about is refused with the path of the field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kraft_conformance.directories.errors import bad_file, read_text
from kraft_conformance.directories.names import ID_MAX
from kraft_reference.partitions.partition import Assignment, TopicPartition

VERSION = 1
QUORUM = TopicPartition("__cluster_metadata", 0)
"""The log of the quorum: its replicas are the voters (KIP-642)."""
TOPIC_PATTERN = r"^(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,249}\Z"
ANY_DIRECTORY = "any"
"""A log directory that the broker chooses by itself."""

_BROKER = "a broker id, a whole number from 0 on"
_ROW: dict[str, Any] = {
    "type": "object",
    "description": "an object with topic, partition and replicas",
    "required": ["topic", "partition", "replicas"],
    "properties": {
        "topic": {
            "type": "string",
            "pattern": TOPIC_PATTERN,
            "description": "a topic name: letters, digits, '.', '_' and '-', at most 249",
        },
        "partition": {
            "type": "integer",
            "minimum": 0,
            "maximum": ID_MAX,
            "description": "the number of a partition, from 0 on",
        },
        "replicas": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "integer", "minimum": 0, "maximum": ID_MAX, "description": _BROKER},
            "description": "a list of at least one broker id",
        },
        "log_dirs": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "description": f"a path or {ANY_DIRECTORY!r}"},
            "description": "a list with a log directory for each replica",
        },
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "an object with a list of partitions",
    "required": ["partitions"],
    "properties": {
        "version": {"const": VERSION, "type": "integer", "description": str(VERSION)},
        "partitions": {
            "type": "array",
            "minItems": 1,
            "items": _ROW,
            "description": "a list of at least one partition",
        },
    },
}
"""The shape of a file; `description` says what was expected. What has no place in it is read over with a warning."""

_ORDER = ("version", "partitions", *_ROW["properties"])
_FIELDS = {"": tuple(SCHEMA["properties"]), "partitions[]": tuple(_ROW["properties"])}
_DIGITS_MAX = 18


@dataclass(frozen=True, slots=True)
class ReassignmentFile:
    """What a file asks for."""

    targets: tuple[tuple[TopicPartition, Assignment], ...]
    """In the order of the file, each partition once."""
    warnings: tuple[str, ...] = ()
    """What the file says and nobody acts on."""


class _Object(dict[str, Any]):
    """An object of the file, and the keys that it has more than once."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.twice = [key for key in self if keys.count(key) > 1] if len(keys) > len(self) else []


class _NoInteger:
    """A number that no whole number of the format can be; kept as text, as it may have a million digits."""

    def __init__(self, text: str) -> None:
        self.text = text if len(text) <= _DIGITS_MAX else f"{text[:_DIGITS_MAX]}..."


def read_reassignment(source: Path) -> ReassignmentFile:
    """The partitions of a file and their replicas.

    A byte order mark is passed over.

    Raises:
        CommandError: the file cannot be read, is not JSON, or a field is not what it must be; the message names it.
    """
    document = _parsed(source)
    for path, duplicated in _twice(document, ""):
        raise bad_file(source, None, path, f"expected once; the key {_found(duplicated)} is given twice")
    errors = sorted(Draft202012Validator(SCHEMA).iter_errors(document), key=_place_in_file)
    if errors:
        path, detail = _explained(errors[0])
        raise bad_file(source, None, path or None, detail)
    rows: Sequence[Mapping[str, Any]] = document["partitions"]
    first: dict[TopicPartition, int] = {}
    for index, row in enumerate(rows):
        name = TopicPartition(row["topic"], row["partition"])
        if name in first:
            detail = f"expected each partition once; {name} is partitions[{first[name]}] already"
            raise bad_file(source, None, f"partitions[{index}]", detail)
        first[name] = index
        _check_row(source, index, row)
    targets = tuple([(name, tuple(rows[index]["replicas"])) for name, index in first.items()])
    return ReassignmentFile(targets, tuple(f"{source}: {one}" for one in _unread(document)))


def reassignment_text(targets: Mapping[TopicPartition, Assignment]) -> str:
    """A file of Kafka's format in one line, partitions in order."""
    return json.dumps(reassignment_document(targets), separators=(",", ":"))


def reassignment_document(targets: Mapping[TopicPartition, Assignment]) -> dict[str, Any]:
    """The same as JSON values."""
    rows = [
        {
            "topic": name.topic,
            "partition": name.partition,
            "replicas": list(replicas),
            "log_dirs": [ANY_DIRECTORY] * len(replicas),
        }
        for name, replicas in sorted(targets.items())
    ]
    return {"version": VERSION, "partitions": rows}


# ---------------------------------------------------------------------------------------------------------
# Inside.
# ---------------------------------------------------------------------------------------------------------


def _parsed(source: Path) -> Any:
    try:
        return json.loads(
            read_text(source).removeprefix("\ufeff"),
            object_pairs_hook=_Object,
            parse_int=lambda text: int(text) if len(text) <= _DIGITS_MAX else _NoInteger(text),
            parse_float=_NoInteger,
            parse_constant=_NoInteger,
        )
    except json.JSONDecodeError as error:
        detail = f"not JSON: {error.msg} at column {error.colno}"
        raise bad_file(source, error.lineno, None, detail) from error
    except RecursionError:
        raise bad_file(source, None, None, "nested too deeply, expected an object with a list of partitions") from None


def _twice(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a key stands twice, with its path."""
    if isinstance(value, _Object):
        for key in value.twice:
            yield _joined(path, key), key
        for key, one in value.items():
            yield from _twice(one, _joined(path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _twice(one, f"{path}[{index}]")


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _place_in_file(error: ValidationError) -> list[int]:
    return [step if isinstance(step, int) else _ORDER.index(step) for step in error.absolute_path]


def _explained(error: ValidationError) -> tuple[str, str]:
    """The path of the field, and what was expected of it."""
    path = ""
    for step in error.absolute_path:
        path = f"{path}[{step}]" if isinstance(step, int) else _joined(path, step)
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "required":
        given: Any = error.instance
        missing = next(name for name in schema["required"] if name not in given)
        return _joined(path, missing), f"is missing, expected {schema['properties'][missing]['description']}"
    return path, f"expected {schema['description']}; found {_found(error.instance)}"


def _found(value: Any) -> str:
    """A value of the file, short enough for a message."""
    match value:
        case _NoInteger():
            return value.text
        case dict():
            return "an object"
        case list():
            return "a list" if value else "an empty list"
        case str() if len(value) > 40:
            return json.dumps(f"{value[:40]}...", ensure_ascii=False)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _check_row(source: Path, index: int, row: Mapping[str, Any]) -> None:
    if row["topic"] == QUORUM.topic and row["partition"] != QUORUM.partition:
        detail = f"expected 0, as the quorum has one partition; found {row['partition']}"
        raise bad_file(source, None, f"partitions[{index}].partition", detail)
    replicas: list[int] = row["replicas"]
    for place, broker in enumerate(replicas):
        first = replicas.index(broker)
        if first < place:
            detail = f"expected each broker once; {broker} is replicas[{first}] already"
            raise bad_file(source, None, f"partitions[{index}].replicas[{place}]", detail)
    directories = row.get("log_dirs")
    if directories is not None and len(directories) != len(replicas):
        detail = f"expected as many as there are replicas, {len(replicas)}; found {len(directories)}"
        raise bad_file(source, None, f"partitions[{index}].log_dirs", detail)


def _unread(document: Mapping[str, Any]) -> Iterator[str]:
    """What Kafka's tool reads over too, or acts on where there are disks."""
    yield from _unknown(document, "", _FIELDS[""])
    for index, row in enumerate(document["partitions"]):
        yield from _unknown(row, f"partitions[{index}]", _FIELDS["partitions[]"])
        for place, directory in enumerate(row.get("log_dirs", ())):
            if directory != ANY_DIRECTORY:
                path = f"partitions[{index}].log_dirs[{place}]"
                yield f"{path}: is not acted on: the brokers of the simulation have no log directories"


def _unknown(fields: Mapping[str, Any], path: str, known: Sequence[str]) -> Iterator[str]:
    for key in fields:
        if key not in known:
            near = get_close_matches(key, [name for name in known if name not in fields], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{_joined(path, key)}: is not read{hint}"

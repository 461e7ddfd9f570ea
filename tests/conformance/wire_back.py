"""Kafka's messages as traced ones: the way back, which shows what `to_kafka` keeps."""

from collections.abc import Iterator
from typing import Any

from kraft_conformance.directories.error_codes import CODES
from kraft_conformance.wire.decoding import Document, with_tags
from kraft_conformance.wire.encoding import uuid_bytes
from kraft_conformance.wire.schema import NULL_UUID, messages
from kraft_conformance.wire.trace_links import LINKS, As, Link, kafka_name
from kraft_conformance.wire.translation import steps_of

_NAMES = {code: error for error, code in CODES.items()}
_ABSENT = object()


def from_kafka(name: str, version: int, document: Document) -> Document:
    """The fields of a traced message that a frame carries; what the version lacks is not there."""
    traced: Document = {"type": name}
    document = document | {"body": with_tags(messages()[kafka_name(name)].fields, version, document["body"])}
    for link in LINKS[name]:
        if link.since <= version < link.before:
            values = [_get(document, path) for path in link.kafka]
            traced |= {field: value for field, value in _traced_values(link, values) if value is not _ABSENT}
    if code := document["body"].get("errorCode"):
        traced["error"] = _NAMES.get(code, code)
    return traced


def _traced_values(link: Link, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """The fields of the trace; `_ABSENT` where the frame does not say."""
    first, field = values[0], link.trace[0]
    match link.how:
        case As.CANDIDATES if first is _ABSENT and values[1] is not _ABSENT:
            yield field, [{"id": one, "directory_id": None} for one in values[1]]
        case As.LEVELS:
            found = [] if first is _ABSENT else [one for one in first if one["name"] == "kraft.version"]
            for name, level in zip(link.trace, ("minVersion", "maxVersion"), strict=True):
                yield name, found[0][level] if found else _ABSENT
        case _ if first is _ABSENT:
            yield field, _ABSENT
        case As.KEY:
            directory = NULL_UUID if values[1] is _ABSENT else values[1]
            yield field, None if first == -1 else {"id": first, "directory_id": _directory(directory)}
        case As.LEADER:
            yield field, None if first == -1 else first
        case As.ERROR:
            yield field, _NAMES.get(first, first)
        case As.LISTENER | As.NODE:
            yield field, _joined(first[0]) if first else None
        case As.HOST_PORT:
            yield field, f"{first}:{values[1]}" if first else None
        case As.CANDIDATES:
            yield (
                field,
                [{"id": one["candidateId"], "directory_id": _directory(one["candidateDirectoryId"])} for one in first],
            )
        case _:
            yield field, first


def _directory(uuid: str) -> str | None:
    if uuid == NULL_UUID:
        return None
    content = uuid_bytes(uuid, "uuid").rstrip(b"\0")
    try:
        return content.decode() if content.decode().isprintable() else uuid
    except UnicodeDecodeError:
        return uuid


def _joined(endpoint: Document) -> str:
    return f"{endpoint['host']}:{endpoint['port']}"


def _get(document: Any, path: str) -> Any:
    for step in steps_of(path):
        try:
            document = document[step]
        except (KeyError, IndexError):
            return _ABSENT
    return document

"""Translation of traced messages to Kafka's and back, by the table in `trace_links`.

A directory id of a trace is any text.  A uuid in Kafka's form is unchanged; any other text of up to 16 bytes becomes a
uuid of these bytes, padded with zeros, from which the text can be recovered.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kraft_kafka.wire.decoding import Document, uuid_text, with_tags
from kraft_kafka.wire.encoding import uuid_bytes
from kraft_kafka.wire.error_codes import CODES
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.schema import NULL_UUID, Message, messages
from kraft_kafka.wire.trace_links import LINKS, NOBODY, As, Link, filled, kafka_name
from kraft_reference.messages import Error
from kraft_traces.alternatives.bare_responses import TOP_LEVEL
from kraft_traces.message_types import TRACED_MESSAGES

_NAMES = {code: error for error, code in CODES.items()}
_ABSENT = object()
_STEP = re.compile(r"([A-Za-z]+)|\[(\d+)\]")


def to_kafka(traced: Mapping[str, Any], version: int) -> tuple[Message, Document]:
    """Return a traced message as the JSON of a frame.

    Raises:
        WireError: the message is no traced message, or a value is invalid for Kafka.
    """
    name = str(traced.get("type"))
    if name not in LINKS:
        raise WireError(Reason.UNKNOWN_API, "$.type", f"one of {', '.join(LINKS)}", name)
    try:
        msgspec.convert(dict(traced), TRACED_MESSAGES[name])
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        raise WireError(Reason.WRONG_TYPE, path.strip("`") or "$", f"a {name} of a trace", problem) from None
    message = messages()[kafka_name(name)]
    message.checked(version, "version")
    header: Document = {"clientId": None} if name.endswith("Request") else {}
    document: Document = {"header": header, "body": filled(name, version)}
    links = [link for link in LINKS[name] if link.since <= version < link.before]
    top_level = traced.get("error") in TOP_LEVEL and any("partitions" in link.kafka[0] for link in links)
    for link in links:
        missing = next((field for field in link.trace if field not in traced), None)
        if missing is not None:
            raise WireError(Reason.MISSING_FIELD, f"$.{missing}", f"a field of {name} that Kafka's has too", "none")
        if not top_level:
            for path, value in zip(link.kafka, _to_kafka_values(link, traced), strict=True):
                _put(document, path, value)
    if top_level:
        listed = "responses" if "responses" in document["body"] else "topics"
        document["header"]["correlationId"] = traced["correlation_id"]
        document["body"] |= {"errorCode": CODES[Error(traced["error"])], listed: []}
    return message, document


def _to_kafka_values(link: Link, traced: Mapping[str, Any]) -> tuple[Any, ...]:
    value = traced[link.trace[0]]
    where = f"$.{link.trace[0]}"
    match link.how:
        case As.KEY:
            return NOBODY if value is None else (value["id"], uuid_of(value["directory_id"], f"{where}.directory_id"))
        case As.LEADER:
            return (-1 if value is None else value,)
        case As.ERROR:
            return (CODES[_parse_error(value)],)
        case As.LISTENER:
            return ([] if value is None else [{"name": "CONTROLLER", **host_port(value, where)}],)
        case As.NODE:
            rack = {"rack": None} if traced["type"] == "FetchResponse" else {}
            return ([] if value is None else [{"nodeId": traced["leader_id"], **host_port(value, where), **rack}],)
        case As.HOST_PORT:
            return ("", 0) if value is None else tuple(host_port(value, where).values())
        case As.CANDIDATES:
            return (
                [
                    {"candidateId": key["id"], "candidateDirectoryId": uuid_of(key["directory_id"], where)}
                    for key in value
                ],
                [key["id"] for key in value],
            )
        case As.LEVELS:
            low, high = (traced[field] for field in link.trace)
            return ([{"name": "kraft.version", "minVersion": low, "maxVersion": high}],)
        case _:
            return (value,)


def _parse_error(name: Any) -> Error:
    try:
        return Error(name)
    except ValueError:
        raise WireError(Reason.WRONG_TYPE, "$.error", f"one of {', '.join(Error)}", repr(name)) from None


def uuid_of(directory: str | None, where: str) -> str:
    """Return a trace's directory id as Kafka's uuid text; the null uuid for None.

    Raises:
        WireError: the id, at the path `where`, is neither a uuid nor a text of 1 to 16 bytes.
    """
    if directory is None:
        return NULL_UUID
    try:
        uuid_bytes(directory, where)
    except WireError:
        content = directory.encode()
    else:
        return directory
    if not 0 < len(content) <= 16:
        raise WireError(Reason.OUT_OF_RANGE, where, "a uuid, or a text of 1 to 16 bytes", repr(directory))
    return uuid_text(content.ljust(16, b"\0"))


def host_port(endpoint: str, where: str) -> Document:
    """Split the endpoint `host:port` at the path `where` into two fields.

    Raises:
        WireError: the endpoint is malformed.
    """
    host, _, port = endpoint.rpartition(":")
    if not host or not port.isdecimal() or not port.isascii():
        raise WireError(Reason.WRONG_TYPE, where, "host:port", repr(endpoint))
    return {"host": host, "port": int(port)}


def steps_of(path: str) -> list[str | int]:
    """Return the names and indices of a path in the JSON of a frame."""
    return [name or int(number) for name, number in _STEP.findall(path)]


def _put(document: Any, path: str, value: Any) -> None:
    *before, last = steps_of(path)
    for step in before:
        document = document.setdefault(step, {}) if isinstance(document, dict) else document[step]
    document[last] = value


def from_kafka(name: str, version: int, document: Document) -> Document:
    """Return the traced message's fields in a frame; fields that the version lacks are absent."""
    traced: Document = {"type": name}
    document = document | {"body": with_tags(messages()[kafka_name(name)].fields, version, document["body"])}
    for link in LINKS[name]:
        if link.since <= version < link.before:
            values = [_get(document, path) for path in link.kafka]
            traced |= {field: value for field, value in _to_traced_values(link, values) if value is not _ABSENT}
    if code := document["body"].get("errorCode"):
        traced["error"] = _NAMES.get(code, code)
    return traced


def _to_traced_values(link: Link, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of the trace; `_ABSENT` for a field that the frame lacks."""
    first, field = values[0], link.trace[0]
    match link.how:
        case As.CANDIDATES if first is _ABSENT and values[1] is not _ABSENT:
            yield field, [{"id": id_, "directory_id": None} for id_ in values[1]]
        case As.LEVELS:
            features = [] if first is _ABSENT else [entry for entry in first if entry["name"] == "kraft.version"]
            for name, level in zip(link.trace, ("minVersion", "maxVersion"), strict=True):
                yield name, features[0][level] if features else _ABSENT
        case _ if first is _ABSENT:
            yield field, _ABSENT
        case As.KEY:
            directory = NULL_UUID if values[1] is _ABSENT else values[1]
            yield field, None if first == -1 else {"id": first, "directory_id": directory_of(directory)}
        case As.LEADER:
            yield field, None if first == -1 else first
        case As.ERROR:
            yield field, _NAMES.get(first, first)
        case As.LISTENER | As.NODE:
            yield field, _join(first[0]) if first else None
        case As.HOST_PORT:
            yield field, f"{first}:{values[1]}" if first else None
        case As.CANDIDATES:
            yield (
                field,
                [
                    {"id": key["candidateId"], "directory_id": directory_of(key["candidateDirectoryId"])}
                    for key in first
                ],
            )
        case _:
            yield field, first


def directory_of(uuid: str) -> str | None:
    """Return the trace's directory id for a uuid in Kafka's text; None for the null uuid."""
    if uuid == NULL_UUID:
        return None
    content = uuid_bytes(uuid, "uuid").rstrip(b"\0")
    try:
        return content.decode() if content.decode().isprintable() else uuid
    except UnicodeDecodeError:
        return uuid


def _join(endpoint: Document) -> str:
    return f"{endpoint['host']}:{endpoint['port']}"


def _get(document: Any, path: str) -> Any:
    for step in steps_of(path):
        try:
            document = document[step]
        except (KeyError, IndexError):
            return _ABSENT
    return document

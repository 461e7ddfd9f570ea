"""Traced messages as Kafka's, by the table in `trace_links`.

A directory id of a trace is any text.  A uuid in Kafka's form stays what it is; any other text of up to 16 bytes
becomes the uuid of these bytes, filled with zeros, in which the text can be read again.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kraft_conformance.directories.error_codes import CODES
from kraft_conformance.wire.decoding import Document, uuid_text
from kraft_conformance.wire.encoding import uuid_bytes
from kraft_conformance.wire.errors import Reason, WireError
from kraft_conformance.wire.schema import NULL_UUID, Message, messages
from kraft_conformance.wire.trace_links import LINKS, NOBODY, As, Link, filled, kafka_name
from kraft_reference.messages import Error
from kraft_traces.latitude.bare_responses import TOP_LEVEL
from kraft_traces.message_types import TRACED_MESSAGES

_STEP = re.compile(r"([A-Za-z]+)|\[(\d+)\]")


def to_kafka(traced: Mapping[str, Any], version: int) -> tuple[Message, Document]:
    """A traced message as the JSON of a frame.

    Raises:
        WireError: the message is none of a trace, or a value is none of Kafka's.
    """
    name = str(traced.get("type"))
    if name not in LINKS:
        raise WireError(Reason.UNKNOWN_API, "$.type", f"one of {', '.join(LINKS)}", name)
    try:
        msgspec.convert(dict(traced), TRACED_MESSAGES[name])
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise WireError(Reason.WRONG_TYPE, path.strip("`") or "$", f"a {name} of a trace", what) from None
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
            for path, value in zip(link.kafka, _kafka_values(link, traced), strict=True):
                _put(document, path, value)
    if top_level:
        listed = "responses" if "responses" in document["body"] else "topics"
        document["header"]["correlationId"] = traced["correlation_id"]
        document["body"] |= {"errorCode": CODES[Error(traced["error"])], listed: []}
    return message, document


def _kafka_values(link: Link, traced: Mapping[str, Any]) -> tuple[Any, ...]:
    value = traced[link.trace[0]]
    where = f"$.{link.trace[0]}"
    match link.how:
        case As.KEY:
            return NOBODY if value is None else (value["id"], _uuid(value["directory_id"], f"{where}.directory_id"))
        case As.LEADER:
            return (-1 if value is None else value,)
        case As.ERROR:
            return (CODES[_error(value)],)
        case As.LISTENER:
            return ([] if value is None else [{"name": "CONTROLLER", **_host_port(value, where)}],)
        case As.NODE:
            rack = {"rack": None} if traced["type"] == "FetchResponse" else {}
            return ([] if value is None else [{"nodeId": traced["leader_id"], **_host_port(value, where), **rack}],)
        case As.HOST_PORT:
            return ("", 0) if value is None else tuple(_host_port(value, where).values())
        case As.CANDIDATES:
            return (
                [
                    {"candidateId": key["id"], "candidateDirectoryId": _uuid(key["directory_id"], where)}
                    for key in value
                ],
                [key["id"] for key in value],
            )
        case As.LEVELS:
            low, high = (traced[field] for field in link.trace)
            return ([{"name": "kraft.version", "minVersion": low, "maxVersion": high}],)
        case _:
            return (value,)


def _error(name: Any) -> Error:
    try:
        return Error(name)
    except ValueError:
        raise WireError(Reason.WRONG_TYPE, "$.error", f"one of {', '.join(Error)}", repr(name)) from None


def _uuid(directory: str | None, where: str) -> str:
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


def _host_port(endpoint: str, where: str) -> Document:
    host, _, port = endpoint.rpartition(":")
    if not host or not port.isdecimal() or not port.isascii():
        raise WireError(Reason.WRONG_TYPE, where, "host:port", repr(endpoint))
    return {"host": host, "port": int(port)}


def steps_of(path: str) -> list[str | int]:
    """The names and places of a path in the JSON of a frame."""
    return [name or int(number) for name, number in _STEP.findall(path)]


def _put(document: Any, path: str, value: Any) -> None:
    *before, last = steps_of(path)
    for step in before:
        document = document.setdefault(step, {}) if isinstance(document, dict) else document[step]
    document[last] = value

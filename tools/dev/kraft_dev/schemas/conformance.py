"""JSON Schemas of the conformance package's formats, generated from the types and kept in the package."""

import json
from functools import partial
from typing import Any

import msgspec

from kraft_conformance.protocol import messages
from kraft_dev.schemas.committed import CommittedSchema, describe_fields, normalize, schema_body
from kraft_dev.wire import format as wire_format
from kraft_kafka.live import capture
from kraft_vectors.features import Subject
from kraft_vectors.format import Vector
from kraft_vectors.manifest import SCHEMA
from kraft_vectors.partitions.format import PARTITION_SCHEMA, PartitionVector

_NAMES = {
    "kraft_reference.messages.Error": "Error",
    "kraft_reference.outcome.Refusal": "Refusal",
    "kraft_partitions.errors.Error": "PartitionError",
    "kraft_partitions.outcome.Refusal": "PartitionRefusal",
}
"""Names in the protocol's schema for types that share a name."""


def _protocol() -> dict[str, Any]:
    """Return the schema of a request or a reply, with each alone in `$defs/Request` and `$defs/Reply`.

    The schema of the trace format states the fields of events and the uniqueness of set elements.
    """
    components = json.dumps(msgspec.json.schema_components((messages.Request, messages.Reply)))
    for long, short in _NAMES.items():
        components = components.replace(f'"{long}"', f'"{short}"').replace(f'/{long}"', f'/{short}"')
    (requests, replies), definitions = json.loads(components)
    for kind in (messages.Request, messages.Reply):
        describe_fields(definitions, kind)
    return {
        "anyOf": [{"$ref": "#/$defs/Request"}, {"$ref": "#/$defs/Reply"}],
        "$defs": normalize({"Request": requests, "Reply": replies, **dict(sorted(definitions.items()))}),
    }


def _file(name: str, title: str, package: str, folder: str, kind: Any) -> CommittedSchema:
    return CommittedSchema(name, title, package, folder, partial(schema_body, kind))


ADAPTER_SCHEMA = CommittedSchema(
    messages.SCHEMA, f"A line of {messages.SCHEMA}", "kraft_conformance", "protocol/schema", _protocol
)
"""Schema of a line between runner and adapter: a request or a reply."""

VECTOR_SCHEMAS: dict[Subject, CommittedSchema] = {
    "replica": _file(SCHEMA, f"A {SCHEMA}", "kraft_vectors", "schema", Vector),
    "partitions": _file(PARTITION_SCHEMA, f"A {PARTITION_SCHEMA}", "kraft_vectors", "schema", PartitionVector),
}
"""Schemas of vectors, by subject."""

WIRE_SCHEMA = _file(
    wire_format.SCHEMA, f"The pairs of a {wire_format.SCHEMA}", "kraft_kafka", "wire", wire_format.WireFile
)
"""Schema of a file of pairs of JSON and bytes."""

CAPTURE_SCHEMA = _file(capture.SCHEMA, f"A line of a {capture.SCHEMA}", "kraft_kafka", "live", capture.CaptureLine)
"""Schema of a line of a capture."""

"""The JSON Schema of requests and replies, generated from the types and kept in the package.

`python -m kraft_conformance.protocol.json_schema FILE` writes it anew, and a test holds it to the types.
"""

import json
from typing import Any

import msgspec

from kraft_conformance.protocol.messages import SCHEMA, Reply, Request
from kraft_traces.committed_schema import CommittedSchema, in_order, write_schemas

_NAMES = {
    "kraft_reference.messages.Error": "Error",
    "kraft_reference.outcome.Refusal": "Refusal",
    "kraft_reference.partitions.errors.Error": "PartitionError",
    "kraft_reference.partitions.outcome.Refusal": "PartitionRefusal",
}
"""What types are called here that share a name."""


def _body() -> dict[str, Any]:
    """`$defs/Request` and `$defs/Reply` are the two for themselves.

    Which fields an event has, and that sets have nothing twice, is said by the schema of the trace format.
    """
    components = json.dumps(msgspec.json.schema_components((Request, Reply)))
    for long, short in _NAMES.items():
        components = components.replace(f'"{long}"', f'"{short}"').replace(f'/{long}"', f'/{short}"')
    (requests, replies), definitions = json.loads(components)
    return {
        "anyOf": [{"$ref": "#/$defs/Request"}, {"$ref": "#/$defs/Reply"}],
        "$defs": in_order({"Request": requests, "Reply": replies, **dict(sorted(definitions.items()))}),
    }


ADAPTER_SCHEMA = CommittedSchema(SCHEMA, f"A line of {SCHEMA}", "kraft_conformance", "protocol/schema", _body)
"""The schema of a line: a request, or a reply."""


if __name__ == "__main__":
    write_schemas(ADAPTER_SCHEMA)

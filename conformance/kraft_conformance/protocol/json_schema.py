"""The JSON Schema of requests and replies, generated from the types and kept in the package.

The committed file is for readers in other languages.
`python -m kraft_conformance.protocol.json_schema FILE` writes it anew, and a test holds it to the types.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from kraft_conformance.protocol.messages import SCHEMA, Reply, Request
from kraft_traces.json_schema import in_order

FILE_NAME = f"{SCHEMA.replace('/', '-')}.schema.json"
"""Name of the committed schema in the folder `schema` of this package."""


_NAMES = {
    "kraft_reference.messages.Error": "Error",
    "kraft_reference.outcome.Refusal": "Refusal",
    "kraft_reference.partitions.errors.Error": "PartitionError",
    "kraft_reference.partitions.outcome.Refusal": "PartitionRefusal",
}
"""What types are called here that share a name."""


def json_schema() -> dict[str, Any]:
    """The schema of a line (JSON Schema 2020-12): a request, or a reply.

    `$defs/Request` and `$defs/Reply` are the two for themselves.
    Which fields an event has, and that sets have nothing twice, is said by the schema of the trace format.
    """
    components = json.dumps(msgspec.json.schema_components((Request, Reply)))
    for long, short in _NAMES.items():
        components = components.replace(f'"{long}"', f'"{short}"').replace(f'/{long}"', f'/{short}"')
    (requests, replies), definitions = json.loads(components)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kraft-spec:{SCHEMA.replace('/', ':')}",
        "title": f"A line of {SCHEMA}",
        "anyOf": [{"$ref": "#/$defs/Request"}, {"$ref": "#/$defs/Reply"}],
        "$defs": in_order({"Request": requests, "Reply": replies, **_moved(definitions)}),
    }


def _moved(definitions: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(definitions.items()))


def json_schema_text() -> str:
    """The schema as the committed file has it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=True) + "\n"


def committed_json_schema_text() -> str:
    """The text of the schema that the package carries."""
    return files("kraft_conformance").joinpath("protocol", "schema", FILE_NAME).read_text(encoding="utf-8")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json_schema_text(), encoding="utf-8")

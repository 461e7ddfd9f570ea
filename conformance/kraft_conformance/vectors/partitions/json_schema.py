"""The JSON Schema of a vector of the subject `partitions`, generated from the types and kept in the package.

The committed file is for readers in other languages.
`python -m kraft_conformance.vectors.partitions.json_schema FILE` writes it anew, and a test holds it to the types.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from kraft_conformance.vectors.partitions.format import PARTITION_SCHEMA, PartitionVector
from kraft_traces.json_schema import in_order

FILE_NAME = f"{PARTITION_SCHEMA.replace('/', '-')}.schema.json"
"""Name of the committed schema in the folder `schema` of the vectors."""


def json_schema() -> dict[str, Any]:
    """The schema of a vector (JSON Schema 2020-12)."""
    schema = msgspec.json.schema(PartitionVector)
    definitions = schema.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kraft-spec:{PARTITION_SCHEMA.replace('/', ':')}",
        "title": f"A {PARTITION_SCHEMA}",
        **in_order(schema),
        "$defs": in_order(definitions),
    }


def json_schema_text() -> str:
    """The schema as the committed file has it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=True) + "\n"


def committed_json_schema_text() -> str:
    """The text of the schema that the package carries."""
    return files("kraft_conformance").joinpath("vectors", "schema", FILE_NAME).read_text(encoding="utf-8")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json_schema_text(), encoding="utf-8")

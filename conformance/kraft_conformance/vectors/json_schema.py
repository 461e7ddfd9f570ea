"""The JSON Schemas of the vectors, one for each subject, generated from the types and kept in the package.

The committed files are for readers in other languages.
`python -m kraft_conformance.vectors.json_schema FOLDER` writes them anew, and a test holds them to the types.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from kraft_conformance.protocol.features import Subject
from kraft_conformance.vectors.format import SCHEMA, Vector
from kraft_conformance.vectors.partitions.format import PARTITION_SCHEMA, PartitionVector
from kraft_traces.json_schema import in_order

SCHEMAS: dict[Subject, tuple[str, type]] = {
    "replica": (SCHEMA, Vector),
    "partitions": (PARTITION_SCHEMA, PartitionVector),
}
"""The name of the schema and the type of a vector, by the subject."""


def file_name(subject: Subject) -> str:
    """Name of the committed schema in the folder `schema` of this package."""
    return f"{SCHEMAS[subject][0].replace('/', '-')}.schema.json"


def json_schema(subject: Subject) -> dict[str, Any]:
    """The schema of a vector (JSON Schema 2020-12)."""
    name, kind = SCHEMAS[subject]
    schema = msgspec.json.schema(kind)
    definitions = schema.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kraft-spec:{name.replace('/', ':')}",
        "title": f"A {name}",
        **in_order(schema),
        "$defs": in_order(definitions),
    }


def json_schema_text(subject: Subject) -> str:
    """The schema as the committed file has it."""
    return json.dumps(json_schema(subject), indent=2, ensure_ascii=True) + "\n"


def committed_json_schema_text(subject: Subject) -> str:
    """The text of the schema that the package carries."""
    return files("kraft_conformance").joinpath("vectors", "schema", file_name(subject)).read_text(encoding="utf-8")


if __name__ == "__main__":
    for each in SCHEMAS:
        Path(sys.argv[1], file_name(each)).write_text(json_schema_text(each), encoding="utf-8")

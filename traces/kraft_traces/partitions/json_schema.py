"""The JSON Schema of one line of a trace of partition reassignment, generated from the types and kept in the package.

`python -m kraft_traces.partitions.json_schema FILE` writes it anew, and a test holds it to the types.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from kraft_traces.json_schema import in_order
from kraft_traces.partitions.lines import SCHEMA, PartitionEventLine, PartitionHeader

FILE_NAME = f"{SCHEMA.replace('/', '-')}.schema.json"
"""Name of the committed schema in the folder `schema` of `kraft_traces`."""

_SETS = {"PartitionHeader": ("brokers", "controllers", "assignments", "unclean_topics", "switched_off")}
"""The fields that are sets, written as lists, by type."""


def partition_json_schema() -> dict[str, Any]:
    """The schema of a line (JSON Schema 2020-12), which is the header or an event.

    It says everything about an event by itself; of the header it does not say which profiles there are, that a
    partition is assigned once, and that its replicas are brokers of the cluster, each once.
    What lines say together is the reader's.
    """
    (header, event), definitions = msgspec.json.schema_components(
        (PartitionHeader, PartitionEventLine), ref_template="#/$defs/{name}"
    )
    for definition, fields in _SETS.items():
        for field in fields:
            definitions[definition]["properties"][field]["uniqueItems"] = True
    definitions["PartitionHeader"]["properties"]["controllers"]["minItems"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kraft-spec:{SCHEMA.replace('/', ':')}",
        "title": f"A line of a {SCHEMA} file",
        "anyOf": [header, event],
        "$defs": in_order(definitions),
    }


def partition_json_schema_text() -> str:
    """The schema as the committed file has it."""
    return json.dumps(partition_json_schema(), indent=2, ensure_ascii=True) + "\n"


def committed_partition_json_schema_text() -> str:
    """The text of the schema that the package carries."""
    return files("kraft_traces").joinpath("schema", FILE_NAME).read_text(encoding="utf-8")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(partition_json_schema_text(), encoding="utf-8")

"""JSON Schema of one line of a trace of partition reassignment, generated from the types."""

from typing import Any

import msgspec

from kraft_dev.schemas.committed import CommittedSchema, normalize
from kraft_traces.partitions.lines import SCHEMA, PartitionEventLine, PartitionHeader

_SETS = {"PartitionHeader": ("brokers", "controllers", "assignments", "unclean_topics", "switched_off")}
"""Fields that are sets, written as lists, by type."""


def _body() -> dict[str, Any]:
    """Return the schema of a line (JSON Schema 2020-12), which is the header or an event.

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
    return {"anyOf": [header, event], "$defs": normalize(definitions)}


PARTITION_TRACE_SCHEMA = CommittedSchema(SCHEMA, f"A line of a {SCHEMA} file", "kraft_traces", "schema", _body)
"""Schema of a line, which is the header or an event."""

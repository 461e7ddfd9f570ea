"""Write every schema to its place in its package."""

from kraft_dev.schemas.conformance import ADAPTER_SCHEMA, CAPTURE_SCHEMA, VECTOR_SCHEMAS, WIRE_SCHEMA
from kraft_dev.schemas.partition_trace import PARTITION_TRACE_SCHEMA
from kraft_dev.schemas.trace import TRACE_SCHEMA

COMMITTED = (
    *(TRACE_SCHEMA, PARTITION_TRACE_SCHEMA, ADAPTER_SCHEMA),
    *VECTOR_SCHEMAS.values(),
    *(WIRE_SCHEMA, CAPTURE_SCHEMA),
)

if __name__ == "__main__":
    for schema in COMMITTED:
        schema.path.write_text(schema.text(), encoding="utf-8")

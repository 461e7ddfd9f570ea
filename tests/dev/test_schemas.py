"""The JSON Schemas in the packages are those of the types."""

import pytest

from kraft_dev.schemas.committed import CommittedSchema
from kraft_dev.schemas.conformance import ADAPTER_SCHEMA, VECTOR_SCHEMAS, WIRE_SCHEMA
from kraft_dev.schemas.partition_trace import PARTITION_TRACE_SCHEMA
from kraft_dev.schemas.trace import TRACE_SCHEMA

SCHEMAS = (TRACE_SCHEMA, PARTITION_TRACE_SCHEMA, ADAPTER_SCHEMA, *VECTOR_SCHEMAS.values(), WIRE_SCHEMA)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.file_name)
def test_the_committed_schema_is_the_generated_one(schema: CommittedSchema) -> None:
    assert schema.committed_text() == schema.text(), "run python -m kraft_dev.schemas"

"""The committed JSON Schemas equal those generated from the types."""

import pytest

from kraft_dev.schemas.__main__ import COMMITTED
from kraft_dev.schemas.committed import CommittedSchema


@pytest.mark.parametrize("schema", COMMITTED, ids=lambda schema: schema.file_name)
def test_the_committed_schema_is_the_generated_one(schema: CommittedSchema) -> None:
    assert schema.committed_text() == schema.text(), "run python -m kraft_dev.schemas"

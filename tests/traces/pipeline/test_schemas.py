"""The tables are described once: the page of the documentation and Spark's schemas follow."""

from pathlib import Path

import pytest

from kraft_dev.pipeline_tables import documented
from kraft_traces import errors
from kraft_traces.pipeline.schemas import INTAKE, PLANS, SWEPT, TABLES, TableSchema, ddl

PAGE = Path(__file__).resolve().parents[3] / "docs" / "pipeline.md"


def test_the_page_shows_the_tables_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text.partition("<!-- tables -->\n\n")[2].partition("\n\n<!-- end of tables -->")[0]
    assert shown == documented()


def test_the_page_names_every_reason_of_quarantine() -> None:
    text = PAGE.read_text(encoding="utf-8")
    problems = ("MISSING", "UNKNOWN", "DUPLICATE", "WRONG_VALUE", "INCONSISTENT")
    codes = {kind.code for kind in errors.TraceError.__subclasses__()} - {"FIELD", "NO_TRACES"}
    for code in codes | {f"FIELD_{problem}" for problem in problems}:
        assert f"`{code}`" in text, code


@pytest.mark.parametrize("table", [*TABLES, INTAKE, PLANS, SWEPT], ids=lambda table: table.name)
def test_spark_reads_the_schemas(table: TableSchema) -> None:
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    spark_schema = from_arrow_schema(table.arrow)
    assert isinstance(spark_schema, StructType)
    assert spark_schema.fieldNames() == list(table.names)
    assert ddl(to_arrow_schema(spark_schema)).replace(" NOT NULL", "") == table.ddl.replace(" NOT NULL", "")

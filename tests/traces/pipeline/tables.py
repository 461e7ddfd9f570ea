"""Tables of an output folder as values, read without Spark."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kraft_pipeline.schemas import TABLES, TableSchema


def rows_of(output: Path, table: TableSchema) -> list[dict[str, Any]]:
    """The rows of a table, in an order of their own."""
    files = sorted((output / table.name).glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return sorted(rows, key=repr)


def all_tables(output: Path) -> dict[str, list[dict[str, Any]]]:
    """All tables that are there, by name."""
    return {table.name: rows_of(output, table) for table in TABLES if (output / table.name).is_dir()}

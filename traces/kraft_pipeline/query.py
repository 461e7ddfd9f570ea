"""Read-only SQL queries on the tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, PySparkException

from kraft_pipeline.failures import QueryError

_PARQUET_ROWS_MAX = 32
_END_OF_MESSAGE = ("; line ", "\n== ", " SQLSTATE: ", ";\n", "\n")
"""Ends of the first sentence in an error of Spark, before the query, its plan and a code."""


@dataclass(frozen=True)
class Answer:
    """Result of a query.

    Attributes:
        columns: names of the columns, possibly with duplicates.
        rows: the requested number of rows; bytes are converted to text.
        is_whole: True if there are no more rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_whole: bool


def ask(session: Any, tables: Mapping[str, Any], query: str, rows_max: int) -> Answer:
    """Run a query on tables, which are DataFrames by name.

    Raises:
        QueryError: the text is not a query, uses an unknown name, or cannot be computed.
    """
    # Spark's default of 4096 rows would be gigabytes of segments at once.
    session.conf.set("spark.sql.parquet.columnarReaderBatchSize", str(_PARQUET_ROWS_MAX))
    for name, table in tables.items():
        table.createOrReplaceTempView(name)
    try:
        # Spark executes a statement at once, so only a query may get to `sql`.
        session._jsparkSession.sessionState().sqlParser().parseQuery(query)
        result = session.sql(query)
        first_rows = result.take(rows_max + 1)
    except PySparkException as error:
        if error.getCondition() is None:
            raise
        hint = f" (a query on the tables {', '.join(tables)})" if isinstance(error, AnalysisException) else ""
        raise QueryError(f"{_sentence(error)}{hint}") from error
    finally:
        for name in tables:
            session.catalog.dropTempView(name)
    rows = tuple(tuple(_plain(value) for value in row) for row in first_rows[:rows_max])
    return Answer(tuple(result.columns), rows, len(first_rows) <= rows_max)


def _plain(value: Any) -> Any:
    """Return a value in its JSON form."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    # A struct is also a tuple.
    return {name: _plain(inner) for name, inner in value.asDict().items()} if hasattr(value, "asDict") else value


def _sentence(error: PySparkException) -> str:
    text = str(error).strip()
    return text[: min(place for end in _END_OF_MESSAGE if (place := f"{text}\n".find(end)) >= 0)]

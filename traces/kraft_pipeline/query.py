"""SQL on tables: whatever the query says, nothing changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, PySparkException

from kraft_pipeline.failures import QueryError

_PARQUET_ROWS_MAX = 32
_END_OF_MESSAGE = ("; line ", "\n== ", " SQLSTATE: ", ";\n", "\n")
"""What follows the sentence in an error of Spark: the query again, its plan, a code."""


@dataclass(frozen=True)
class Answer:
    """The rows of a query.

    Attributes:
        columns: their names, which need not differ from each other.
        rows: as many as were asked for; bytes come as text.
        is_whole: whether these are all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_whole: bool


def ask(session: Any, tables: Mapping[str, Any], query: str, rows_max: int) -> Answer:
    """Answer a query on tables, DataFrames by the names that it calls them.

    Raises:
        QueryError: the query is not one, names what is not there, or cannot be computed.
    """
    # Of segments, Spark's own 4096 rows would be gigabytes in one piece.
    session.conf.set("spark.sql.parquet.columnarReaderBatchSize", str(_PARQUET_ROWS_MAX))
    for name, table in tables.items():
        table.createOrReplaceTempView(name)
    try:
        # Spark runs a statement when it is told of it: only a query may get that far.
        session._jsparkSession.sessionState().sqlParser().parseQuery(query)
        answer = session.sql(query)
        found = answer.take(rows_max + 1)
    except PySparkException as error:
        if error.getCondition() is None:
            raise
        hint = f" (a query on the tables {', '.join(tables)})" if isinstance(error, AnalysisException) else ""
        raise QueryError(f"{_sentence(error)}{hint}") from error
    finally:
        for name in tables:
            session.catalog.dropTempView(name)
    rows = tuple(tuple(_plain(value) for value in row) for row in found[:rows_max])
    return Answer(tuple(answer.columns), rows, len(found) <= rows_max)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    # A struct is a tuple too.
    return {name: _plain(inner) for name, inner in value.asDict().items()} if hasattr(value, "asDict") else value


def _sentence(error: PySparkException) -> str:
    text = str(error).strip()
    return text[: min(place for end in _END_OF_MESSAGE if (place := f"{text}\n".find(end)) >= 0)]

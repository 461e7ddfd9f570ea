"""Questions in SQL about the tables of a run."""

import logging
from itertools import takewhile
from typing import Any, NamedTuple

from pyspark.errors import PySparkException

from kraft_traces.pipeline.chunks import Notice, watched
from kraft_traces.pipeline.failures import QueryError
from kraft_traces.pipeline.schemas import TABLES
from kraft_traces.pipeline.store import Workspace


class Answer(NamedTuple):
    """The rows that a question gets."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there are others, left out because of the limit."""


def ask(session: Any, workspace: Workspace, question: str, limit: int, notice: Notice) -> Answer:
    """The answer, of at most `limit` rows; each finished table has its own name.

    Raises:
        QueryError: the question is no SELECT, or names what is not there.
    """
    # PySpark would write a question that it refuses to standard error besides, with its stack.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    for table in TABLES:
        if workspace.has(table):
            workspace.read(session, table).createOrReplaceTempView(table.name)
    try:
        _refuse_changes(session, question)
        with watched(session, lambda: "query", notice):
            frame = session.sql(question)
            found = frame.take(limit + 1)
    except PySparkException as error:
        raise QueryError(_said(str(error))) from error
    rows = tuple(tuple(row) for row in found[:limit])
    return Answer(tuple(frame.columns), rows, len(found) > limit)


def _said(error: str) -> str:
    """What Spark says of a question, without the plan and the stack below."""
    lines = error.strip().splitlines()
    first = takewhile(lambda line: line and line[0] not in "'+\t" and "JVM stacktrace" not in line, lines)
    return "\n".join(first).rstrip(";")


def _refuse_changes(session: Any, question: str) -> None:
    """Spark runs commands when it is given them, so the parsed question is looked at first."""
    plan = session._jsparkSession.sessionState().sqlParser().parsePlan(question)
    written = plan.treeString()
    command = session._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.Command")
    if command.isInstance(plan) or "InsertInto" in written:
        name = plan.getClass().getSimpleName()
        raise QueryError(f"{name}: expected a SELECT, because the tables of a run are not changed")

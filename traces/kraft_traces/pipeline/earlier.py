"""Verdicts of an earlier run, for a run that checks only what that one has not (`--since`).

A verdict follows from the bytes of the trace, the model and how traces are checked: where all three are the same, it is
taken over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import functions as sf

from kraft_traces.pipeline.failures import InputError, OutputError
from kraft_traces.pipeline.schemas import TRACES, VERDICTS
from kraft_traces.pipeline.store import Workspace

_OF_THIS_TRACE = ("trace_id", "source", "generator", "workload", "profile", "command", "violation")
_PLACE = "^line [0-9]+:"


@dataclass(frozen=True)
class Earlier:
    """A run that has ended.

    Attributes:
        workspace: its folder.
        differs: what of model and options is not the same now; if there is anything, nothing is taken over.
    """

    workspace: Workspace
    differs: tuple[str, ...]

    @classmethod
    def of(cls, output: Path, checking: Mapping[str, Any]) -> "Earlier":
        """The run in a folder, for one with these options.

        Raises:
            InputError: there is none, or it has not judged traces.
        """
        try:
            workspace = Workspace.finished(output)
        except OutputError as error:
            raise InputError(str(error)) from error
        for table in (TRACES, VERDICTS):
            if not workspace.has(table):
                raise InputError(f"{workspace.output} has no table {table.name}: expected the output of `pipeline run`")
        before = workspace.facts()["parameters"]
        return cls(workspace, tuple(sorted(name for name, now in checking.items() if before.get(name) != now)))

    def verdicts(self, session: Any, traces: Any) -> Any:
        """Those of its verdicts that are verdicts on `traces`, a DataFrame of `TRACES`, as one of `VERDICTS`."""
        known = ["sha256", "first_line", *VERDICTS.names]
        # What failed for a reason of the checker's own may go well this time.
        verdicts = self.workspace.read(session, VERDICTS).where("NOT defect")
        judged = self.workspace.read(session, TRACES).select("trace_id", "first_line", "sha256")
        before = (
            verdicts.join(judged, "trace_id")
            .groupBy(sf.col("sha256").alias("same"))
            .agg(sf.min_by(sf.struct(*known), "trace_id").alias("before"))
        )
        moved = sf.col("first_line") - sf.col("before.first_line")
        # Lines are counted in the file, and a reason may name one.
        is_movable = (moved == 0) | ~sf.coalesce(sf.col("before.reason").rlike(_PLACE), sf.lit(False))
        columns = {name: sf.col(f"before.{name}") for name in VERDICTS.names}
        columns |= {name: sf.col(name) for name in _OF_THIS_TRACE}
        columns |= {"line": sf.col("before.line") + moved, "taken_over": sf.lit(True)}
        found = traces.join(before, sf.col("sha256") == sf.col("same")).where(is_movable)
        return found.select(*(column.alias(name) for name, column in columns.items()))

    def as_dict(self) -> dict[str, Any]:
        """For the manifest and the report."""
        return {"output": str(self.workspace.output), "differs": list(self.differs)}

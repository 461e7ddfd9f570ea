"""Schemas of the tables of the pipeline, with the meaning of each column.

The Arrow schemas of the Python workers, the Spark schemas and `kraft-spec pipeline tables` are derived from it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema


@dataclass(frozen=True)
class Column:
    """Column of a table."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class TableSchema:
    """Table: its name, the meaning of a row, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @cached_property
    def arrow(self) -> pa.Schema:
        """Arrow schema, for the Python workers and for files."""
        return pa.schema([pa.field(column.name, column.type, column.nullable) for column in self.columns])

    @property
    def spark(self) -> Any:
        """Spark schema, a `StructType`."""
        return from_arrow_schema(self.arrow)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


_TEXT, _BYTES, _TRUTH, _INT, _LONG = pa.string(), pa.binary(), pa.bool_(), pa.int32(), pa.int64()
_TEXTS = pa.list_(_TEXT)

_TRACE_ID = Column("trace_id", _TEXT, "id of the trace in these tables, derived from its source and first line")
_SOURCE = Column("source", _TEXT, "file name as given, or the run of a sweep, such as `chaos/kip/3/1000/seed-7`")

FILES = TableSchema(
    "files",
    "a file that was read",
    (
        _SOURCE,
        Column("bytes", _LONG, "its size on disk"),
        Column("lines", _LONG, "number of lines, including a last one without a newline"),
        Column("traces", _LONG, "number of traces that begin in it; lines without a header count as one"),
    ),
)

TRACES = TableSchema(
    "traces",
    "a trace whose lines are all well-formed and consistent with each other",
    (
        _TRACE_ID,
        _SOURCE,
        Column("first_line", _LONG, "line number of its header in the source, from 1"),
        Column("lines", _LONG, "number of its lines: header, events, checkpoints and end line"),
        Column("events", _LONG, "number of events"),
        Column("bytes", _LONG, "size of its lines, decompressed"),
        Column("sha256", _TEXT, "SHA-256 of its lines, hexadecimal"),
        Column("header", _BYTES, "its header, byte for byte"),
        Column("ended", _TRUTH, "true if it has an end line"),
        Column("complete", _TRUTH, "true if the end line says that the run was over"),
        Column("generator", _TEXT, "the software that wrote it"),
        Column("generator_version", _TEXT, "its version"),
        Column("seed", _LONG, "seed of the run", nullable=True),
        Column("workload", _TEXT, "scenario or kind of run", nullable=True),
        Column("profile", _TEXT, "settings of the KIPs' open decisions"),
        Column("spec_hash", _TEXT, "the model that it was written for", nullable=True),
        Column("switched_off", _TEXTS, "rules that mutants of the run omit, by its header"),
    ),
)

EVENTS = TableSchema(
    "events",
    "an event line of a trace in `traces`",
    (
        _TRACE_ID,
        Column("line", _LONG, "line number in the source"),
        Column("sequence", _LONG, "number of the event in the trace, from 1"),
        Column("time_ms", _LONG, "milliseconds since the trace began", nullable=True),
        Column("event", _TEXT, "name of the event, which is that of the model's action"),
        Column("replica", _INT, "replica of the event; null for the network", nullable=True),
        Column("message", _TEXT, "type of the message that it delivers", nullable=True),
        Column("pre_vote", _TRUTH, "true for a Pre-Vote, false for a Vote", nullable=True),
        Column("refusal", _TEXT, "reason why the replica refused the event", nullable=True),
        Column("fault", _TEXT, "kind of fault, if this is one", nullable=True),
        Column("errors", _TEXTS, "error codes of the responses and replies that it sends"),
        Column("role_before", _TEXT, "role of the replica before the event, if it was observed", nullable=True),
        Column("role_after", _TEXT, "role of the replica after the event, if it was observed", nullable=True),
        Column("epoch", _LONG, "epoch after the event", nullable=True),
        Column("leader_id", _INT, "leader that the replica knows after the event", nullable=True),
        Column("log_end_offset", _LONG, "log end offset after the event", nullable=True),
        Column("high_watermark", _LONG, "high watermark after the event", nullable=True),
    ),
)

SEGMENTS = TableSchema(
    "segments",
    "consecutive lines of a trace, byte for byte",
    (
        _TRACE_ID,
        Column("segment", _INT, "number of the segment in the trace, from 0"),
        Column("first_line", _LONG, "line number of its first line in the source"),
        Column("lines", _LONG, "number of lines"),
        Column("raw", _BYTES, "the lines with their newlines"),
    ),
)

QUARANTINE = TableSchema(
    "quarantine",
    "bytes that cannot be checked: the wrong line of a trace, or the lines of that trace before or after it",
    (
        Column("trace_id", _TEXT, "as in `traces`, which does not have this trace"),
        _SOURCE,
        Column(
            "first_line", _LONG, "line number where the trace or the lines without a header begin; 0 for a whole file"
        ),
        Column("line", _LONG, "line number of the first line of this row; 0 for a file without lines"),
        Column("lines", _LONG, "number of lines that begin in it"),
        Column("wrong", _TRUTH, "true for the wrong line, which is one row of each trace"),
        Column("reason", _TEXT, "stable code of the error"),
        Column("field", _TEXT, "JSON path of the wrong field", nullable=True),
        Column("detail", _TEXT, "description of the error, with the expectation"),
        Column("raw", _BYTES, "the bytes"),
    ),
)

_SHOWN = pa.struct([("name", _TEXT), ("shown", _LONG), ("events", _LONG)])
_DIFFERENCE = pa.struct([("field", _TEXT), ("expected", _TEXT), ("actual", _TEXT)])

VERDICTS = TableSchema(
    "verdicts",
    "the verdict on a trace in `traces`, or on a run of a sweep",
    (
        _TRACE_ID,
        _SOURCE,
        Column("generator", _TEXT, "as in `traces`"),
        Column("workload", _TEXT, "as in `traces`", nullable=True),
        Column("profile", _TEXT, "as in `traces`"),
        Column("command", _TEXT, "command that repeats a simulated run", nullable=True),
        Column("verdict", _TEXT, "`accepted`, `rejected` or `inconclusive`"),
        Column("events", _LONG, "number of lines that are steps of the model"),
        Column("candidates_max", _INT, "maximum number of candidate states at one line; 1 for a complete trace"),
        Column(
            "open_answers",
            _TEXTS,
            "settings of open decisions that the trace needs, such as `own_vote_at_restart unattached`",
        ),
        Column("other_model", _TRUTH, "true if it was written for another model"),
        Column(
            "compared",
            _TEXT,
            "extent of the comparison: `complete`, `partial` or `names only`; null if no event is a step of the model",
            nullable=True,
        ),
        Column(
            "shown",
            pa.list_(_SHOWN),
            "for each group of fields and each property: events with enough fields, of all that it applies to",
        ),
        Column("reason", _TEXT, "reason why it is inconclusive", nullable=True),
        Column("defect", _TRUTH, "true if the reason is a defect of the checker"),
        Column("taken_over", _TRUTH, "true if it is from an earlier run on the same bytes (`--archive`)"),
        Column("violation", _TEXT, "invariant of the reference that a simulated run violated", nullable=True),
        Column(
            "kind", _TEXT, "`not-enabled`, `mismatch`, `property`, `ambiguous`, `checkpoint`, `raises`", nullable=True
        ),
        Column("line", _LONG, "line number of the rejected line in the source", nullable=True),
        Column("sequence", _LONG, "sequence number of the rejected line", nullable=True),
        Column("event", _TEXT, "event of the rejected line", nullable=True),
        Column("replica", _INT, "replica of the rejected line", nullable=True),
        Column("role", _TEXT, "role of the replica before the rejected line", nullable=True),
        Column("rule", _TEXT, "most relevant rule", nullable=True),
        Column("field", _TEXT, "the first field that differs, the false conjunct, or the property", nullable=True),
        Column(
            "rules",
            _TEXTS,
            "related rules: those that explain the line, then those of the differences, then those of the action",
        ),
        Column("explained_by", _TEXTS, "rules that explain the line: it conforms to a model without that one rule"),
        Column("properties", _TEXTS, "violated properties"),
        Column("conjunct", _TEXT, "false conjunct and its place in the model", nullable=True),
        Column("differences", pa.list_(_DIFFERENCE), "fields that differ"),
    ),
)

TALLIES = TableSchema(
    "tallies",
    "the number of events of a trace with the same values of these columns",
    (
        _TRACE_ID,
        Column("event", _TEXT, "the event"),
        Column("pre_vote", _TRUTH, "as in `events`", nullable=True),
        Column("role_before", _TEXT, "as in `events`", nullable=True),
        Column("role_after", _TEXT, "as in `events`", nullable=True),
        Column("fault", _TEXT, "as in `events`", nullable=True),
        Column("errors", _TEXTS, "as in `events`"),
        Column("events", _LONG, "number of events"),
    ),
)

COVERAGE = TableSchema(
    "coverage",
    "something that can be covered, with the number of lines that cover it and are steps of the model",
    (
        Column("kind", _TEXT, "`action`, `rule`, `transition`, `error` or `fault`"),
        Column("name", _TEXT, "name of the action, rule, transition, error or fault"),
        Column("generator", _TEXT, "the software that wrote the traces"),
        Column("workload", _TEXT, "workload of a run of the reference; empty for other software"),
        Column("profile", _TEXT, "settings of the KIPs' open decisions"),
        Column("events", _LONG, "number of events; 0 if never covered"),
        Column("traces", _LONG, "number of traces"),
    ),
)

RUNS = TableSchema(
    "runs",
    "a complete run in an archive; every other table there has the column `run` too",
    (
        Column("run", _TEXT, "name of its output folder"),
        Column("ended_ms", _LONG, "time at which it was archived, milliseconds since 1970"),
        Column("spec_hash", _TEXT, "model that its traces were checked against"),
        Column("every", _LONG, "as `--every`"),
        Column("candidates_max", _LONG, "as `--candidates`"),
        Column("traces", _LONG, "number of traces read"),
        Column("events", _LONG, "number of rows of its table `events`"),
        Column("accepted", _LONG, "number of accepted traces"),
        Column("rejected", _LONG, "number of rejected traces"),
        Column("inconclusive", _LONG, "number of inconclusive traces"),
        Column("quarantined", _LONG, "number of traces in quarantine"),
        Column("report", _TEXT, "figures of its report, JSON"),
    ),
)

TABLES = (FILES, TRACES, EVENTS, SEGMENTS, QUARANTINE, VERDICTS, COVERAGE)
"""Tables of an output folder, in the order in which they are written."""

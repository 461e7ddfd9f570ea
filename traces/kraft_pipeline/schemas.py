"""The tables of the pipeline: what each column holds.

This is the only description of them: the Arrow schemas of the Python workers, the schemas of Spark and the pages of
the documentation follow from it.
A column that may be null says so.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class TableSchema:
    """A table: its name, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @cached_property
    def arrow(self) -> pa.Schema:
        """For the Python workers and for files."""
        return pa.schema([pa.field(column.name, column.type, column.nullable) for column in self.columns])

    @property
    def spark(self) -> Any:
        """For Spark, a `StructType`."""
        return from_arrow_schema(self.arrow)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


_TEXT, _BYTES, _TRUTH, _INT, _LONG = pa.string(), pa.binary(), pa.bool_(), pa.int32(), pa.int64()
_TEXTS = pa.list_(_TEXT)

_TRACE_ID = Column("trace_id", _TEXT, "names the trace within these tables; made of its source and first line")
_SOURCE = Column("source", _TEXT, "the file as it was named; of a sweep the run, as `chaos/kip/3/1000/seed-7`")

FILES = TableSchema(
    "files",
    "a file that was read",
    (
        _SOURCE,
        Column("bytes", _LONG, "its size on disk"),
        Column("lines", _LONG, "how many lines it has, a last one without a newline included"),
        Column("traces", _LONG, "how many traces begin in it; what has no header counts as one"),
    ),
)

TRACES = TableSchema(
    "traces",
    "a trace whose lines all have the shape they must have and follow on from each other",
    (
        _TRACE_ID,
        _SOURCE,
        Column("first_line", _LONG, "line number of its header in the source, from 1"),
        Column("lines", _LONG, "its header, events and checkpoints, and its end line if it has one"),
        Column("events", _LONG, "how many events"),
        Column("bytes", _LONG, "of its lines, decompressed"),
        Column("sha256", _TEXT, "of the same, hexadecimal"),
        Column("header", _BYTES, "its header, byte for byte"),
        Column("ended", _TRUTH, "whether it has an end line"),
        Column("complete", _TRUTH, "whether that says that the run was over"),
        Column("generator", _TEXT, "the software that wrote it"),
        Column("generator_version", _TEXT, "its version"),
        Column("seed", _LONG, "of the generator", nullable=True),
        Column("workload", _TEXT, "scenario or kind of run", nullable=True),
        Column("profile", _TEXT, "answers to the open points of the KIPs"),
        Column("spec_hash", _TEXT, "the model that its writer meant", nullable=True),
        Column("switched_off", _TEXTS, "rules that mutants of the run omit, by its header"),
    ),
)

EVENTS = TableSchema(
    "events",
    "an event line of a trace in `traces`",
    (
        _TRACE_ID,
        Column("line", _LONG, "line number in the source"),
        Column("sequence", _LONG, "counts the events of the trace from 1"),
        Column("time_ms", _LONG, "milliseconds since the trace began", nullable=True),
        Column("event", _TEXT, "its name, which is that of the model's action"),
        Column("replica", _INT, "where it happened; null for the network", nullable=True),
        Column("message", _TEXT, "type of the message that it delivers", nullable=True),
        Column("pre_vote", _TRUTH, "of a Vote: whether it is a Pre-Vote", nullable=True),
        Column("refusal", _TEXT, "why it changed nothing", nullable=True),
        Column("fault", _TEXT, "what went wrong, if this is a fault", nullable=True),
        Column("errors", _TEXTS, "error codes of the answers that it sends"),
        Column("role_before", _TEXT, "the replica's role before, if it was observed", nullable=True),
        Column("role_after", _TEXT, "and after", nullable=True),
        Column("epoch", _LONG, "its epoch after", nullable=True),
        Column("leader_id", _INT, "the leader that it knows after", nullable=True),
        Column("log_end_offset", _LONG, "its log end offset after", nullable=True),
        Column("high_watermark", _LONG, "its high watermark after", nullable=True),
    ),
)

SEGMENTS = TableSchema(
    "segments",
    "a stretch of lines of a trace, byte for byte",
    (
        _TRACE_ID,
        Column("segment", _INT, "counts those of the trace from 0"),
        Column("first_line", _LONG, "line number of its first line in the source"),
        Column("lines", _LONG, "how many lines"),
        Column("raw", _BYTES, "the lines with their newlines"),
    ),
)

QUARANTINE = TableSchema(
    "quarantine",
    "a stretch of bytes that cannot be checked: the wrong line of a trace, and the rest of that trace around it",
    (
        Column("trace_id", _TEXT, "as in `traces`, where this trace is not"),
        _SOURCE,
        Column("first_line", _LONG, "line number where the trace begins, or what has no header; 0 for a whole file"),
        Column("line", _LONG, "line number of the first line of this stretch; 0 for a file without lines"),
        Column("lines", _LONG, "how many lines begin in it"),
        Column("wrong", _TRUTH, "whether this is the line that is wrong; one row of each trace"),
        Column("reason", _TEXT, "what is wrong, as a stable code"),
        Column("field", _TEXT, "JSON path of the field that is wrong", nullable=True),
        Column("detail", _TEXT, "the same in words, with what was expected"),
        Column("raw", _BYTES, "the bytes"),
    ),
)

_SHOWN = pa.struct([("name", _TEXT), ("shown", _LONG), ("events", _LONG)])
_DIFFERENCE = pa.struct([("field", _TEXT), ("expected", _TEXT), ("actual", _TEXT)])

VERDICTS = TableSchema(
    "verdicts",
    "what became of a trace in `traces`, or of a run of a sweep",
    (
        _TRACE_ID,
        _SOURCE,
        Column("generator", _TEXT, "as in `traces`"),
        Column("workload", _TEXT, "as in `traces`", nullable=True),
        Column("profile", _TEXT, "as in `traces`"),
        Column("command", _TEXT, "of a simulated run: the line that repeats it", nullable=True),
        Column("verdict", _TEXT, "`accepted`, `rejected` or `inconclusive`"),
        Column("events", _LONG, "lines that were steps of the model"),
        Column("candidates_max", _INT, "most candidate states at one line; 1 for a complete trace"),
        Column(
            "open_answers",
            _TEXTS,
            "answers to open decisions without which some line would not be right, as `own_vote_at_restart unattached`",
        ),
        Column("other_model", _TRUTH, "whether it was written for another model"),
        Column(
            "compared",
            _TEXT,
            "how much was compared: `complete`, `partial` or `names only`; null if no event was a step of the model",
            nullable=True,
        ),
        Column(
            "shown",
            pa.list_(_SHOWN),
            "of each group of fields and each property: how many events showed enough, of those that it is about",
        ),
        Column("reason", _TEXT, "why it is inconclusive", nullable=True),
        Column("defect", _TRUTH, "whether that is an error of the checker"),
        Column("taken_over", _TRUTH, "whether it is that of an earlier run on the same bytes (`--archive`)"),
        Column("violation", _TEXT, "of a simulated run: the reference's own invariant that it broke", nullable=True),
        Column(
            "kind", _TEXT, "`not-enabled`, `mismatch`, `property`, `ambiguous`, `checkpoint`, `raises`", nullable=True
        ),
        Column("line", _LONG, "line number of the rejected line in the source", nullable=True),
        Column("sequence", _LONG, "its sequence number", nullable=True),
        Column("event", _TEXT, "its event", nullable=True),
        Column("replica", _INT, "its replica", nullable=True),
        Column("role", _TEXT, "the role of the replica before", nullable=True),
        Column("rule", _TEXT, "the rule to look at first", nullable=True),
        Column("field", _TEXT, "the first field that differs, the false conjunct, or the property", nullable=True),
        Column(
            "rules",
            _TEXTS,
            "those first that explain the line, then those behind what differs, then those that the action states",
        ),
        Column("explained_by", _TEXTS, "rules without any one of which the line would be right"),
        Column("properties", _TEXTS, "properties that are violated"),
        Column("conjunct", _TEXT, "the conjunct that is false, and where it stands", nullable=True),
        Column("differences", pa.list_(_DIFFERENCE), "the fields that differ"),
    ),
)

TALLIES = TableSchema(
    "tallies",
    "what events of one kind of a trace show, and how many of them there are",
    (
        _TRACE_ID,
        Column("event", _TEXT, "the event"),
        Column("pre_vote", _TRUTH, "as in `events`", nullable=True),
        Column("role_before", _TEXT, "as in `events`", nullable=True),
        Column("role_after", _TEXT, "as in `events`", nullable=True),
        Column("fault", _TEXT, "as in `events`", nullable=True),
        Column("errors", _TEXTS, "as in `events`"),
        Column("events", _LONG, "how many"),
    ),
)

COVERAGE = TableSchema(
    "coverage",
    "something that can happen, and how often it was seen in the lines that are steps of the model",
    (
        Column("kind", _TEXT, "`action`, `rule`, `transition`, `error` or `fault`"),
        Column("name", _TEXT, "of the action, the rule, ..."),
        Column("generator", _TEXT, "the software that wrote the traces"),
        Column("workload", _TEXT, "the named mix of a run of the reference; empty for all others"),
        Column("profile", _TEXT, "answers to the open points of the KIPs"),
        Column("events", _LONG, "in how many events; 0 if never"),
        Column("traces", _LONG, "in how many traces"),
    ),
)

RUNS = TableSchema(
    "runs",
    "a run that an archive holds whole; every other table there has the column `run` too",
    (
        Column("run", _TEXT, "the name of its output folder"),
        Column("ended_ms", _LONG, "when it was archived, milliseconds since 1970"),
        Column("spec_hash", _TEXT, "the model that its traces were held to"),
        Column("every", _LONG, "as `--every`"),
        Column("candidates_max", _LONG, "as `--candidates`"),
        Column("traces", _LONG, "how many came in"),
        Column("events", _LONG, "how many are in its table"),
        Column("accepted", _LONG, "traces with this verdict"),
        Column("rejected", _LONG, "the same"),
        Column("inconclusive", _LONG, "the same"),
        Column("quarantined", _LONG, "traces in quarantine"),
        Column("report", _TEXT, "the figures of its report, JSON"),
    ),
)

TABLES = (FILES, TRACES, EVENTS, SEGMENTS, QUARANTINE, VERDICTS, COVERAGE)
"""What an output folder holds, in the order in which it comes to be."""

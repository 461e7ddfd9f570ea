"""What can be wrong with a trace: one class and one stable code for each kind.

Every error names the file, the line if there is one, the field as a JSON path (`$.state.epoch`) if there is one,
and what was expected.
"""

from typing import ClassVar, Literal


class TraceError(ValueError):
    """A trace that cannot be read.

    Attributes:
        code: stable name of the kind of error, for programs.
        detail: what is wrong and what was expected.
        source: the file, `-` for standard input.
        line_number: counted from 1; None for errors of the whole file.
        field: JSON path within the line; None for errors of the whole line.
        column: counted from 1 in characters; only where the text of the line is wrong.
    """

    code: ClassVar[str] = "TRACE_ERROR"

    def __init__(
        self,
        detail: str,
        source: str,
        line_number: int | None = None,
        field: str | None = None,
        column: int | None = None,
    ) -> None:
        # All of them go to `args`, so that the error survives pickling between processes.
        super().__init__(detail, source, line_number, field, column)
        self.detail = detail
        self.source = source
        self.line_number = line_number
        self.field = field
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line_number, self.column) if part is not None)
        return f"{place}: {self.detail}" if self.field is None else f"{place}: {self.field}: {self.detail}"


class UnreadableFileError(TraceError):
    """The operating system does not give the file."""

    code = "UNREADABLE_FILE"


class NoTracesError(TraceError):
    """A folder without a single trace."""

    code = "NO_TRACES"


class EmptyTraceError(TraceError):
    """Nothing to check: an empty file, or a header without one event."""

    code = "EMPTY_TRACE"


class MissingHeaderError(TraceError):
    """The first line is not a header."""

    code = "MISSING_HEADER"


class DuplicateHeaderError(TraceError):
    """A second header: one file holds one trace."""

    code = "DUPLICATE_HEADER"


class UnknownSchemaError(TraceError):
    """The header names a format, or a major version of it, that this program does not know."""

    code = "UNKNOWN_SCHEMA"


class UnknownProfileError(TraceError):
    """The header names a profile that this program does not know."""

    code = "UNKNOWN_PROFILE"


class MalformedJsonError(TraceError):
    """A line that is not one JSON value."""

    code = "MALFORMED_JSON"


class InvalidUtf8Error(TraceError):
    """A line that is not UTF-8."""

    code = "INVALID_UTF8"


class LineTooLongError(TraceError):
    """A line beyond the limit, which is there so that memory stays bounded."""

    code = "LINE_TOO_LONG"


FieldProblem = Literal["missing", "unknown", "duplicate", "wrong-value", "inconsistent"]


class FieldError(TraceError):
    """A field that is missing, unknown, there twice, of a wrong type or value, or at odds with another field.

    Attributes:
        problem: which of these.
    """

    code = "FIELD"

    def __init__(
        self,
        detail: str,
        source: str,
        line_number: int | None = None,
        field: str | None = None,
        column: int | None = None,
        problem: FieldProblem = "wrong-value",
    ) -> None:
        super().__init__(detail, source, line_number, field, column)
        self.args = (*self.args, problem)
        self.problem = problem


class UnknownEventError(TraceError):
    """An event that the vocabulary does not have."""

    code = "UNKNOWN_EVENT"


class UnknownReplicaError(TraceError):
    """A replica that the header does not list."""

    code = "UNKNOWN_REPLICA"


class UnknownMessageError(TraceError):
    """A message arrives, is lost or is doubled although no copy of it is on its way."""

    code = "UNKNOWN_MESSAGE"


class DuplicateSequenceError(TraceError):
    """A sequence number that an earlier line has."""

    code = "DUPLICATE_SEQUENCE"


class SequenceGapError(TraceError):
    """A sequence number that is not the next one."""

    code = "SEQUENCE_GAP"


class TimeGoesBackError(TraceError):
    """A line that is earlier than the line before it."""

    code = "TIME_GOES_BACK"


class EventCountError(TraceError):
    """The end line counts other events than there are."""

    code = "EVENT_COUNT"


class LinesAfterEndError(TraceError):
    """Something follows the end line."""

    code = "LINES_AFTER_END"


class TruncatedFileError(TraceError):
    """The file stops in the middle of a line."""

    code = "TRUNCATED_FILE"


class TruncatedGzipError(TraceError):
    """The compressed file stops before its end."""

    code = "TRUNCATED_GZIP"


class CorruptGzipError(TraceError):
    """The compressed file is damaged, or not compressed although its name says so."""

    code = "CORRUPT_GZIP"


class IncompleteLineError(ValueError):
    """A line leaves out what is needed to make the reference's value of it.

    Attributes:
        field: JSON path of the field that is not there.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        return f"{self.field} was not observed"

"""Errors of a trace file: a class with a stable code for each kind.

Every error has the file, the line and the field as a JSON path (`$.state.epoch`) if there is one, and the expectation.
"""

from typing import ClassVar, Literal


class TraceError(ValueError):
    """A trace that cannot be read.

    Attributes:
        code: stable name of the kind of error, for programs.
        detail: the problem and the expectation.
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
        # `args` has all of them, so that the error survives pickling between processes.
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
    """The operating system cannot read the file."""

    code = "UNREADABLE_FILE"


class NoTracesError(TraceError):
    """A folder has no trace."""

    code = "NO_TRACES"


class EmptyTraceError(TraceError):
    """A file is empty, or has no event."""

    code = "EMPTY_TRACE"


class MissingHeaderError(TraceError):
    """The first line is not a header."""

    code = "MISSING_HEADER"


class DuplicateHeaderError(TraceError):
    """A file has a second header, but may have only one trace."""

    code = "DUPLICATE_HEADER"


class UnknownSchemaError(TraceError):
    """The header has an unknown format, or an unknown major version of it."""

    code = "UNKNOWN_SCHEMA"


class UnknownProfileError(TraceError):
    """The header has an unknown profile."""

    code = "UNKNOWN_PROFILE"


class MalformedJsonError(TraceError):
    """A line is not one JSON value."""

    code = "MALFORMED_JSON"


class InvalidUtf8Error(TraceError):
    """A line is not UTF-8."""

    code = "INVALID_UTF8"


class LineTooLongError(TraceError):
    """A line is longer than the limit, which bounds memory."""

    code = "LINE_TOO_LONG"


FieldProblem = Literal["missing", "unknown", "duplicate", "wrong-value", "inconsistent"]


class FieldError(TraceError):
    """A field is missing, unknown, duplicate, has a wrong type or value, or contradicts another field.

    Attributes:
        problem: one of these.
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
    """A line has an unknown event."""

    code = "UNKNOWN_EVENT"


class UnknownReplicaError(TraceError):
    """A line has a replica that the header does not list."""

    code = "UNKNOWN_REPLICA"


class UnknownMessageError(TraceError):
    """A message is delivered, dropped or duplicated, but no copy of it is in flight."""

    code = "UNKNOWN_MESSAGE"


class DuplicateSequenceError(TraceError):
    """A line has the sequence number of an earlier line."""

    code = "DUPLICATE_SEQUENCE"


class SequenceGapError(TraceError):
    """A line's sequence number is larger than the next one."""

    code = "SEQUENCE_GAP"


class TimeGoesBackError(TraceError):
    """A line's time is before that of an earlier line."""

    code = "TIME_GOES_BACK"


class EventCountError(TraceError):
    """The end line has a wrong number of events."""

    code = "EVENT_COUNT"


class LinesAfterEndError(TraceError):
    """A line follows the end line."""

    code = "LINES_AFTER_END"


class TruncatedFileError(TraceError):
    """The file stops in the middle of a line."""

    code = "TRUNCATED_FILE"


class TruncatedGzipError(TraceError):
    """The gzip data stops before its end marker."""

    code = "TRUNCATED_GZIP"


class CorruptGzipError(TraceError):
    """The gzip data is damaged, or a file named .gz is not gzip."""

    code = "CORRUPT_GZIP"


class IncompleteLineError(ValueError):
    """A line lacks a field that is needed to convert it to the reference's value.

    Attributes:
        field: JSON path of the missing field.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        return f"{self.field} was not observed"

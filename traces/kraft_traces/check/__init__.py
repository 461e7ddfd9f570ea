"""Checking traces against the TLA+ model, in process."""

from kraft_traces.check.checker import CANDIDATES_MAX, EVERY, TraceChecker
from kraft_traces.check.compared import Compared, Extent, ShownCount
from kraft_traces.check.model import TRACE_PROPERTIES
from kraft_traces.check.run import OtherModelError, check_occurrences, check_reader, write_failing_prefix
from kraft_traces.check.verdict import Conjunct, Rejection, RejectionKind, Verdict, VerdictKind

__all__ = (
    "CANDIDATES_MAX",
    "EVERY",
    "TRACE_PROPERTIES",
    "Compared",
    "Conjunct",
    "Extent",
    "OtherModelError",
    "Rejection",
    "RejectionKind",
    "ShownCount",
    "TraceChecker",
    "Verdict",
    "VerdictKind",
    "check_occurrences",
    "check_reader",
    "write_failing_prefix",
)

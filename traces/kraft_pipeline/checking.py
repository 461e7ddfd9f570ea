"""Check of a trace in a worker process.

The process starts a Java virtual machine at its first trace, parses the specification at the first evaluation in TLC,
and keeps both.
"""

from dataclasses import dataclass
from typing import Any

from kraft_pipeline.journal import DEATHS_MAX, describe_deaths
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check import CANDIDATES_MAX, EVERY, Rejection, Verdict, VerdictKind, check_reader
from kraft_traces.errors import TraceError
from kraft_traces.reader import TraceReader

Row = dict[str, Any]

_DETAIL_MAX = 2_000


@dataclass(frozen=True)
class Checking:
    """Options of the checker."""

    every: int = EVERY
    candidates_max: int = CANDIDATES_MAX

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters that determine the verdicts, for JSON."""
        return {**vars(self), "spec_hash": spec_hash()}


def verdict_row(trace: Row, lines: TraceReader, checking: Checking, deaths: int = 0) -> Row:
    """Return the row of `verdicts` of a trace.

    It is inconclusive after an error of the checker, or after `DEATHS_MAX` deaths of its workers.
    `trace` has the columns of `traces` that the verdict repeats.

    Raises:
        TraceError: a line after the header is wrong.
    """
    if deaths >= DEATHS_MAX:
        return _undecided(trace, describe_deaths(deaths))
    try:
        verdict = check_reader(lines, **vars(checking))
    except Exception as error:
        # An error of line 1 is that the model cannot omit all rules of the header together.
        if isinstance(error, TraceError) and error.line_number != 1:
            raise
        return _undecided(trace, f"the checker fails: {type(error).__name__}: {error}")
    return row_of(trace, verdict)


_OF_TRACE = ("trace_id", "source", "generator", "workload", "profile", "command", "violation")
_OF_REJECTION = ("kind", "line", "sequence", "event", "replica", "role", "rule", "field", "conjunct")
_LISTS = ("open_answers", "shown", "rules", "explained_by", "properties", "differences")


def _undecided(trace: Row, reason: str) -> Row:
    return {
        **{name: trace.get(name) for name in _OF_TRACE},
        "verdict": VerdictKind.INCONCLUSIVE.value,
        "events": 0,
        "candidates_max": 0,
        "other_model": False,
        "compared": None,
        "reason": reason[:_DETAIL_MAX],
        "defect": True,
        "taken_over": False,
        **dict.fromkeys(_OF_REJECTION),
        **{name: [] for name in _LISTS},
    }


def raised_row(trace: Row, error: Exception) -> Row:
    """Return the row of a run that ends in an error of the reference or of the checker."""
    row = _undecided(trace, f"{type(error).__name__}: {error}")
    rejected = {"verdict": VerdictKind.REJECTED.value, "defect": False}
    return row | rejected | {"kind": "raises", "field": type(error).__name__}


def row_of(trace: Row, verdict: Verdict) -> Row:
    """Return the row of a verdict."""
    row = _undecided(trace, "")
    row |= {
        "verdict": verdict.kind.value,
        "events": verdict.events,
        "candidates_max": verdict.candidates_max,
        "open_answers": [f"{it.decision} {it.answer}" for it in verdict.open_answers],
        "other_model": verdict.other_model,
        "compared": None if verdict.compared.whole is None else verdict.compared.whole.value,
        "shown": [
            {"name": name, "shown": counted.shown, "events": counted.events}
            for name, counted in (*verdict.compared.groups.items(), *verdict.compared.properties.items())
        ],
        "reason": verdict.reason,
        "defect": False,
    }
    if verdict.rejection is not None:
        row |= _rejection(verdict.rejection)
    return row


def _rejection(rejection: Rejection) -> Row:
    conjunct = rejection.conjunct
    rules = list(dict.fromkeys((*rejection.explained_by, *rejection.rules)))
    return {
        "kind": rejection.kind.value,
        "line": rejection.line,
        "sequence": rejection.sequence,
        "event": rejection.event,
        "replica": rejection.replica,
        "role": rejection.role,
        "rule": rules[0] if rules else None,
        "field": first_field(rejection),
        "rules": rules,
        "explained_by": list(rejection.explained_by),
        "properties": list(rejection.properties),
        "conjunct": None if conjunct is None else f"{conjunct.text} ({conjunct.module}.tla:{conjunct.line})",
        "differences": [
            {"field": it.field, "expected": str(it.expected), "actual": str(it.actual)} for it in rejection.differences
        ],
    }


def first_field(rejection: Rejection) -> str | None:
    """Return the first problem of a rejected line: the field, else the property, else the conjunct."""
    if rejection.differences:
        return rejection.differences[0].field
    if rejection.properties:
        return rejection.properties[0]
    return None if rejection.conjunct is None else rejection.conjunct.text

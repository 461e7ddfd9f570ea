"""A trace to its verdict, in a worker process.

The process starts one Java machine at its first trace, parses the specification when TLC is first asked, and keeps
both.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import DecodeError

from kraft_traces.check import CANDIDATES_MAX, EVERY, OtherModelError, Rejection, Verdict, VerdictKind, check_reader
from kraft_traces.check.model import trace_model
from kraft_traces.errors import TraceError
from kraft_traces.pipeline.journal import given_up
from kraft_traces.pipeline.parts import PartLines

Row = dict[str, Any]

_DETAIL_MAX = 2_000


@cache
def ready_model() -> None:
    """Start the Java machine of this process, unless that is done."""
    trace_model()


def verdict_row(
    trace: Row, segments: Iterable[Row], part: int = 0, *, every: int = EVERY, candidates_max: int = CANDIDATES_MAX
) -> Row:
    """The row of `verdicts` of a trace, or of a part of one, of which the following part judges the rest.

    Whatever the checker does with it, there is one: an error of the checker makes the trace inconclusive.
    `trace` has the columns of `traces` that the verdict repeats, and its header.
    """
    try:
        ready_model()
        lines = PartLines(trace["header"], trace["source"], segments, part, trace["first_line"])
        verdict = check_reader(lines, every=every, candidates_max=candidates_max, start=lines.start)
    except (TraceError, OtherModelError, DecodeError) as error:
        # The stage before lets none through, unless its tables come from somewhere else.
        return _undecided(trace, f"not a trace any more: {error}")
    except Exception as error:
        return _undecided(trace, f"the checker fails: {type(error).__name__}: {error}")
    return row_of(trace, verdict)


_OF_TRACE = ("trace_id", "source", "generator", "workload", "profile", "command", "violation")
_OF_REJECTION = ("kind", "line", "sequence", "event", "replica", "role", "rule", "field", "conjunct")
_LISTS = ("open_answers", "shown", "rules", "explained_by", "properties", "differences")


def _undecided(trace: Row, reason: str) -> Row:
    return {
        **{name: trace[name] for name in _OF_TRACE},
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


def given_up_row(trace: Row, deaths: int) -> Row:
    """The row of a trace over which workers have died."""
    return _undecided(trace, given_up(deaths))


def raised_row(trace: Row, error: Exception) -> Row:
    """The row of a run that ends in an error of the reference, or of the checker if it cannot take it."""
    row = _undecided(trace, f"{type(error).__name__}: {error}")
    rejected = {"verdict": VerdictKind.REJECTED.value, "defect": False}
    return row | rejected | {"kind": "raises", "field": type(error).__name__}


def row_of(trace: Row, verdict: Verdict) -> Row:
    """The row of a verdict."""
    # A place counted from the header of a trace as one in its source.
    first_line, reason = trace["first_line"], verdict.reason
    if reason is not None:
        reason = _PLACE.sub(lambda found: f"line {int(found[1]) + first_line - 1}:", reason)
    row = _undecided(trace, "")
    row |= {
        "verdict": verdict.kind.value,
        "events": verdict.events,
        "candidates_max": verdict.candidates_max,
        "open_answers": [f"{one.decision} {one.answer}" for one in verdict.open_answers],
        "other_model": verdict.other_model,
        "compared": None if verdict.compared.whole is None else verdict.compared.whole.value,
        "shown": [
            {"name": name, "shown": counted.shown, "events": counted.events}
            for name, counted in (*verdict.compared.groups.items(), *verdict.compared.properties.items())
        ],
        "reason": reason,
        "defect": False,
    }
    if verdict.rejection is not None:
        row |= _rejection(verdict.rejection, first_line)
    return row


_PLACE = re.compile(r"^line (\d+):")


def _rejection(rejection: Rejection, first_line: int) -> Row:
    conjunct = rejection.conjunct
    rules = list(dict.fromkeys((*rejection.explained_by, *rejection.rules)))
    return {
        "kind": rejection.kind.value,
        # The reader counts from the header, which need not be the first line of its file.
        "line": rejection.line + first_line - 1,
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
            {"field": one.field, "expected": str(one.expected), "actual": str(one.actual)}
            for one in rejection.differences
        ],
    }


def first_field(rejection: Rejection) -> str | None:
    """What is wrong with the line, in a word: the field, else the property, else the conjunct."""
    if rejection.differences:
        return rejection.differences[0].field
    if rejection.properties:
        return rejection.properties[0]
    return None if rejection.conjunct is None else rejection.conjunct.text

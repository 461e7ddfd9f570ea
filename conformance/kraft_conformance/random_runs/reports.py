"""Outcomes of random runs as text and as JSON lines."""

import json
from collections.abc import Iterator, Sequence

from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.runner.outcome import FAILING
from kraft_conformance.runner.reports import counts, difference_lines, exit_code, rule_lines, wrap

LINES_MAX = 60
"""Maximum number of displayed events of a short run; the trace has all of them."""


def json_lines(outcomes: Sequence[RandomOutcome]) -> Iterator[str]:
    """Yield a line for each run, and one with the counts and the exit code."""
    for run in outcomes:
        document = {"kind": "run", **run.as_dict()}
        if run.outcome.status in FAILING:
            document["repeat"] = run.repeat
        yield json.dumps(document, sort_keys=True, ensure_ascii=False)
    plain = [run.outcome for run in outcomes]
    summary = {"kind": "summary", "counts": counts(plain), "exit_code": int(exit_code(plain))}
    yield json.dumps(summary, sort_keys=True, ensure_ascii=False)


def details(run: RandomOutcome) -> Iterator[str]:
    """Yield the lines about a run that fails; the last is the command that repeats it."""
    outcome = run.outcome
    if run.violation is not None:
        yield run.violation
    if outcome.differences:
        where = f"event {outcome.step}, {outcome.event}" if outcome.event else "before the first event"
        yield f"{where} at replica {run.replica} ({run.adapter})"
        for difference in outcome.differences:
            yield from difference_lines(difference)
    elif run.violation is None:
        yield outcome.reason
    yield from rule_lines(outcome.rules)
    if run.model is not None:
        yield from wrap(f"model: {run.model}")
    for remark in run.remarks:
        yield from wrap(remark)
    if outcome.stderr:
        yield f"standard error: {outcome.stderr.rstrip()}"
    yield from _shrunk_lines(run)
    yield from _saved_lines(run)
    yield f"repeat: {run.repeat}"


def _shrunk_lines(run: RandomOutcome) -> Iterator[str]:
    short = run.shrunk
    if short is None:
        return
    minimal = "" if short.is_minimal else ", not minimal"
    yield f"shrunk from {short.moves_before} moves to {short.moves} in {short.runs} runs{minimal}:"
    yield from (f"  {line}" for line in short.lines[-LINES_MAX:])


def _saved_lines(run: RandomOutcome) -> Iterator[str]:
    saved = run.saved
    if saved is None:
        return
    yield f"trace: {saved.trace}"
    if saved.shrunk_trace is not None:
        yield f"shrunk trace: {saved.shrunk_trace}"
    if saved.without_vector is not None:
        yield f"no vector that fails alone: {saved.without_vector}"
    if saved.replay is not None:
        yield f"vector {saved.vector}: {saved.replay}"

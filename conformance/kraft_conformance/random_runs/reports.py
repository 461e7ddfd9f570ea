"""The outcomes of random runs for people, and as JSON lines."""

import json
from collections.abc import Iterator, Sequence

from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.runner.outcome import FAILING
from kraft_conformance.runner.reports import counts, exit_code

LINES_MAX = 60
"""More events than this nobody reads; the trace has them."""


def json_lines(outcomes: Sequence[RandomOutcome]) -> Iterator[str]:
    """A line for each run, and one with the counts and the exit code."""
    for one in outcomes:
        document = {"kind": "run", **one.as_dict()}
        if one.outcome.status in FAILING:
            document["repeat"] = one.repeat
        yield json.dumps(document, sort_keys=True, ensure_ascii=False)
    plain = [one.outcome for one in outcomes]
    summary = {"kind": "summary", "counts": counts(plain), "exit_code": int(exit_code(plain))}
    yield json.dumps(summary, sort_keys=True, ensure_ascii=False)


def details(one: RandomOutcome) -> Iterator[str]:
    """Everything that is known of a run that fails."""
    outcome = one.outcome
    if one.violation is not None:
        yield one.violation
    if outcome.differences:
        where = f"event {outcome.step}, {outcome.event}" if outcome.event else "before the first event"
        yield f"{where} at replica {one.replica} ({one.adapter})"
        yield from map(str, outcome.differences)
    elif one.violation is None:
        yield outcome.reason
    if outcome.rules:
        yield f"rules: {', '.join(outcome.rules)}"
    if one.model is not None:
        yield f"model: {one.model}"
    yield from one.remarks
    if outcome.stderr:
        yield f"standard error: {outcome.stderr.rstrip()}"
    yield from _shrunk(one)
    yield from _saved(one)
    yield f"repeat: {one.repeat}"


def _shrunk(one: RandomOutcome) -> Iterator[str]:
    short = one.shrunk
    if short is None:
        return
    minimal = "" if short.is_minimal else ", and not to the end"
    yield f"shrunk from {short.moves_before} moves to {short.moves} in {short.runs} runs{minimal}:"
    yield from (f"  {line}" for line in short.lines[-LINES_MAX:])


def _saved(one: RandomOutcome) -> Iterator[str]:
    saved = one.saved
    if saved is None:
        return
    yield f"trace: {saved.trace}"
    if saved.shrunk_trace is not None:
        yield f"shrunk trace: {saved.shrunk_trace}"
    if saved.without_vector is not None:
        yield f"vector: {saved.without_vector}"
    if saved.replay is not None:
        yield f"vector {saved.vector}: {saved.replay}"

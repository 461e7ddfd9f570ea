"""TAP version 14.

What was not decided is `ok` with SKIP, because the protocol has no third answer; what fails as expected is `not ok`
with TODO; an unexpected pass is `not ok` without one, because the list of expected failures is out of date.
"""

import json
import re
from collections.abc import Iterator

from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import said

_DIFFERENCES_MAX = 20
_SPECIAL = re.compile(r"[\\#]")


def tap(run: Run) -> bytes:
    """The whole document."""
    return "".join([f"{line}\n" for line in _lines(run)]).encode()


def _lines(run: Run) -> Iterator[str]:
    yield "TAP version 14"
    yield f"1..{len(run.outcomes)}"
    yield from (f"# {remark}" for remark in run.remarks)
    for number, outcome in enumerate(run.outcomes, 1):
        yield _test_point(number, outcome, run.asked(outcome.id).title)
        if outcome.status in (*FAILING, Status.EXPECTED_FAILURE):
            yield from _diagnostics(outcome, run)


def _test_point(number: int, outcome: Outcome, title: str) -> str:
    is_ok = outcome.status not in (*FAILING, Status.EXPECTED_FAILURE)
    point = f"{'ok' if is_ok else 'not ok'} {number} - {_escaped(f'{outcome.id}: {title}')}"
    if outcome.status is Status.EXPECTED_FAILURE:
        return f"{point} # TODO {_escaped(outcome.reason)}"
    if is_ok and outcome.status is not Status.PASS:
        reason = outcome.reason if outcome.status is Status.SKIPPED else f"{outcome.status}: {outcome.reason}"
        return f"{point} # SKIP {_escaped(reason)}"
    return point


def _escaped(text: str) -> str:
    """A description or reason: one line, in which `#` begins no directive."""
    return _SPECIAL.sub(r"\\\g<0>", said(text))


def _diagnostics(outcome: Outcome, run: Run) -> Iterator[str]:
    """A YAML block.  Its texts are in double quotes with JSON's escapes, all of which are YAML's too."""
    yield "  ---"
    yield f"  status: {_quoted(outcome.status)}"
    yield f"  message: {_quoted(outcome.reason)}"
    yield f"  rules: [{', '.join(map(_quoted, outcome.rules or run.asked(outcome.id).rules))}]"
    if outcome.rule_level is not None:
        yield f"  rule_level: {_quoted(outcome.rule_level)}"
    if outcome.step is not None:
        yield f"  step: {outcome.step}"
    if outcome.event is not None:
        yield f"  event: {_quoted(outcome.event)}"
    if outcome.fault is not None:
        yield f"  fault: {_quoted(outcome.fault)}"
    if outcome.differences:
        yield "  differences:"
        for one in outcome.differences[:_DIFFERENCES_MAX]:
            yield f"    - field: {_quoted(one.field)}"
            yield f"      expected: {_quoted(one.expected)}"
            yield f"      actual: {_quoted(one.actual)}"
        if len(outcome.differences) > _DIFFERENCES_MAX:
            yield f"  more_differences: {len(outcome.differences) - _DIFFERENCES_MAX}"
    if outcome.provenance:
        yield f"  provenance: {_quoted(outcome.provenance)}"
    if outcome.stderr:
        yield f"  stderr: {_quoted(outcome.stderr.rstrip())}"
    if outcome.wire_log:
        yield f"  wire_log: {_quoted(outcome.wire_log)}"
    # Never clipped: it is there to be run.
    yield f"  repeat: {json.dumps(run.repetition(outcome), ensure_ascii=False)}"
    yield "  ..."


def _quoted(text: str) -> str:
    return json.dumps(said(text), ensure_ascii=False)

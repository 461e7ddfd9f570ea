"""Verdict on a recorded run, from the comparison, the simulator's invariants and TLC."""

from dataclasses import dataclass

from msgspec import UNSET

from kraft_conformance.random_runs.model import explain_rejection, verdict_on
from kraft_conformance.random_runs.notes import FirstDifference
from kraft_conformance.random_runs.running import Recorded, RunSpec
from kraft_conformance.runner.concluding import CORE
from kraft_conformance.runner.outcome import RULES_MAX, Status
from kraft_spec.action_rules import rules_of_event
from kraft_spec.difference import Difference
from kraft_spec.rules import Level
from kraft_traces.check import Rejection, VerdictKind


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on a run."""

    status: Status
    reason: str = ""
    rules: tuple[str, ...] = ()
    first: FirstDifference | None = None
    """First step that differs."""
    differences: tuple[Difference, ...] = ()
    model: str | None = None
    remarks: tuple[str, ...] = ()
    rule_level: Level | None = None


def judge(spec: RunSpec, recorded: Recorded, source: str, *, checks_model: bool) -> Judgement:
    """Return the verdict on a run; `source` is its name in the model's messages."""
    notes, first = recorded.notes, recorded.notes.first
    if notes.undecided is not None:
        return Judgement(Status.UNOBSERVED, notes.undecided)
    if notes.passed and first is not None and first.is_of_timers:
        # A different timer before or after a known difference: no check depends on it.
        first = None
    if first is not None and notes.is_over:
        rejection = explain_rejection(spec.configuration, recorded, source) if checks_model else None
        return _failed(recorded, first, rejection, f"{first.where()}: {first.differences[0]}")
    verdict = verdict_on(spec.configuration, recorded.lines[: recorded.until_known], source) if checks_model else None
    rejection = None if verdict is None else verdict.rejection
    violation = recorded.violation
    if violation is not None and notes.is_known_to_break(violation):
        violation = None
    if violation is not None or rejection is not None:
        headline = str(violation) if violation is not None else str(rejection and rejection.headline())
        if first is not None:
            where = f"{first.where()}: {first.differences[0]}"
            # If the process has ended, its own message is the reason.
            return _failed(recorded, first, rejection, where if first.is_death else f"{headline}; {where}")
        if notes.passed and rejection is None:
            remark = f"only known differences before it: {'; '.join(notes.reasons)}"
            return Judgement(Status.FAIL, headline, remarks=(remark,), rule_level="MUST")
        # No adapter differs from the reference, so the reference is wrong, or the latitude too wide.
        remark = "no step differs from the reference, so this is a defect of kraft-spec: please report it"
        rules = () if rejection is None else rejection.explained_by or rejection.rules[:RULES_MAX]
        return Judgement(Status.FAIL, headline, rules, None, (), None, (remark,), "MUST")
    if notes.passed:
        return Judgement(Status.EXPECTED_FAILURE, "; ".join(notes.reasons))
    wrong = next(filter(None, (durations.find_violation() for durations in notes.durations.values())), None)
    if wrong is not None:
        return Judgement(Status.FAIL, wrong.text, (wrong.rule,), rule_level=wrong.level)
    if verdict is not None and verdict.kind is VerdictKind.INCONCLUSIVE:
        return Judgement(Status.UNOBSERVED, f"the check against the model is inconclusive: {verdict.reason}")
    if not notes.shown:
        return Judgement(Status.UNOBSERVED, "no adapter showed any output")
    unseen = [f"not shown: {name}" for name in CORE if f"state.{name}" in notes.left_out]
    remarks = [*notes.limits, *unseen, *[f"allowed alternative: {reason}" for reason in notes.latitude]]
    if first is not None:
        remarks.append(f"{first.where()}: {first.differences[0]}; no check of this mode depends on it")
    return Judgement(Status.PASS, remarks=tuple(remarks))


def _failed(recorded: Recorded, first: FirstDifference, rejection: Rejection | None, reason: str) -> Judgement:
    rules = first.rules
    if rejection is not None and rejection.sequence == first.sequence:
        # The rules that explain the line in the model are exact; those of the reference come next.
        rules = tuple(dict.fromkeys((*rejection.explained_by, *(rules or rejection.rules))))
    elif not rules and first.event is not None:
        message = recorded.lines[first.sequence - 1].message
        pre_vote = None if message is UNSET else getattr(message, "pre_vote", None)
        rules = rules_of_event(first.event, first.role, pre_vote if isinstance(pre_vote, bool) else None)
    model = None if rejection is None else rejection.headline()
    # A violated invariant or property is always a MUST.
    violates = recorded.violation is not None or (rejection is not None and rejection.properties)
    level = "MUST" if violates else first.rule_level
    remarks = (first.note,) if first.note else ()
    return Judgement(Status.FAIL, reason, rules[:RULES_MAX], first, first.differences, model, remarks, level)

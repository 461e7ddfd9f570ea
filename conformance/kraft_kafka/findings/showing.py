"""Demonstration of a finding: its schedule on the reference and against TLC, and TLC's recorded counterexample."""

from dataclasses import dataclass
from pathlib import Path

from kraft_kafka.findings.finding import Finding, findings_folder
from kraft_mutants.playing import play
from kraft_traces.check.model import LINE_PROPERTIES
from kraft_traces.check.run import check_occurrences
from kraft_traces.check.verdict import RejectionKind, Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class ReplayedFinding:
    """The result of a demonstration."""

    finding: Finding
    verdict: Verdict
    counterexample: str
    problem: str


def verdict_on(finding: Finding) -> Verdict:
    """Return TLC's verdict on the schedule, line by line."""
    scenario, variant = finding.variant()
    ran = play(scenario, variant)
    return check_occurrences(ran.occurrences, ran.configuration, finding.schedule, switched_off=variant.mutants)


def show(finding: Finding) -> ReplayedFinding:
    """Run the schedule and check it with TLC.

    Raises:
        ScenarioFailure: the schedule deviates from its script.
    """
    verdict = verdict_on(finding)
    counterexample = counterexample_file(finding).read_text(encoding="utf-8")
    return ReplayedFinding(finding, verdict, counterexample, _find_problem(finding, verdict))


def _find_problem(finding: Finding, verdict: Verdict) -> str:
    """Return how the verdict contradicts the finding: a line violates safety, and no line liveness."""
    if verdict.kind is VerdictKind.ACCEPTED:
        is_line_property = finding.violates in LINE_PROPERTIES
        return f"no line of the schedule violates {finding.violates}" if is_line_property else ""
    rejection = verdict.rejection
    if rejection is None or rejection.kind is not RejectionKind.PROPERTY:
        verdict_text = verdict.kind.value if rejection is None else rejection.headline()
        return f"the schedule is no behaviour of the model: {verdict_text}"
    if not finding.violates:
        return f"the schedule violates {', '.join(rejection.properties)}, the finding says nothing of that"
    return ""


def counterexample_file(finding: Finding) -> Path:
    """Return the file of TLC's recorded counterexample."""
    return findings_folder() / f"{finding.name}.counterexample.txt"

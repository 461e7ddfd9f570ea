"""Show a finding again: its schedule on the reference and against TLC, and TLC's own counterexample."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.findings.finding import ByCheck, Finding, findings_folder, load_findings
from kraft_conformance.mutation.schedule import hold
from kraft_spec.counterexamples import in_words, text_of
from kraft_spec.experiments import play
from kraft_spec.fingerprint import spec_hash
from kraft_spec.models import find_check, next_actions, run_check
from kraft_spec.mutants import Schedule, gather, load_catalogue
from kraft_spec.mutants import counterexample_of as counterexample_of_mutant
from kraft_spec.tlc.model_report import Progress
from kraft_traces.check.model import LINE_PROPERTIES
from kraft_traces.check.run import check_occurrences
from kraft_traces.check.verdict import RejectionKind, Verdict, VerdictKind
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes

Shows = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding shown again.

    Attributes:
        finding: Which.
        verdict: TLC's verdict on the schedule.
        counterexample: TLC's counterexample as text.
        problem: Why this is not what the finding says; empty if it is.
    """

    finding: Finding
    verdict: Verdict
    counterexample: str
    problem: str


def trace_of(finding: Finding) -> bytes:
    """The trace of the finding's schedule, made now.

    Raises:
        ScenarioFailure: The schedule does not go as its script says.
    """
    scenario, variant = finding.variant()
    ran = play(scenario, variant)
    generator = own_generator(workload=finding.schedule)
    off = variant.without
    return b"".join(trace_bytes(ran.occurrences, ran.configuration, generator, spec_hash=spec_hash(), switched_off=off))


def verdict_on(finding: Finding) -> Verdict:
    """What TLC says of the schedule, line by line."""
    scenario, variant = finding.variant()
    ran = play(scenario, variant)
    return check_occurrences(ran.occurrences, ran.configuration, finding.schedule, switched_off=variant.without)


def counterexample_of(finding: Finding, on_progress: Shows | None = None) -> tuple[str, str]:
    """TLC's counterexample as text, and why it is not the one that is meant (empty if it is).

    Raises:
        FindingError, EditError, ModelCheckError, JarMissing, JarMismatch, JavaMissing: It cannot be run.
        ValueTextError: A state is not printed as TLC prints values.
    """
    found_by = finding.found_by()
    if isinstance(found_by, ByCheck):
        report = run_check(find_check(found_by.check), on_progress)
        return text_of(in_words(report.report, next_actions())), _not(found_by.property, report.report.violated)
    mutant = load_catalogue()[found_by.mutant]
    if isinstance(mutant.evidence, Schedule):
        held = hold(mutant)
        text = f"violated: {', '.join(held.violated)}\nby line {held.lines} of {held.schedule}, held to by TLC\n"
        return text, held.problem or _not(found_by.property, " ".join(held.violated))
    gathered = gather(mutant, on_progress)
    found = gathered.searches[0].report
    return text_of(counterexample_of_mutant(mutant, found)), gathered.problem or _not(found_by.property, found.violated)


def _not(expected: str, violated: str) -> str:
    """Why these are not the violated properties that are meant; empty if they are."""
    return "" if expected in violated.split() else f"TLC finds {violated or 'nothing'} violated, expected {expected}"


def show(finding: Finding, on_progress: Shows | None = None) -> Shown:
    """Run the schedule, check it with TLC, and look for TLC's counterexample.

    Raises:
        As `counterexample_of` and `trace_of`.
    """
    verdict = verdict_on(finding)
    text, problem = counterexample_of(finding, on_progress)
    return Shown(finding, verdict, text, problem or _problem(finding, verdict))


def _problem(finding: Finding, verdict: Verdict) -> str:
    """Safety is violated on a line; progress that never comes, on none."""
    if verdict.kind is VerdictKind.ACCEPTED:
        seen_on_a_line = {name for name, _ in LINE_PROPERTIES} & {finding.violates}
        return f"no line of the schedule violates {finding.violates}" if seen_on_a_line else ""
    rejection = verdict.rejection
    if rejection is None or rejection.kind is not RejectionKind.PROPERTY:
        said = verdict.kind.value if rejection is None else rejection.headline()
        return f"the schedule is no behaviour of the model: {said}"
    if not finding.violates:
        return f"the schedule violates {', '.join(rejection.properties)}, the finding says nothing of that"
    return ""


def trace_file(finding: Finding) -> Path:
    """Where the finding's trace is recorded."""
    return findings_folder() / f"{finding.name}.jsonl"


def counterexample_file(finding: Finding) -> Path:
    """Where TLC's counterexample is recorded."""
    return findings_folder() / f"{finding.name}.counterexample.txt"


def record_all() -> None:
    """Record the traces and the counterexamples of all findings again."""
    for finding in load_findings():
        trace_file(finding).write_bytes(trace_of(finding))
        text, _ = counterexample_of(finding)
        counterexample_file(finding).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record_all()

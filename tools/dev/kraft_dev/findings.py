"""Renewed search for TLC's counterexamples of the findings: of all, to record them, or of one (`... findings NAME`)."""

import sys

from kraft_dev.mutants.evidence import run_evidence
from kraft_dev.mutants.recorded import steps_in_words
from kraft_kafka.findings.finding import Finding, find_finding, load_findings
from kraft_kafka.findings.showing import counterexample_file, show
from kraft_mutants import load_catalogue
from kraft_mutants.models import mutated_model
from kraft_spec.counterexamples import in_words, text_of
from kraft_spec.models import find_check, next_actions, run_check


def counterexample_of(finding: Finding) -> tuple[str, str]:
    """Return TLC's counterexample as text, and why it is not the expected one (empty if it is).

    Raises:
        FindingError, EditError, ModelCheckError, JarMissing, JarMismatch, JavaMissing: It cannot be run.
        ValueTextError: A state is not printed as TLC prints values.
    """
    found_by = finding.counterexample
    if found_by.check:
        check = find_check(found_by.check)
        with mutated_model(check.mutants) as directory:
            report = run_check(check, directory=directory)
        return text_of(in_words(report.report, next_actions())), _not(found_by.property, report.report.violated)
    cell = run_evidence(load_catalogue()[found_by.mutant])
    otherwise = cell.problem or _not(found_by.property, cell.what)
    if cell.counterexample:
        return steps_in_words(cell.counterexample), otherwise
    violated = cell.what.replace(" and ", ", ")
    return f"violated: {violated}\nby line {cell.amount} of {cell.where}, held to by TLC\n", otherwise


def _not(expected: str, violated: str) -> str:
    """Return why the violated properties are not the expected ones; empty if they are."""
    return "" if expected in violated.split() else f"TLC finds {violated or 'nothing'} violated, expected {expected}"


def show_again(name: str) -> int:
    """Play the schedule of a finding, and have TLC search its counterexample; return 1 if either is unexpected.

    Raises:
        FindingError: There is no such finding.
    """
    finding = find_finding(name)
    text, otherwise = counterexample_of(finding)
    problems = [problem for problem in (show(finding).problem, otherwise) if problem]
    print(text.splitlines()[0], *problems, sep="\n")
    return 1 if problems else 0


def record_all() -> int:
    """Record the counterexamples of all findings; return 1 if one is unexpected, which is not recorded."""
    problems = 0
    for finding in load_findings():
        text, problem = counterexample_of(finding)
        if problem:
            problems += 1
            print(f"{finding.name}: {problem}", file=sys.stderr)
        else:
            counterexample_file(finding).write_text(text, encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(show_again(*sys.argv[1:]) if sys.argv[1:] else record_all())

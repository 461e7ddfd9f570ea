"""TLC's counterexamples of the findings, looked for anew: those of all recorded, or one shown (`... findings NAME`)."""

import sys

from kraft_dev.mutants.evidence import run_evidence
from kraft_dev.mutants.recorded import shown
from kraft_kafka.findings.finding import Finding, find_finding, load_findings
from kraft_kafka.findings.showing import counterexample_file, show
from kraft_mutants import load_catalogue
from kraft_mutants.models import mutated_model
from kraft_spec.counterexamples import in_words, text_of
from kraft_spec.models import find_check, next_actions, run_check


def counterexample_of(finding: Finding) -> tuple[str, str]:
    """TLC's counterexample as text, and why it is not the one that is meant (empty if it is).

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
    found = run_evidence(load_catalogue()[found_by.mutant])
    otherwise = found.problem or _not(found_by.property, found.what)
    if found.counterexample:
        return shown(found.counterexample), otherwise
    violated = found.what.replace(" and ", ", ")
    return f"violated: {violated}\nby line {found.amount} of {found.where}, held to by TLC\n", otherwise


def _not(expected: str, violated: str) -> str:
    """Why these are not the violated properties that are meant; empty if they are."""
    return "" if expected in violated.split() else f"TLC finds {violated or 'nothing'} violated, expected {expected}"


def show_again(name: str) -> int:
    """Play the schedule of a finding again, and have TLC look for its counterexample; 1 if either is not what is meant.

    Raises:
        FindingError: There is no such finding.
    """
    finding = find_finding(name)
    text, otherwise = counterexample_of(finding)
    problems = [problem for problem in (show(finding).problem, otherwise) if problem]
    print(text.splitlines()[0], *problems, sep="\n")
    return 1 if problems else 0


def record_all() -> int:
    """Record the counterexamples of all findings again; the exit code is 1 if one is not what is meant, and is left."""
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

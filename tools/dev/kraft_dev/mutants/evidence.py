"""Evidence of mutants: the violation that TLC reports in the broken model, and the table of the safety rules."""

from collections.abc import Iterable, Iterator, Sequence
from time import monotonic

import msgspec

from kraft_dev.markdown import Section, code
from kraft_dev.mutants.recorded import recorded_counterexample, recorded_text
from kraft_dev.mutants.searching import follow_schedule, search
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import Means
from kraft_dev.results import Cell
from kraft_mutants import Exhaustive, Mutant, Schedule
from kraft_mutants.evidence import VERDICTS, Row
from kraft_reference.profile import KIP


def run_evidence(mutant: Mutant, *, profile: str = KIP.name, workers: int = 1) -> Cell:
    """Run the evidence of one mutant; a schedule has its own profile.

    Raises:
        MutantError: It has no evidence.
        EditError: An edit does not fit the sources.
        ChildError, ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
        ValueTextError: A counterexample is not printed as TLC prints values.
    """
    started = monotonic()
    held = isinstance(mutant.evidence, Schedule)
    cell = follow_schedule(mutant) if held else search(mutant, profile=profile, workers=workers)
    return msgspec.structs.replace(cell, seconds=round(monotonic() - started, 1))


def run_tlc(subject: Subject, means: Means) -> Iterator[Cell]:
    """Run the evidence of a mutant, and compare the counterexample with the recorded one.

    Raises:
        MutantError: No counterexample of an exhaustive search is recorded; and as `run_evidence`.
    """
    assert subject.mutant is not None, "the tool applies to mutants of the catalogue alone"
    cell = run_evidence(subject.mutant, profile=means.profile, workers=means.workers)
    if means.profile == KIP.name and not (means.records or cell.problem):
        cell = msgspec.structs.replace(cell, problem=difference_from_recorded(subject.mutant, cell))
    yield cell


def difference_from_recorded(mutant: Mutant, cell: Cell) -> str:
    """Return why the counterexample is not the recorded one; empty if it is, or if none is recorded.

    Raises:
        MutantError: An exhaustive search has no recorded counterexample.
    """
    if not isinstance(mutant.evidence, Exhaustive):
        return ""
    if cell.counterexample == recorded_text(recorded_counterexample(mutant.name)):
        return ""
    return "not the recorded counterexample; if the change is meant: make counterexamples"


def safety_rules_section(listed: Sequence[Row]) -> Section:
    """Return the table of safety rules."""
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdict_counts(listed).items())
    words = (
        f"{len({row.rule for row in listed})} safety rules: {counted}.",
        "`python -m kraft_dev mutants --tool evidence` runs every line of this table, "
        "and `python -m kraft_dev mutants RULE --tool evidence --show` prints the counterexample of one.",
        "Each safety rule of elections, voter changes and reassignment is broken in the model, "
        "and TLC reports the violated property.",
        "*alone*: breaking this rule alone is enough.",
        "*together*: the counterexample also breaks the named rules.",
        "*covered*: no counterexample for this mutant, because of the named rules.",
        "A rule may be listed more than once: it can be broken in several ways, and other rules compensate for some.",
    )
    return Section("Safety rules", words, ("rule", "without it", "verdict", "evidence"), tuple(map(_cells, listed)))


def _cells(row: Row) -> tuple[str, ...]:
    bug = "" if row.mutant is None else f"{row.mutant.bug} (`{row.mutant.name}`)"
    return code(row.rule), bug, row.verdict, row.explanation


def verdict_counts(listed: Iterable[Row]) -> dict[str, int]:
    """Return the number of rules by verdict: the first of `VERDICTS` that one of their mutants has."""
    verdicts: dict[str, set[str]] = {}
    for row in listed:
        verdicts.setdefault(row.rule, set()).add(row.verdict)
    best = [next(verdict for verdict in VERDICTS if verdict in of_rule) for of_rule in verdicts.values()]
    return {verdict: best.count(verdict) for verdict in VERDICTS}

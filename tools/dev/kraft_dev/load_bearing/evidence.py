"""Run the evidence of the mutants: what TLC finds wrong without each safety rule, and the table of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import monotonic

from kraft_dev.load_bearing.recorded import recorded_counterexample
from kraft_dev.load_bearing.searching import Found, hold, search
from kraft_dev.markdown import Section, code, page
from kraft_mutants import Exhaustive, Mutant, Schedule
from kraft_mutants.load_bearing import VERDICTS, Row
from kraft_reference.profile import KIP
from kraft_spec.tlc.model_report import Progress


def run_evidence(
    mutant: Mutant,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    profile: str = KIP.name,
    workers: int = 1,
) -> Found:
    """Run the evidence of one mutant; a schedule has its own profile.

    Raises:
        MutantError: It has none.
        EditError: An edit does not fit the sources any more.
        ChildError, ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
        ValueTextError: A counterexample is not printed as TLC prints values.
    """
    started = monotonic()
    if isinstance(mutant.evidence, Schedule):
        found = hold(mutant)
    else:
        found = search(mutant, on_progress, profile=profile, workers=workers)
    return replace(found, seconds=monotonic() - started)


def not_as_recorded(mutant: Mutant, found: Found) -> str:
    """Why what was found is not the counterexample on the rule's page; empty if it is, or if none is recorded.

    Raises:
        MutantError: None is recorded of an exhaustive search.
    """
    if not isinstance(mutant.evidence, Exhaustive) or found.counterexample == recorded_counterexample(mutant.name):
        return ""
    return "not the recorded counterexample; if the change is meant: make counterexamples"


def safety_rules_section(listed: Sequence[Row]) -> Section:
    """The table of safety rules."""
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdict_counts(listed).items())
    title = f"{len({row.rule for row in listed})} safety rules: {counted}"
    return Section(title, (), ("rule", "without it", "verdict", "how it is known"), tuple(map(_cells, listed)))


def markdown(listed: Sequence[Row]) -> str:
    """The same as a page of the site."""
    words = (
        "`python -m kraft_dev load-bearing all` runs every line of this table.",
        "`python -m kraft_dev load-bearing RULE --show` prints the counterexample as the rule's page has it.",
        "",
        "Each safety rule of elections, voter changes and reassignment is taken out of the model, "
        "and TLC says what that breaks.",
        "*load-bearing*: breaking this rule alone is enough.",
        "*together*: the counterexample breaks other rules too, which are named.",
        "*covered*: no counterexample by this way of breaking the rule, because of the rules named.",
        "A rule may stand here more than once: it can be broken in several ways, some of which others make good.",
    )
    return page("Load-bearing rules", words, [safety_rules_section(listed)])


def _cells(row: Row) -> tuple[str, ...]:
    bug = "" if row.mutant is None else f"{row.mutant.bug} (`{row.mutant.name}`)"
    return code(row.rule), bug, row.verdict, row.explanation


def verdict_counts(listed: Iterable[Row]) -> dict[str, int]:
    """How many rules have which verdict: the first of `VERDICTS` that one of their mutants has."""
    verdicts: dict[str, set[str]] = {}
    for row in listed:
        verdicts.setdefault(row.rule, set()).add(row.verdict)
    best = [next(verdict for verdict in VERDICTS if verdict in of_rule) for of_rule in verdicts.values()]
    return {verdict: best.count(verdict) for verdict in VERDICTS}

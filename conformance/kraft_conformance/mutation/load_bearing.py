"""Which safety rules carry weight: for each the mutant without it, and what TLC finds wrong with that."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from kraft_conformance.mutation.schedule import hold
from kraft_spec.counterexamples import Counterexample
from kraft_spec.mutants import (
    Catalogue,
    Covered,
    Exhaustive,
    Mutant,
    Schedule,
    Simulated,
    counterexample_of,
    gather,
    recorded_counterexample,
)
from kraft_spec.rules import Registry
from kraft_spec.tlc.model_report import Progress

VERDICTS = ("load-bearing", "together", "covered", "not modelled")
"""A rule that breaks something when it alone is broken; only together with others; not, because others do its work."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of safety rules, before anything runs.

    Attributes:
        rule: Id of the safety rule.
        mutant: The mutant that breaks it; None if the model does not have the rule.
        reason: Why it is not modelled, or what covers it; empty for a rule with a counterexample.
    """

    rule: str
    mutant: Mutant | None
    reason: str

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.mutant is None:
            return "not modelled"
        if isinstance(self.mutant.evidence, Covered):
            return "covered"
        return "load-bearing" if len(self.mutant.rules) == 1 else "together"

    @property
    def how(self) -> str:
        """How the counterexample is found, and the property that it breaks."""
        match None if self.mutant is None else self.mutant.evidence:
            case Exhaustive(check=check, property=violated, states=states):
                return f"{self._others}search of {check}: {violated} after {states} states"
            case Schedule(scenario=scenario, property=violated) if scenario:
                return f"{self._others}scenario {scenario}: {violated}"
            case Schedule(workload=workload, property=violated):
                return f"{self._others}a run of {workload}: {violated}"
            case Simulated(property=violated):
                return f"{self._others}random behaviours: {violated}"
            case Covered(rules=rules):
                return f"covered by {', '.join(rules)}"
        return ""

    @property
    def bug(self) -> str:
        """What the model does without the rule; empty if it is not modelled."""
        return "" if self.mutant is None else self.mutant.bug

    @property
    def explanation(self) -> str:
        """How the verdict is known, and why."""
        return " ".join("; ".join(filter(None, (self.how, self.reason))).split())

    @property
    def _others(self) -> str:
        """The rules that are broken with it."""
        others = () if self.mutant is None else self.mutant.rules[1:]
        return f"with {', '.join(others)}: " if others else ""


@dataclass(frozen=True, slots=True)
class Found:
    """What running a mutant's evidence found.

    Attributes:
        mutant: Its name.
        violated: Property that TLC finds violated; empty for a covered rule.
        length: States or lines up to the violation; 0 without one.
        where: Slices searched, or the schedule.
        problem: Why this is not what the mutant states; empty if it is.
        seconds: Duration.
        counterexample: Step by step, where a search found one; a schedule is one by itself.
    """

    mutant: str
    violated: str
    length: int
    where: str
    problem: str
    seconds: float
    counterexample: Counterexample | None = None


def with_evidence(catalogue: Catalogue) -> tuple[Mutant, ...]:
    """The mutants that say what the broken model violates."""
    return tuple(mutant for mutant in catalogue.mutants if mutant.evidence is not None)


def rows(catalogue: Catalogue, registry: Registry, later: Iterable[str] = ()) -> tuple[Row, ...]:
    """One row or more for each safety rule that holds, in the registry's order, without those that come later.

    A rule that nobody accounts for gets a row that says so.
    """
    skipped = set(later)
    reasons = {gap.rule: gap.reason for gap in catalogue.not_modelled}
    found: list[Row] = []
    for rule in registry:
        if not rule.safety or not rule.is_active or rule.id in skipped:
            continue
        mutants = [mutant for mutant in with_evidence(catalogue) if mutant.rules[0] == rule.id]
        found += [Row(rule.id, mutant, _reason(mutant)) for mutant in mutants]
        if not mutants:
            found.append(Row(rule.id, None, reasons.get(rule.id, "NOT ACCOUNTED FOR")))
    return tuple(found)


def rows_about(rule_id: str, catalogue: Catalogue) -> tuple[Row, ...]:
    """The rows of the mutants that break a rule, alone or with others, whatever rule they are about."""
    about = [mutant for mutant in with_evidence(catalogue) if rule_id in mutant.rules]
    return tuple(Row(mutant.rules[0], mutant, _reason(mutant)) for mutant in about)


def _reason(mutant: Mutant) -> str:
    return mutant.evidence.reason if isinstance(mutant.evidence, Covered) else ""


def run_evidence(
    mutant: Mutant,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    workers: int = 1,
    heap_megabytes: int | None = None,
    clock: Callable[[], float] = monotonic,
) -> Found:
    """Run the evidence of one mutant.

    Raises:
        MutantError: It has none.
        EditError: An edit does not fit the sources any more.
        ScheduleError, ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
        ValueTextError: A counterexample is not printed as TLC prints values.
    """
    started = clock()
    if isinstance(mutant.evidence, Schedule):
        held = hold(mutant)
        violated = " and ".join(held.violated)
        return Found(mutant.name, violated, held.lines, held.schedule, held.problem, clock() - started)
    report = gather(mutant, on_progress, workers=workers, heap_megabytes=heap_megabytes)
    violated = " and ".join(search.violated for search in report.searches if search.violated)
    length = max((search.states for search in report.searches), default=0)
    where = ", ".join(search.check for search in report.searches)
    shown = next((counterexample_of(mutant, search.report) for search in report.searches if search.violated), None)
    return Found(mutant.name, violated, length, where, report.problem, clock() - started, shown)


def not_as_recorded(mutant: Mutant, found: Found) -> str:
    """Why what was found is not the counterexample on the rule's page; empty if it is, or if none is recorded.

    Raises:
        MutantError: None is recorded of an exhaustive search.
    """
    if not isinstance(mutant.evidence, Exhaustive) or found.counterexample == recorded_counterexample(mutant.name):
        return ""
    return "not the recorded counterexample; if the change is meant: make counterexamples"


def markdown(listed: Iterable[Row]) -> str:
    """The table of safety rules as a page; a test compares it with docs/load-bearing.md."""
    chosen = tuple(listed)
    lines = [
        "# Load-bearing rules",
        "",
        "Generated by `kraft-spec load-bearing --page`; `kraft-spec load-bearing all` runs every line of it.",
        "`kraft-spec load-bearing RULE --show` prints the counterexample step by step, as the rule's page has it.",
        "",
        "Each safety rule of elections, voter changes and reassignment is taken out of the model, "
        "and TLC says what that breaks.",
        "*load-bearing*: breaking this rule alone is enough.",
        "*together*: the counterexample breaks other rules too, which are named.",
        "*covered*: no counterexample by this way of breaking the rule, because of the rules named.",
        "A rule may stand here more than once: it can be broken in several ways, some of which others make good.",
        "",
        *(f"- {count} {verdict}" for verdict, count in verdict_counts(chosen).items()),
        "",
        "| rule | without it | verdict | how it is known |",
        "|---|---|---|---|",
    ]
    for row in chosen:
        bug = "" if row.mutant is None else f"{row.mutant.bug} (`{row.mutant.name}`)"
        lines.append(f"| `{row.rule}` | {_cell(bug)} | {row.verdict} | {_cell(row.explanation)} |")
    return "\n".join(lines) + "\n"


def verdict_counts(listed: Iterable[Row]) -> dict[str, int]:
    """How many rules have which verdict: the first of `VERDICTS` that one of their mutants has."""
    verdicts: dict[str, set[str]] = {}
    for row in listed:
        verdicts.setdefault(row.rule, set()).add(row.verdict)
    best = [next(verdict for verdict in VERDICTS if verdict in of_rule) for of_rule in verdicts.values()]
    return {verdict: best.count(verdict) for verdict in VERDICTS}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""The evidence of each safety rule: the mutants that break it, and what TLC finds violated then."""

from collections.abc import Iterable
from dataclasses import dataclass

from kraft_mutants.catalogue import Catalogue
from kraft_mutants.mutant import Covered, Exhaustive, Mutant, Schedule
from kraft_spec.rules import Registry

VERDICTS = ("alone", "together", "covered", "not modelled")
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
        return "alone" if len(self.mutant.rules) == 1 else "together"

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


def with_evidence(catalogue: Catalogue) -> tuple[Mutant, ...]:
    """The mutants that say what the broken model violates."""
    return tuple(mutant for mutant in catalogue.mutants if mutant.evidence is not None)


def rows(catalogue: Catalogue, registry: Registry, outside: Iterable[str] = ()) -> tuple[Row, ...]:
    """One row or more for each safety rule that holds, in the registry's order, without those `outside`.

    A rule that nobody accounts for gets a row that says so.
    """
    skipped = set(outside)
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

"""Table of the safety rules: the mutant that breaks each, and the property that TLC then finds violated."""

from collections.abc import Iterable
from dataclasses import dataclass

from kraft_mutants.catalogue import Catalogue
from kraft_mutants.mutant import Covered, Exhaustive, Mutant, Schedule
from kraft_spec.rules import Registry

VERDICTS = ("alone", "together", "covered", "not modelled")
"""Breaking the rule violates a property; only with other rules; none, as other rules keep it; it is not modelled."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of safety rules, from the catalogue alone.

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
        """Verdict of the row, from `VERDICTS`."""
        if self.mutant is None:
            return "not modelled"
        if isinstance(self.mutant.evidence, Covered):
            return "covered"
        return "alone" if len(self.mutant.rules) == 1 else "together"

    @property
    def how(self) -> str:
        """Search that finds the counterexample, and the property that it violates."""
        match None if self.mutant is None else self.mutant.evidence:
            case Exhaustive(check=check, property=violated, states=states):
                return f"{self._with_other_rules}search of {check}: {violated} after {states} states"
            case Schedule(scenario=scenario, property=violated) if scenario:
                return f"{self._with_other_rules}scenario {scenario}: {violated}"
            case Schedule(workload=workload, property=violated):
                return f"{self._with_other_rules}a run of {workload}: {violated}"
            case Covered(rules=rules):
                return f"covered by {', '.join(rules)}"
        return ""

    @property
    def bug(self) -> str:
        """Bug of the model without the rule; empty if it is not modelled."""
        return "" if self.mutant is None else self.mutant.bug

    @property
    def explanation(self) -> str:
        """Evidence for the verdict, and its reason."""
        return " ".join("; ".join(filter(None, (self.how, self.reason))).split())

    @property
    def _with_other_rules(self) -> str:
        """Prefix that lists the rules broken with it."""
        rules = () if self.mutant is None else self.mutant.rules[1:]
        return f"with {', '.join(rules)}: " if rules else ""


def with_evidence(catalogue: Catalogue) -> tuple[Mutant, ...]:
    """Return the mutants with evidence."""
    return tuple(mutant for mutant in catalogue.mutants if mutant.evidence is not None)


def rows(catalogue: Catalogue, registry: Registry, outside: Iterable[str] = ()) -> tuple[Row, ...]:
    """Return the rows of all active safety rules, in the registry's order, without those of `outside`.

    A rule without a mutant or a recorded reason gets a row that says so.
    """
    skipped = set(outside)
    reasons = {gap.rule: gap.reason for gap in catalogue.not_modelled}
    table: list[Row] = []
    for rule in registry:
        if not rule.safety or not rule.is_active or rule.id in skipped:
            continue
        mutants = [mutant for mutant in with_evidence(catalogue) if mutant.rules[0] == rule.id]
        table += [Row(rule.id, mutant, _reason(mutant)) for mutant in mutants]
        if not mutants:
            table.append(Row(rule.id, None, reasons.get(rule.id, "NOT ACCOUNTED FOR")))
    return tuple(table)


def rows_about(rule_id: str, catalogue: Catalogue) -> tuple[Row, ...]:
    """Return the rows of the mutants that break a rule, alone or with others."""
    about = [mutant for mutant in with_evidence(catalogue) if rule_id in mutant.rules]
    return tuple(Row(mutant.rules[0], mutant, _reason(mutant)) for mutant in about)


def _reason(mutant: Mutant) -> str:
    return mutant.evidence.reason if isinstance(mutant.evidence, Covered) else ""

"""What a site may not show: a name that no rule has, and a MUST rule that nothing stands behind and nobody says why."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from tools.site.facts import RuleFacts

from kraft_spec.rules.citations import CitationReport


class EvidenceError(ValueError):
    """Rules are named that do not exist, or lack an implementation, a model or a vector, and nobody says why.

    Attributes:
        lines: one for each place, or each rule and what it lacks.
    """

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def lacking(facts: RuleFacts) -> tuple[str, ...]:
    """What a MUST rule that holds lacks without a stated reason, a line each with where to state it."""
    rule = facts.rule
    if rule.level != "MUST" or not rule.is_active:
        return ()
    lines = []
    if not facts.implementation and not facts.implementation_reason:
        lines.append(f"{rule.id}: no implementation names it, and spec/kraft_spec/rules/scope.toml gives no reason")
    if not facts.model and not facts.model_reason:
        lines.append(f"{rule.id}: no TLA+ names it, and spec/kraft_spec/rules/scope.toml gives no reason")
    if not facts.vectors and not facts.vector_reason:
        lines.append(
            f"{rule.id}: no vector is about it, and conformance/kraft_vectors/without_vector.toml gives no reason"
        )
    return tuple(lines)


def require_evidence(facts: Iterable[RuleFacts]) -> None:
    """Insist that no rule lacks anything.

    Raises:
        EvidenceError: with everything that is lacking.
    """
    if lines := tuple(line for each in facts for line in lacking(each)):
        raise EvidenceError(lines)


def require_names(report: CitationReport, others: Collection[str]) -> None:
    """Insist that what reads like the id of a rule is one, and that every exemption is needed.

    Args:
        report: of all places that name rules.
        others: what may read so and is none: the ids of vectors.

    Raises:
        EvidenceError: with every place, and what was probably meant.
    """
    unknown = tuple(place for place in report.unknown if place.rule_id not in others)
    if lines := replace(report, unknown=unknown).problems():
        raise EvidenceError(lines)

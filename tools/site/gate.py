"""Checks that fail the build: a name that is not a rule, or a MUST rule without evidence or a stated reason."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from tools.site.facts import RuleFacts

from kraft_spec.rules.citations import CitationReport


class EvidenceError(ValueError):
    """A name that is not a rule, or a rule without an implementation, a model or a vector and without a stated reason.

    Attributes:
        lines: One line for each citation, or for each missing piece of evidence.
    """

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def missing_evidence(facts: RuleFacts) -> tuple[str, ...]:
    """Return a line for each piece of evidence that a MUST rule lacks, with the place to state a reason."""
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
    """Check that no rule lacks evidence.

    Raises:
        EvidenceError: Evidence is missing; all of it is listed.
    """
    if lines := tuple(line for each in facts for line in missing_evidence(each)):
        raise EvidenceError(lines)


def require_names(report: CitationReport, vector_ids: Collection[str]) -> None:
    """Check that everything that reads like a rule id is one, and that every exemption is needed.

    Args:
        report: Citations of rules.
        vector_ids: Ids of vectors, which read like rule ids.

    Raises:
        EvidenceError: Unknown names; each is listed with its place and the closest rule.
    """
    unknown = tuple(place for place in report.unknown if place.rule_id not in vector_ids)
    if lines := replace(report, unknown=unknown).problems():
        raise EvidenceError(lines)

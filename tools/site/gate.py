"""A rule with the level MUST that nothing stands behind, and no reason why, is no rule that a site may show."""

from collections.abc import Iterable

from tools.site.facts import RuleFacts


class EvidenceError(ValueError):
    """Rules lack an implementation, a model or a vector, and nobody says why.

    Attributes:
        lines: one for each rule and what it lacks.
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
            f"{rule.id}: no vector is about it, and "
            "conformance/kraft_conformance/vectors/without_vector.toml gives no reason"
        )
    return tuple(lines)


def require_evidence(facts: Iterable[RuleFacts]) -> None:
    """Insist that no rule lacks anything.

    Raises:
        EvidenceError: with everything that is lacking.
    """
    if lines := tuple(line for each in facts for line in lacking(each)):
        raise EvidenceError(lines)

"""Which rules have a vector, and why others have none."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from kraft_conformance.vectors.format import ManifestEntry
from kraft_spec.rules import Rule, load_registry


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """One rule that holds."""

    rule: Rule
    vectors: tuple[str, ...]
    """Ids."""
    reason: str
    """Why there is none; empty where there is one, or nothing is said."""


class CoverageListError(ValueError):
    """without_vector.toml names what it must not."""


def read_reasons() -> dict[str, str]:
    """The reasons by rule, or by a prefix that ends in `.*`.

    Raises:
        CoverageListError: an entry fits no rule, or stands there twice.
    """
    text = files("kraft_conformance").joinpath("vectors", "without_vector.toml").read_text(encoding="utf-8")
    registry = load_registry()
    reasons: dict[str, str] = {}
    for entry in tomllib.loads(text)["without"]:
        rules = entry["rules"]
        if rules in reasons or not any(_fits(rules, rule.id) for rule in registry):
            raise CoverageListError(f"without_vector.toml: {rules!r} is there twice, or fits no rule")
        reasons[rules] = entry["reason"]
    return reasons


def rule_coverage(entries: Iterable[ManifestEntry]) -> tuple[RuleCoverage, ...]:
    """Every rule that holds, with its vectors or the reason why it has none.

    Raises:
        CoverageListError: see `read_reasons`.
    """
    reasons = read_reasons()
    vectors: dict[str, list[str]] = {}
    for entry in entries:
        for rule_id in entry.rules:
            vectors.setdefault(rule_id, []).append(entry.id)
    covered = []
    for rule in load_registry():
        if rule.is_active:
            said = next((reason for rules, reason in reasons.items() if _fits(rules, rule.id)), "")
            covered.append(RuleCoverage(rule, tuple(vectors.get(rule.id, ())), said))
    return tuple(covered)


def _fits(rules: str, rule_id: str) -> bool:
    return rule_id.startswith(rules[:-1]) if rules.endswith(".*") else rule_id == rules

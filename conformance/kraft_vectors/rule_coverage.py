"""Vectors of each rule, and the reasons of rules without one."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from kraft_spec.rules import Rule, load_registry
from kraft_vectors.manifest import ManifestEntry

_FILE = "without_vector.toml"


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """An active rule with its vectors."""

    rule: Rule
    vectors: tuple[str, ...]
    """Ids of its vectors."""
    reason: str
    """Reason why there is no vector; empty if there is one, or no reason is recorded."""


class CoverageListError(ValueError):
    """without_vector.toml is malformed."""


def read_reasons() -> dict[str, str]:
    """Return the reasons in without_vector.toml by rule id.

    Raises:
        CoverageListError: as `reasons_from`.
    """
    return reasons_from(files("kraft_vectors").joinpath(_FILE).read_text(encoding="utf-8"))


def reasons_from(text: str) -> dict[str, str]:
    """Return the reasons in a text like without_vector.toml by rule id.

    Raises:
        CoverageListError: an entry has no ids or no reason, or names an unknown or inactive rule, or a rule twice.
    """
    registry = load_registry()
    holding = {rule.id for rule in registry if rule.is_active}
    reasons: dict[str, str] = {}
    for number, entry in enumerate(tomllib.loads(text).get("without", ()), 1):
        where = f"{_FILE}: entry {number}"
        rules, reason = entry.get("rules"), entry.get("reason")
        if not isinstance(rules, list) or not rules:
            raise CoverageListError(f"{where}: rules: {rules!r}, expected a list of ids of rules")
        if not isinstance(reason, str) or not reason:
            raise CoverageListError(f"{where}: reason: {reason!r}, expected a text")
        for rule in rules:
            if "*" in str(rule):
                raise CoverageListError(f"{where}: rules: {rule!r} is a wildcard, expected the id of each rule")
            if rule not in holding:
                raise CoverageListError(f"{where}: rules: {rule!r}, expected the id of a rule that holds")
            if rule in reasons:
                raise CoverageListError(f"{where}: rules: {rule!r} has a reason already, expected it once")
            reasons[rule] = reason
    return reasons


def rule_coverage(entries: Iterable[ManifestEntry]) -> tuple[RuleCoverage, ...]:
    """Return every active rule with its vectors, or the reason why it has none.

    Raises:
        CoverageListError: see `read_reasons`.
    """
    reasons = read_reasons()
    vectors: dict[str, list[str]] = {}
    for entry in entries:
        for rule_id in entry.rules:
            vectors.setdefault(rule_id, []).append(entry.id)
    return tuple(
        [
            RuleCoverage(rule, tuple(vectors.get(rule.id, ())), reasons.get(rule.id, ""))
            for rule in load_registry()
            if rule.is_active
        ]
    )

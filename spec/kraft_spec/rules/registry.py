"""The registry: all rules of all catalogues, by id, group and prefix."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from kraft_spec.rules.reading import read_catalogue
from kraft_spec.rules.rule import Rule, RuleFileError, UnknownRuleError
from kraft_spec.rules.rule_ids import RuleIds, dotted_words
from kraft_spec.rules.vocabulary import LEVELS, LOOK_ALIKES, Level

CATALOGUES = ("election.toml", "membership.toml")
"""Catalogue files of the package, in listing order."""

_TEXTS = ("title", "statement", "breaks_text", "kafka", "open", "example")
_FIELD_OF_TEXT = {"breaks_text": "breaks"}


@dataclass(frozen=True, slots=True)
class Registry:
    """All rules, from `load_registry`, or from `Registry.of` for rules read elsewhere.

    Attributes:
        by_id: each rule under its id, in the order of the catalogues.
        ids: the ids prepared for recognition in text.
    """

    by_id: Mapping[str, Rule]
    ids: RuleIds

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> "Registry":
        """Check constraints between rules, and index them.

        Raises:
            RuleFileError: two rules share an id, or `by` or a text names an unknown id.
        """
        by_id: dict[str, Rule] = {}
        for rule in rules:
            if rule.id in by_id:
                other = by_id[rule.id].catalogue
                raise RuleFileError(
                    f"{rule.catalogue}.toml", rule.id, "id", f"duplicate, the id is taken in {other}.toml"
                )
            by_id[rule.id] = rule
        ids = RuleIds.of(by_id)
        for rule in by_id.values():
            _check_references(rule, ids)
        return cls(MappingProxyType(by_id), ids)

    def __iter__(self) -> Iterator[Rule]:
        """Yield the rules in the order of the catalogues."""
        return iter(self.by_id.values())

    def __len__(self) -> int:
        """Return the number of rules, including superseded and retired ones."""
        return len(self.by_id)

    def __contains__(self, rule_id: object) -> bool:
        """Return True if a rule has this id."""
        return rule_id in self.by_id

    def __getitem__(self, rule_id: str) -> Rule:
        """Return the rule with this id.

        Raises:
            UnknownRuleError: there is none; the error suggests similar ids.
        """
        rule = self.by_id.get(rule_id)
        if rule is None:
            raise UnknownRuleError(rule_id, self.ids.near(rule_id))
        return rule

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups (id up to the first dot), in order of their first rule."""
        return tuple(dict.fromkeys(rule.group for rule in self))

    def group(self, name: str) -> tuple[Rule, ...]:
        """Return the rules of a group, such as `prevote`, from all catalogues; empty if there is no such group."""
        return tuple(rule for rule in self if rule.group == name)

    def catalogue(self, name: str) -> tuple[Rule, ...]:
        """Return the rules of a file: `election` or `membership`; empty if there is no such file."""
        return tuple(rule for rule in self if rule.catalogue == name)

    def matching(self, pattern: str) -> tuple[Rule, ...]:
        """Return the rules that match an id or a prefix ending in `.*`, such as `state.prospective.*`."""
        if pattern.endswith(".*"):
            prefix = pattern.removesuffix("*")
            return tuple(rule for rule in self if rule.id.startswith(prefix))
        return (self.by_id[pattern],) if pattern in self.by_id else ()


def _check_references(rule: Rule, ids: RuleIds) -> None:
    """Check that every id that a rule names exists; its texts contain no attribute accesses."""
    file = f"{rule.catalogue}.toml"
    for successor in rule.by:
        if successor not in ids.known:
            raise RuleFileError(file, rule.id, "by", _describe_unknown(successor, ids))
        if successor == rule.id:
            raise RuleFileError(file, rule.id, "by", "a rule cannot take its own place")
    for name in _TEXTS:
        text: str = getattr(rule, name)
        for word in dotted_words(text):
            if word in ids.known or word in LOOK_ALIKES:
                continue
            if word.partition(".")[0] in ids.groups or ids.is_misspelt(word):
                raise RuleFileError(file, rule.id, _FIELD_OF_TEXT.get(name, name), _describe_unknown(word, ids))


def _describe_unknown(word: str, ids: RuleIds) -> str:
    """Describe an unknown id, with a similar existing one."""
    near = ids.near(word, at_most=1)
    return f"names {word}, which is no rule{f', did you mean {near[0]}?' if near else ''}"


def read_registry(files: Sequence[Path | Traversable]) -> Registry:
    """Read catalogue files and check them together.

    Raises:
        RuleFileError: a file violates the format, or the rules contradict each other.
    """
    return Registry.of(rule for file in files for rule in read_catalogue(file))


def strictest_level(rule_ids: Iterable[str]) -> Level:
    """Return the strictest level of these rules; MUST if there are none."""
    registry = load_registry()
    return min([registry[rule_id].level for rule_id in rule_ids], key=LEVELS.index, default="MUST")


@functools.cache
def load_registry() -> Registry:
    """Return the registry of this package, read once per process."""
    folder = resources.files("kraft_spec.rules")
    return read_registry([folder / name for name in CATALOGUES])

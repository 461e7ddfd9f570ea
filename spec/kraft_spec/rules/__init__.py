"""The rule registry: every normative rule of KRaft's elections and voter changes, under a permanent id.

The catalogues election.toml and membership.toml hold the rules, scope.toml lists rules that need no implementation or
no model yet, and `kraft_spec.rules.citations` finds the citations of each rule.
"""

from kraft_spec.rules.registry import Registry, load_registry, read_registry, strictest_level
from kraft_spec.rules.rule import Rule, RuleFileError, UnknownRuleError
from kraft_spec.rules.vocabulary import LEVELS, PROPERTIES, Level, Property

__all__ = [
    "LEVELS",
    "PROPERTIES",
    "Level",
    "Property",
    "Registry",
    "Rule",
    "RuleFileError",
    "UnknownRuleError",
    "load_registry",
    "read_registry",
    "strictest_level",
]

"""Every rule that the reference has to name is stated by a test, and every mark of a test names such a rule."""

import importlib
from pathlib import Path

from kraft_spec.rules import load_registry
from kraft_spec.rules.scope import load_scope


def _stated() -> dict[str, list[str]]:
    """The tests by the rule they state, from the marks of `builders.states`."""
    stated: dict[str, list[str]] = {}
    for path in sorted(Path(__file__).parent.glob("test_rules_*.py")):
        module = importlib.import_module(f"tests.reference.{path.stem}")
        for name, test in vars(module).items():
            if name.startswith("test_"):
                for rule_id in getattr(test, "rule_ids", ()):
                    stated.setdefault(rule_id, []).append(f"{path.stem}::{name}")
    return stated


def _in_scope() -> set[str]:
    return set(load_scope().required(load_registry(), "reference"))


def test_every_rule_has_a_test() -> None:
    assert _in_scope() - _stated().keys() == set()


def test_every_mark_is_a_rule_in_scope() -> None:
    strangers = {rule_id: tests for rule_id, tests in _stated().items() if rule_id not in _in_scope()}
    assert strangers == {}

"""Model checks that omit a rule: read from the model's modules, and shown on the rule's page."""

import re
from collections.abc import Mapping
from pathlib import Path

from tools.site.facts import Material, RuleFacts
from tools.site.slices import slices_without

from kraft_spec.models import CHECKS, Configuration, ModelCheck, find_check

NOTHING = "The model has no search for a counterexample."


def test_a_rule_has_the_slices_that_leave_it_out(facts: Mapping[str, RuleFacts], made: Mapping[str, str]) -> None:
    violated = {
        "liveness-no-check-quorum-commit": "CommitProgress",
        "liveness-no-check-quorum-leader": "EventualLeader",
        "liveness-no-check-quorum-zombie": "ZombieBounded",
    }
    assert set(facts["check-quorum.resign"].slices) == violated.keys()
    text = made["rules/check-quorum.resign.md"]
    assert NOTHING not in text
    for name, violates in violated.items():
        assert f"- **model check** `{name}`: it omits the rule, and TLC must report `{violates}` viol" in text
        group = find_check(name).groups[0]
        assert f"  In the group `{group}` of checks. Reproduce with `kraft-spec model {name}`.\n" in text


def test_a_rule_that_the_bounds_name_is_found_in_the_model(material: Material) -> None:
    """The head comments name rules in prose, where a hyphen at a line break is followed by a space."""
    ids = material.registry.by_id
    of_rule = slices_without(ids)
    named = [
        (word, check)
        for check in CHECKS
        if check.violates
        for word in re.findall(r"[a-z][\w-]*(?:\.[\w-]*\w)+", check.bounds.replace("- ", "-"))
        if word in ids
    ]
    assert len(named) > 20
    assert [(rule, check.name) for rule, check in named if check not in of_rule.get(rule, ())] == []


def test_the_sentence_appears_only_without_a_search(
    facts: Mapping[str, RuleFacts], made: Mapping[str, str], material: Material
) -> None:
    left_out = slices_without(material.registry.by_id)
    for rule in material.registry:
        text = made[f"rules/{rule.id}.md"]
        nothing = rule.is_active and not facts[rule.id].counterexamples and rule.id not in left_out
        assert (NOTHING in text) == nothing, rule.id
        assert (f"{NOTHING} The catalogue does not list it as a safety rule." in text) == (
            nothing and not rule.safety
        ), rule.id


def test_a_counterexample_of_a_mutant_is_not_listed_twice(facts: Mapping[str, RuleFacts]) -> None:
    rule = "voters.one-change-at-a-time"
    assert [each.name for each in slices_without([rule])[rule]] == ["voters-one-change", "voters-one-change-loss"]
    assert facts[rule].slices == ("voters-one-change",)


def check(name: str, violates: str = "Holds", **replaces: str) -> ModelCheck:
    return ModelCheck(name, Configuration("MCSmall", replaces=replaces), ("nightly",), "small", "", violates=violates)


def test_unreachable_operators_do_not_count_as_omitting_a_rule(tmp_path: Path) -> None:
    (tmp_path / "Base.tla").write_text("\\* Without a.base.\nNext == TRUE\n")
    (tmp_path / "MCSmall.tla").write_text(
        "EXTENDS Base, Naturals\n\n"
        "\\* Without a.one.\n"
        'One == "a.quoted"\n'
        "\\* Without a.two.\n"
        "Two == 2\n\n"
        "\\* Without a.three and a.four: nothing is asked.\n"
        "Three(x) ==\n  TRUE\n"
        "\\* With a.five.\n"
        "Five == 5\n"
        "Init == Five = 5\n"
    )
    rules = ["a.base", "a.one", "a.quoted", "a.two", "a.three", "a.four", "a.five"]
    first_check, three, good = (
        check("one", Held="One"),
        check("three", Holds="Three"),
        check("good", violates="", Held="Two"),
    )
    checks = slices_without(rules, [first_check, three, check("plain"), good], tmp_path)
    assert checks == {"a.one": (first_check,), "a.three": (three,), "a.four": (three,)}

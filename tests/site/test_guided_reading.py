"""Every excerpt on the pages exists and is the whole definition."""

import re
from pathlib import Path

import pytest
from tools.site.excerpts import ExcerptError, named_rules, operator_definition, python_definition

from kraft_spec.rules import load_registry

PAGES = sorted(Path("docs").glob("*.md"))


def asked(option: str) -> list[str]:
    options = [re.findall(rf"^:{option}: (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) for page in PAGES]
    return [name for lines in options for line in lines for name in line.split()]


def test_the_reference_has_every_named_definition() -> None:
    names = asked("reference")
    assert len(names) >= 15
    for name in names:
        excerpt = python_definition(name)
        lines = Path(excerpt.path).read_text(encoding="utf-8").splitlines()
        text = excerpt.text.splitlines()
        assert lines[excerpt.line - 1 :][: len(text)] == text
        assert text[0].startswith(("def ", "class ", "@"))


def test_the_model_has_every_named_operator() -> None:
    names = asked("model")
    assert len(names) >= 15
    for name in names:
        excerpt = operator_definition(name)
        lines = Path(excerpt.path).read_text(encoding="utf-8").splitlines()
        text = excerpt.text.splitlines()
        assert lines[excerpt.line - 1 :][: len(text)] == text
        assert sum(bool(re.match(r"\w+(\([^)]*\))?\s*==", line)) for line in text) == 1


def test_whole_definitions() -> None:
    assert operator_definition("Definitions.Voters").text.splitlines() == [
        "\\* The voter set in force.  Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored",
        "Voters(s) == s.voters[Len(s.voters)].voters",
    ]
    assert python_definition("roles.Role").text.startswith("class Role(StrEnum):")
    assert python_definition("elections.grants_vote").text.startswith("def grants_vote(")


def test_every_pair_has_two_sides_and_names_rules() -> None:
    page = Path("docs/guided-reading.md").read_text(encoding="utf-8")
    pairs = re.findall(r"```\{both\}\n:reference: (.+)\n:model: (.+)\n```", page)
    assert len(pairs) == page.count("```{both}")
    for reference, model in pairs:
        texts = [python_definition(name).text for name in reference.split()]
        texts += [operator_definition(name).text for name in model.split()]
        assert named_rules("\n".join(texts), load_registry()), reference


@pytest.mark.parametrize(
    "area",
    ["add-voter", "auto-join", "begin-quorum", "bootstrap", "check-quorum", "discovery", "durable", "end-quorum",
     "fetch", "hw", "identity", "kraft-version", "observer", "prevote", "reassign", "remove-voter", "snapshot", "state",
     "update-voter", "vote", "voters"],
)  # fmt: skip
def test_every_area_of_the_protocol_is_met_on_the_way(area: str) -> None:
    texts = [python_definition(name).text for name in asked("reference")]
    rules = named_rules("\n".join(texts), load_registry())
    assert any(rule.partition(".")[0] == area for rule in rules)


def test_rules_are_named_once_and_in_order() -> None:
    text = "# Rules: vote.log-check, hw.majority.\nx(vote.log-check, no.such-rule)"
    assert named_rules(text, {"hw.majority", "vote.log-check"}) == ("vote.log-check", "hw.majority")


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere.x", "no such module"), ("elections.grants_votes", "has no grants_votes"), ("roles", "no such module")],
)
def test_no_such_definition(name: str, message: str) -> None:
    with pytest.raises(ExcerptError, match=message):
        python_definition(name)


@pytest.mark.parametrize(
    ("name", "message"), [("Nowhere.X", "no module Nowhere"), ("Elections.GrantsVotes", "has no GrantsVotes")]
)
def test_no_such_operator(name: str, message: str) -> None:
    with pytest.raises(ExcerptError, match=message):
        operator_definition(name)

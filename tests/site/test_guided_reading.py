"""Every excerpt that the pages ask for is there, and is the whole definition."""

import re
from pathlib import Path

import pytest
from tools.site.excerpts import ExcerptError, operator_definition, python_definition

PAGES = sorted(Path("docs").glob("*.md"))


def asked(option: str) -> list[str]:
    found = [re.findall(rf"^:{option}: (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) for page in PAGES]
    return [name for lines in found for line in lines for name in line.split()]


def test_the_reference_has_what_is_asked_for() -> None:
    names = asked("reference")
    assert len(names) >= 15
    for name in names:
        excerpt = python_definition(name)
        lines = Path(excerpt.path).read_text(encoding="utf-8").splitlines()
        text = excerpt.text.splitlines()
        assert lines[excerpt.line - 1 :][: len(text)] == text
        assert text[0].startswith(("def ", "class ", "@"))


def test_the_model_has_what_is_asked_for() -> None:
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
        "\\* The set in force, and no other.  "
        "Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored",
        "Voters(s) == s.voters[Len(s.voters)].voters",
    ]
    assert python_definition("roles.Role").text.startswith("class Role(StrEnum):")
    assert python_definition("elections.grants_vote").text.startswith("def grants_vote(")


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere.x", "no such module"), ("elections.grants_votes", "has no grants_votes"), ("roles", "no such module")],
)
def test_no_such_definition(name: str, said: str) -> None:
    with pytest.raises(ExcerptError, match=said):
        python_definition(name)


@pytest.mark.parametrize(
    ("name", "said"), [("Nowhere.X", "no module Nowhere"), ("Elections.GrantsVotes", "has no GrantsVotes")]
)
def test_no_such_operator(name: str, said: str) -> None:
    with pytest.raises(ExcerptError, match=said):
        operator_definition(name)

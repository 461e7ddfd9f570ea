"""scope.toml is checked against the registry, entry by entry."""

from pathlib import Path

import pytest

from kraft_spec.rules import RuleFileError, load_registry
from kraft_spec.rules.scope import load_scope, read_scope

MODEL = "layers = ['model']\nreason = 'Because.'\n"


@pytest.mark.parametrize(
    ("text", "name", "field", "problem"),
    [
        ("[[exempted]]\n", None, "exempted", "unknown key"),
        ("exempt = 1\n", None, "exempt", "[[exempt]] tables"),
        ("[[exempt]]\nrules = 'hw.majority'\nlayers = ['model']\n", "hw.majority", "reason", "missing"),
        (
            "[[exempt]]\nrules = 'hw.majority'\nlayers = ['model']\nreason = ' '\n",
            "hw.majority",
            "reason",
            "must not be empty",
        ),
        (f"[[exempt]]\nrules = 'hw.majority'\nfor = ['x']\n{MODEL}", "hw.majority", "for", "unknown key"),
        (f"[[exempt]]\nrules = 'hw.majorty'\n{MODEL}", "hw.majorty", "rules", "did you mean hw.majority?"),
        (f"[[exempt]]\nrules = 'zoo.*'\n{MODEL}", "zoo.*", "rules", "no active rule in scope matches zoo.*"),
        (
            f"[[exempt]]\nrules = 'bootstrap.kip642-first-record'\n{MODEL}",
            "bootstrap.kip642-first-record",
            "rules",
            "no active rule in scope",
        ),
        (
            f"[[exempt]]\nrules = 'hw.*'\nwithout = ['fetch.timer']\n{MODEL}",
            "hw.*",
            "without",
            "fetch.timer is no active rule in scope under hw.*",
        ),
        (
            "[[exempt]]\nrules = 'hw.*'\nlayers = ['docs']\nreason = 'Because.'\n",
            "hw.*",
            "layers",
            "one or more of reference, model",
        ),
        ("[[exempt]]\nrules = 'hw.*'\nlayers = []\nreason = 'Because.'\n", "hw.*", "layers", "one or more"),
        (
            f"[[exempt]]\nrules = 'hw.*'\n{MODEL}[[exempt]]\nrules = 'hw.majority'\n{MODEL}",
            "hw.majority",
            "rules",
            "hw.majority is exempted from the model twice",
        ),
        ("[[later]]\ncatalogue = 'zoo'\nreason = 'Because.'\n", "zoo", "catalogue", "no catalogue zoo"),
        ("[[unread]]\npath = 'tests/x.py'\n", "tests/x.py", "reason", "missing"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(
    tmp_path: Path, text: str, name: str | None, field: str, problem: str
) -> None:
    file = tmp_path / "scope.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RuleFileError) as caught:
        read_scope(file, load_registry())
    assert (caught.value.file, caught.value.rule_id, caught.value.field) == ("scope.toml", name, field)
    assert problem in caught.value.problem


def test_a_prefix_leaves_the_rules_of_later_catalogues_alone(tmp_path: Path) -> None:
    file = tmp_path / "scope.toml"
    later = "[[later]]\ncatalogue = 'membership'\nreason = 'Later.'\n"
    file.write_text(f"{later}[[exempt]]\nrules = 'wire.*'\n{MODEL}", encoding="utf-8")
    (exemption,) = read_scope(file, load_registry()).exemptions
    assert "wire.vote-versions" in exemption.rule_ids
    assert "wire.add-voter" not in exemption.rule_ids


def test_the_reference_is_excused_only_from_encoding_and_snapshots() -> None:
    excused = {rule_id.split(".")[0] for rule_id in load_scope().exempted("reference")}
    assert excused == {"wire", "fetch"}
    assert all(rule_id.startswith(("wire.", "fetch.snapshot.")) for rule_id in load_scope().exempted("reference"))

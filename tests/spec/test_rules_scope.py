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
        (
            "[[outside]]\nrules = 'zoo.*'\nreason = 'Because.'\n",
            "zoo.*",
            "rules",
            "no active rule in scope matches zoo.*",
        ),
        (
            f"[[outside]]\nrules = 'hw.*'\nreason = 'Later.'\n[[exempt]]\nrules = 'hw.majority'\n{MODEL}",
            "hw.majority",
            "rules",
            "no active rule in scope",
        ),
        (
            "[[instead]]\nrules = 'hw.*'\nlayer = 'model'\nreason = 'Because.'\n",
            "hw.*",
            "layer",
            "not one of spec, traces, conformance",
        ),
        (
            "[[outside]]\nrules = 'hw.*'\nreason = 'Later.'\n"
            "[[instead]]\nrules = 'hw.majority'\nlayer = 'spec'\nreason = 'There.'\n",
            "hw.majority",
            "rules",
            "no active rule in scope",
        ),
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


def test_a_prefix_leaves_the_rules_of_earlier_entries_alone(tmp_path: Path) -> None:
    file = tmp_path / "scope.toml"
    outside = "[[outside]]\nrules = 'wire.add-voter'\nreason = 'Later.'\n"
    instead = "[[instead]]\nrules = 'wire.remove-voter'\nlayer = 'conformance'\nreason = 'There.'\n"
    file.write_text(f"{outside}{instead}[[exempt]]\nrules = 'wire.*'\n{MODEL}", encoding="utf-8")
    scope = read_scope(file, load_registry())
    assert "wire.vote-versions" in scope.exemptions[0].rule_ids
    assert {"wire.add-voter", "wire.remove-voter"}.isdisjoint(scope.exemptions[0].rule_ids)
    assert (scope.outside, scope.instead) == ({"wire.add-voter": "Later."}, {"wire.remove-voter": "conformance"})


def test_a_prefix_can_leave_a_rule_in_scope(tmp_path: Path) -> None:
    file = tmp_path / "scope.toml"
    file.write_text("[[outside]]\nrules = 'hw.*'\nwithout = ['hw.majority']\nreason = 'Later.'\n", encoding="utf-8")
    scope = read_scope(file, load_registry())
    required = scope.required(load_registry(), "model")
    assert ("hw.majority" in required, "hw.monotonic" in required) == (True, False)


def test_the_reference_is_excused_only_from_encoding() -> None:
    assert all(rule_id.startswith("wire.") for rule_id in load_scope().exempted("reference"))

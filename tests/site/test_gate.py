"""The build of the site fails if a MUST rule lacks evidence without a stated reason."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tools.site.facts import Material, RuleFacts, gather
from tools.site.gate import EvidenceError, missing_evidence, require_evidence

from kraft_spec.rules.scope import Exemption

RULE = "vote.log-check"
NO_PYTHON = f"{RULE}: no implementation names it, and spec/kraft_spec/rules/scope.toml gives no reason"
NO_TLA = f"{RULE}: no TLA+ names it, and spec/kraft_spec/rules/scope.toml gives no reason"
NO_VECTOR = f"{RULE}: no vector is about it, and conformance/kraft_vectors/without_vector.toml gives no reason"


def without(material: Material, *layers: str, vectors: bool = True) -> Material:
    """Return the checkout as if these layers never named the rule, or no vector were about it."""
    kept = tuple(place for place in material.report.citations if place.rule_id != RULE or place.layer not in layers)
    manifest = tuple(entry for entry in material.manifest if vectors or RULE not in entry.rules)
    return replace(material, report=replace(material.report, citations=kept), manifest=manifest)


def problems(material: Material) -> tuple[str, ...]:
    with pytest.raises(EvidenceError) as caught:
        require_evidence(gather(material).values())
    return caught.value.lines


def test_nothing_is_lacking(facts: Mapping[str, RuleFacts]) -> None:
    require_evidence(facts.values())


@pytest.mark.parametrize(
    ("layers", "vectors", "lines"),
    [
        (("reference",), True, (NO_PYTHON,)),
        (("model",), True, (NO_TLA,)),
        ((), False, (NO_VECTOR,)),
        (("reference", "model"), False, (NO_PYTHON, NO_TLA, NO_VECTOR)),
    ],
)
def test_missing_evidence_of_a_must_rule_is_named(
    material: Material, layers: tuple[str, ...], vectors: bool, lines: tuple[str, ...]
) -> None:
    assert problems(without(material, *layers, vectors=vectors)) == lines


def test_a_stated_reason_is_enough(material: Material) -> None:
    exemption = Exemption(RULE, (), ("reference", "model"), "Because.", (RULE,))
    scope = replace(material.scope, exemptions=(*material.scope.exemptions, exemption))
    facts = gather(replace(without(material, "reference", "model"), scope=scope))
    require_evidence(facts.values())
    assert (facts[RULE].implementation_reason, facts[RULE].model_reason) == ("Because.", "Because.")


@pytest.mark.parametrize("change", [{"level": "SHOULD"}, {"status": "superseded"}])
def test_a_weaker_or_superseded_rule_requires_no_evidence(
    facts: Mapping[str, RuleFacts], change: dict[str, str]
) -> None:
    rule = replace(facts[RULE].rule, **change)  # type: ignore[arg-type]
    assert missing_evidence(RuleFacts(rule)) == ()
    assert missing_evidence(RuleFacts(facts[RULE].rule)) == (NO_PYTHON, NO_TLA, NO_VECTOR)


def test_a_scenario_that_names_a_rule_does_not_implement_it(facts: Mapping[str, RuleFacts]) -> None:
    assert not [
        piece.path
        for each in facts.values()
        for piece in each.implementation
        if "/scenarios/" in piece.path or "/cluster/" in piece.path
    ]


class App:
    """The part of Sphinx's application that the build reads before it writes anything."""

    def __init__(self, repository: Path) -> None:
        self.srcdir = str(repository / "docs")


def test_the_build_stops(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    from tools.site import extension, facts

    broken = without(material, "model").report
    monkeypatch.setattr(facts, "check_citations", lambda *_: broken)
    written: list[object] = []
    monkeypatch.setattr(extension, "write_pages", lambda *pages: written.append(pages))
    with pytest.raises(SystemExit, match=rf"these rules lack evidence:\n{RULE}: no TLA\+ names it"):
        extension._generate(App(material.repository))
    assert written == []


def test_a_build_that_stops_ends_with_the_reason_alone(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "conf.py").write_text("extensions = ['myst_parser', 'sphinx.ext.autodoc', 'tools.site.extension']\n")
    (docs / "index.md").write_text(f"# Title\n\nThis page names `{RULE[:-1]}`.\n")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-b", "html", str(docs), str(tmp_path / "html")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    first, *lines = done.stderr.splitlines()
    assert first == "The site is not built, because these rule ids do not exist:"
    assert lines[0].startswith(f"docs/index.md:3: {RULE[:-1]}: no rule has this id, did you mean {RULE}")
    assert all(": " in line for line in lines)
    assert "Traceback" not in done.stderr
    assert "sphinx-doc" not in done.stderr
    assert done.returncode == 1
    assert not (docs / "rules").exists()

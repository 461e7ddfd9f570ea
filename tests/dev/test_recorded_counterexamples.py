"""Recorded counterexamples of the mutants: one for each exhaustive search, as the mutant states it."""

import re
from pathlib import Path

import pytest

from kraft_dev.mutants import recorded
from kraft_dev.mutants.recorded import recorded_counterexample, recorded_text
from kraft_mutants import Exhaustive, MutantError, load_catalogue
from kraft_spec.counterexamples import Counterexample, Step
from kraft_spec.edits import package_folder

SEARCHED = {
    mutant.name: mutant.evidence for mutant in load_catalogue().mutants if isinstance(mutant.evidence, Exhaustive)
}
FOLDER = package_folder("kraft_dev") / "mutants" / "counterexamples"
BYTES_MAX = 10_000
"""Maximum size of a file that fits on a rule's page."""


def actions_of_the_model() -> set[str]:
    """Return every operator that a module defines at its left margin."""
    modules = (package_folder("kraft_spec") / "tla").glob("*.tla")
    return {
        name
        for module in modules
        for name in re.findall(r"^([A-Z]\w*)(?:\(.*?\))? ==", module.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_every_search_is_recorded_and_nothing_else() -> None:
    assert sorted(file.name for file in FOLDER.iterdir()) == sorted(f"{name}.json" for name in SEARCHED)


@pytest.mark.parametrize("name", SEARCHED)
def test_the_record_agrees_with_the_mutant(name: str) -> None:
    counterexample = recorded_counterexample(name)
    assert (counterexample.property, len(counterexample.steps)) == (SEARCHED[name].property, SEARCHED[name].states)


def test_the_records_begin_at_a_first_state_and_go_on_by_actions_of_the_model() -> None:
    actions = actions_of_the_model() - {"Next", "Init"}
    for name in SEARCHED:
        first, *steps = recorded_counterexample(name).steps
        assert (first.action, first.subject) == ("Init", ""), name
        assert first.changes, name
        assert {step.action for step in steps} <= actions, name


def test_every_step_names_its_place_and_its_changes() -> None:
    """A step of the quorum names its replica, or its message or link."""
    for name in SEARCHED:
        steps = recorded_counterexample(name).steps[1:]
        assert all(step.changes for step in steps), name
        quorum = not SEARCHED[name].check.startswith("partition")
        assert not quorum or all(step.subject for step in steps), name


def test_the_records_are_compact_and_written_in_one_way() -> None:
    for file in FOLDER.iterdir():
        written = file.read_bytes()
        assert len(written) <= BYTES_MAX, file.name
        assert written.decode() == recorded_text(recorded_counterexample(file.stem)), file.name


def test_a_missing_record_names_the_command_that_makes_it() -> None:
    with pytest.raises(MutantError, match="nobody is recorded: python -m kraft_dev mutants nobody --tool evidence"):
        recorded_counterexample("nobody")


def test_a_malformed_record_is_named_with_its_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    written = recorded_text(Counterexample("TypeOk", (Step("Init", "", ("all is well",)),)))
    (tmp_path / "crooked.json").write_text(written.replace('"subject": ""', '"subject": 1'))
    with pytest.raises(MutantError, match=r"counterexamples/crooked\.json: .*`\$\.steps\[0\]\.subject`"):
        recorded_counterexample("crooked")

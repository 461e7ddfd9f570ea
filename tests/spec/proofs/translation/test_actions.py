"""The actions of the model, translated: proved as they are, and with a rule taken out of the text not."""

from pathlib import Path
from shutil import copytree

import pytest

from kraft_spec.edits import Edit, apply_edits
from kraft_spec.models import model_directory
from kraft_spec.models.running import next_actions
from kraft_spec.mutants import load_catalogue
from kraft_spec.proofs.translation.acting import ACTIONS, EXECUTED
from kraft_spec.proofs.translation.proving import OTHERS, Proved, prove_action, specification


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(name, marks=() if name in ("HandleVoteRequest", "PollFetch", OTHERS) else pytest.mark.nightly)
        for name in (*ACTIONS, OTHERS)
    ],
)
def test_an_action_of_the_model_is_steps_of_the_proof(action: str) -> None:
    proved = prove_action(specification(), action)
    assert [one.obligation.name for one in proved.failing] == []
    assert proved.is_possible
    assert len(proved.answers) > 10


def test_each_action_of_the_model_is_proved_or_executed_for_a_reason() -> None:
    assert sorted((*ACTIONS, *EXECUTED)) == sorted(next_actions().values())
    assert all(EXECUTED.values())


def _edited(folder: Path, action: str, *edits: Edit) -> Proved:
    copytree(model_directory(), folder / "tla")
    apply_edits(folder, edits)
    return prove_action(specification(folder / "tla"), action, until=lambda answer: not answer.proved)


@pytest.mark.parametrize(
    ("mutant", "action", "fails", "shown"),
    [
        ("vote-without-log-check", "HandleVoteRequest", "vote/guard of vote/log-is-up-to-date", "message.last_epoch"),
        ("votes-twice", "HandleVoteRequest", "nothing/voted_key", "voted_key"),
    ],
)
def test_a_rule_taken_out_of_the_text_fails_where_it_is_needed(
    mutant: str, action: str, fails: str, shown: str, tmp_path: Path
) -> None:
    edits = [one.as_edit() for one in load_catalogue()[mutant].model]
    proved = _edited(tmp_path, action, *edits)
    assert [one.obligation.name for one in proved.failing] == [f"{action}/{fails}"]
    assert any(line.startswith(f"{shown}: ") for line in proved.counterexample)


def test_an_action_that_cannot_happen_is_not_proved(tmp_path: Path) -> None:
    never = Edit("tla/KRaft.tla", "/\\ HasElectionTimer(replicas[r])", '/\\ replicas[r].role = "Stopped"')
    proved = _edited(tmp_path, "ElectionTimeout", never)
    assert not proved.is_possible
    assert not proved.holds

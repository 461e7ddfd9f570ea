"""Translated actions of the model: proved as they are, and not without a rule."""

from collections.abc import Iterable
from pathlib import Path
from shutil import copytree

import pytest
import z3

from kraft_mutants import load_catalogue
from kraft_proofs.induction.prover import Obligation
from kraft_proofs.induction.symbols import ENTRY, forall, variables
from kraft_proofs.translation.acting import ACTIONS, EXECUTED
from kraft_proofs.translation.proving import OTHERS, Proved, is_possible, prove_action, specification
from kraft_spec.edits import Edit, apply_edits
from kraft_spec.models import model_directory
from kraft_spec.models.running import next_actions


# Nightly checks prove all others.
@pytest.mark.parametrize("action", [pytest.param("HandleVoteRequest", marks=pytest.mark.nightly), "PollFetch", OTHERS])
def test_an_action_of_the_model_is_steps_of_the_proof(action: str) -> None:
    proved = prove_action(specification(), action)
    assert [answer.obligation.name for answer in proved.failing] == []
    assert proved.is_possible
    assert len(proved.answers) > 10


def test_premises_that_contradict_each_other_at_the_end_of_a_long_chain_are_not_possible() -> None:
    following, late = z3.Function("following", ENTRY, ENTRY), z3.Function("late", ENTRY, z3.BoolSort())
    first, entry = variables(ENTRY, "first entry")
    last = first
    for _ in range(12):
        last = following(last)
    on = forall((entry,), z3.Implies(late(entry), late(following(entry))), late(entry))
    facts = {"first": late(first), "on": on}
    for last_is_late in (True, False):
        premises = {**facts, "last": late(last) if last_is_late else z3.Not(late(last))}
        case = Obligation("Action/case", premises, z3.BoolVal(False), ((), tuple(premises)))
        assert is_possible([case]) is last_is_late


def test_each_action_of_the_model_is_proved_or_executed_for_a_reason() -> None:
    assert sorted((*ACTIONS, *EXECUTED)) == sorted(next_actions().values())
    assert all(EXECUTED.values())


def _edited(folder: Path, action: str, edits: Iterable[Edit]) -> Proved:
    model = folder / "kraft_spec" / "tla"
    copytree(model_directory(), model)
    apply_edits(folder, edits)
    return prove_action(specification(model), action, until=lambda answer: not answer.proved)


_WRONG = (
    ("vote-without-log-check", "HandleVoteRequest", "vote/guard of vote/log-is-up-to-date", "message.last_epoch"),
    ("votes-twice", "HandleVoteRequest", "nothing/voted_key", "voted_key"),
    ("leader-known-and-vote-free", "HandleVoteRequest", "vote/guard of vote/knows-no-leader", "leader_id"),
    ("candidate-log-not-synced", "FetchTimeout", "stand/flushed", "flushed"),
    ("candidate-stays-in-its-epoch", "FetchTimeout", "nothing/flushed", "epoch"),
    (
        "half-of-the-voters-elect",
        "HandleVoteResponse",
        "become-leader/guard of become-leader/majority-of-own-voters majority-voted",
        "role",
    ),
)


@pytest.mark.nightly  # on a push the two tests below have a wrong text each, of a smaller action
@pytest.mark.parametrize(("mutant", "action", "fails", "words"), _WRONG)
def test_a_rule_taken_out_of_the_text_fails_where_it_is_needed(
    mutant: str, action: str, fails: str, words: str, tmp_path: Path
) -> None:
    proved = _edited(tmp_path, action, [edit.as_edit() for edit in load_catalogue()[mutant].model])
    assert [answer.obligation.name for answer in proved.failing] == [f"{action}/{fails}"]
    assert any(line.startswith(f"{words}: ") for line in proved.counterexample)


def test_a_message_that_is_not_true_is_not_proved(tmp_path: Path) -> None:
    asks = "   last_epoch |-> LastEpoch(s), end_offset |-> EndOffset(s), pre_vote"
    wrong = Edit("kraft_spec/tla/Elections.tla", asks, asks.replace("EndOffset(s)", "EndOffset(s) + 1"))
    proved = _edited(tmp_path, "Poll", [wrong])
    assert [answer.obligation.name for answer in proved.failing] == ["Poll/nothing/sent, its Candidate"]
    assert proved.counterexample


def test_an_action_that_cannot_happen_is_not_proved(tmp_path: Path) -> None:
    never = Edit("kraft_spec/tla/KRaft.tla", "/\\ HasElectionTimer(replicas[r])", '/\\ replicas[r].role = "Stopped"')
    proved = _edited(tmp_path, "ElectionTimeout", [never])
    assert not proved.is_possible
    assert not proved.holds

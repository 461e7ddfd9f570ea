"""Mutants of the proof: each is rejected at the expected obligation, and a run shows the violation."""

import pytest

from kraft_proofs.induction.changes import changed
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.mutants import (
    MUTANTS,
    SPARE,
    Mutant,
    exhibit,
    first_unproved,
    mutant,
    reject,
)
from kraft_proofs.induction.replays import Cluster, moves, replay
from kraft_proofs.induction.theory import theory
from kraft_spec.rules import load_registry

NAMES = [entry.name for entry in MUTANTS]
SOME = [pytest.param(name, marks=() if number % 6 == 0 else pytest.mark.nightly) for number, name in enumerate(NAMES)]
"""A sixth of them on a push."""

LOSES_WHAT_WAS_COMMITTED = (
    "neighbours-differ-in-two",
    "change-before-own-epoch-commits",
    "change-before-own-epoch-commits-and-invariant-agrees",
    "change-while-another-is-pending",
    "any-new-voters-set",
    "vote-by-offset-alone",
    "candidate-log-not-synced-and-vote-repeated",
    "commit-an-older-entry",
    "disk-lost-under-the-same-key",
)
"""Mutants whose scripted runs end in lost commits, not only in an unreachable state."""

LEADS_A_SECOND_TIME = "own-vote-before-known-leader"
"""Its scripted run ends with two leaders of one epoch."""

HARMLESS = Mutant(
    "harmless", "Nothing is changed.", (), (), "start/log-matching", "vote/log-matching", Cluster(3, 3, 1), "elect 1 2"
)


def test_there_are_enough_mutants_under_permanent_names() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 20


@pytest.mark.parametrize("change", ["without vote/luck", "without axiom/luck", "unchanged vote/luck", "luck"])
def test_a_change_of_an_unknown_part_is_rejected(change: str) -> None:
    with pytest.raises(KeyError, match="luck"):
        changed(theory(), [change])


def test_a_run_is_described_in_words() -> None:
    script = moves("elect 1 2; append 1\nreplicate 1 2; append 1 {1,2}; commit 1; crash replica=2 kept=bootstrap")
    assert [str(move) for move in script] == [
        "stand(candidate=1)",
        "vote(voter=2, candidate=1)",
        "become-leader(candidate=1)",
        "append(leader=1)",
        "learn-leader(replica=2, leader=1)",
        "fetch-records(replica=2)",
        "acknowledge(replica=2)",
        "append(leader=1)",
        "commit(leader=1)",
        "crash(replica=2, kept=bootstrap)",
    ]
    assert [move.voters for move in script if move.action == "append"] == [None, {1, 2}]


def test_mutants_name_rules_of_the_catalogue() -> None:
    registry = load_registry()
    assert [(entry.name, rule) for entry in MUTANTS for rule in entry.rules if rule not in registry] == []
    assert [entry.name for entry in MUTANTS if not entry.rules] == []


@pytest.mark.parametrize("name", SOME)
def test_a_mutant_is_rejected_at_the_expected_obligation(name: str) -> None:
    assert reject(mutant(name)).first == mutant(name).fails


@pytest.mark.parametrize("name", SOME)
def test_a_run_of_a_mutant_breaks_the_expected_invariant(name: str) -> None:
    exhibited = exhibit(mutant(name))
    assert (exhibited.found, exhibited.broken_axioms) == (mutant(name).breaks, ())
    assert mutant(name).replay().refused is None


@pytest.mark.parametrize("name", LOSES_WHAT_WAS_COMMITTED)
def test_in_a_scripted_run_a_leader_lacks_committed_records(name: str) -> None:
    replayed = mutant(name).replay()
    assert replayed.refused is None
    assert any("leader-completeness" in breach.names for breach in replayed.breaches)


def test_kafka_4_restarts_into_a_second_leader_of_one_epoch() -> None:
    """docs/proofs.md tells the run: two leaders of epoch 1, and then two replicas that apply different records."""
    second = mutant(LEADS_A_SECOND_TIME)
    replayed = second.replay()
    assert replayed.refused is None
    broken = {name: breach for breach in replayed.breaches for name in breach.names}
    assert broken["election-safety"].step.action == "become-leader"
    assert broken["state-machine-safety"].step.action == "learn-high-watermark"
    refused = replay(Interpreter(theory()), second.cluster, moves(second.run)).refused
    assert str(refused) == "stand-again(candidate=3)"


def test_a_mutant_that_changes_nothing_is_not_rejected() -> None:
    rejection, run = reject(HARMLESS), exhibit(HARMLESS)
    assert (rejection.first, rejection.as_expected, run.breach, run.as_expected) == (None, False, None, False)


CONDITIONS = [f"{action.name}/{condition}" for action in theory().actions for condition in action.guard]


def is_proved_without(name: str) -> bool:
    return first_unproved(changed(theory(), [f"without {name}"])) is None


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "commit/entry-in-its-log" else pytest.mark.nightly) for name in SPARE],
)
def test_the_proof_does_not_need_this_condition(name: str) -> None:
    assert is_proved_without(name)


@pytest.mark.nightly
def test_the_proof_needs_all_other_conditions() -> None:
    assert {name for name in CONDITIONS if is_proved_without(name)} == SPARE.keys()

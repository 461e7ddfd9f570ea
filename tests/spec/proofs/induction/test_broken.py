"""Changes of the theory that must make the proof fail, at the expected place."""

import pytest

from kraft_proofs.induction import counting
from kraft_proofs.induction.axioms import QUORUMS
from kraft_proofs.induction.obligations import prove_induction
from kraft_proofs.induction.prover import Obligation, prove
from kraft_proofs.induction.symbols import QUORUM, VOTERS, Formula, forall, majority, variables
from kraft_proofs.induction.theory import Theory, theory
from kraft_proofs.linear import Fact


def _fails(about: Theory, action: str) -> list[str]:
    return [answer.obligation.name for answer in prove_induction([action], about) if not answer.proved]


@pytest.mark.parametrize(
    ("action", "conjunct", "failing"),
    [
        ("truncate", "answers-the-last-request", ["acknowledged-is-kept"]),
        (
            "stand-again",
            "follows-nobody",
            [
                "candidate-log-is-older",
                "one-log-per-candidacy",
                "vote-once-per-epoch",
                "votes-respect-acknowledged",
            ],
        ),
    ],
)
def test_without_a_condition_an_action_breaks_these_invariants(action: str, conjunct: str, failing: list[str]) -> None:
    """docs/proofs.md describes the second; test_proof_mutants.py has most other conditions."""
    about = theory()
    unproved = _fails(about.with_action(about.action(action).without(conjunct)), action)
    assert unproved == [f"{action}/{invariant}" for invariant in failing]


def test_a_disk_lost_under_its_own_key_breaks_acknowledged_records() -> None:
    about = theory()
    failing = _fails(about.with_action(about.action("replace-disk").without("key-is-new")), "replace-disk")
    assert "replace-disk/acknowledged-is-kept" in failing
    assert "replace-disk/candidate-log-is-older" in failing


@pytest.mark.parametrize(
    "lost", ["majorities-of-one-set", pytest.param("majorities-of-neighbours", marks=pytest.mark.nightly)]
)
def test_each_fact_about_quorums_is_needed_by_a_new_leader_and_a_commit(lost: str) -> None:
    about = theory()
    without = about._replace(axioms=tuple(axiom for axiom in about.axioms if axiom.name != lost))
    failing = [*_fails(without, "become-leader"), *_fails(without, "commit")]
    case = "not-the-same-set" if lost == "majorities-of-one-set" else "other-set-is-not-next"
    assert {name.rpartition("/")[0] for name in failing if name.endswith(case)} == {
        name.rpartition("/")[0] for name in failing
    }
    assert {name.rpartition("/")[0] for name in failing} == {
        "become-leader/new-leader-is-complete",
        "become-leader/new-leader-is-the-only-one",
        "commit/later-leaders-keep-it",
    }


def test_an_invariant_that_a_lemma_needs_is_missed() -> None:
    about = theory()
    kept = tuple(invariant for invariant in about.invariants if invariant.name != "one-voter-change-at-a-time")
    failing = _fails(about._replace(invariants=kept), "commit")
    assert failing[0] == "commit/later-leaders-keep-it/other-set-is-not-next"


def test_half_of_the_voters_are_no_majority() -> None:
    """With `>=` for `>` the fact about one voter set does not follow."""
    first, second, third, other = (counting.DIAGRAM[name] for name in counting.DIAGRAM.names)
    v1, v2 = variables(VOTERS, "v1 v2")
    q1, q2 = variables(QUORUM, "q1 q2")

    def half(quorum: Formula, voters: Formula, fact: Fact) -> Formula:
        rows = Fact("", (fact.rows[0] - 1,))
        return forall(
            (q1, q2, v1, v2), majority(quorum, voters) == counting.holds(rows), (majority(q1, v1), majority(q2, v2))
        )

    changed = {
        **counting.DEFINITIONS,
        "first-majority-is-more-than-half": half(q1, v1, counting.DIAGRAM.majority("", first, third)),
        "second-majority-is-more-than-half": half(q2, v2, counting.DIAGRAM.majority("", second, other)),
    }
    answers = [prove(Obligation(axiom.name, changed, axiom.formula)) for axiom in QUORUMS]
    assert [answer.proved for answer in answers] == [False, False]

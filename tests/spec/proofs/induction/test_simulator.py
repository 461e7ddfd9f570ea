"""Random runs and scripted runs of the theory: nothing breaks as it is, and what is broken is reported."""

import pytest
import z3

from kraft_spec.proofs.induction.changes import changed, other_invariant
from kraft_spec.proofs.induction.interpreter import Interpreter
from kraft_spec.proofs.induction.mutants import Mutant, mutant
from kraft_spec.proofs.induction.replays import COURSE, moves, replay
from kraft_spec.proofs.induction.simulator import CLUSTERS, Cluster, simulate
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import ENTRY, NUMBER, REPLICA, Formula, forall, variables
from kraft_spec.proofs.induction.theory import theory

THEORY = theory()
INTERPRETER = Interpreter(THEORY)
WITHOUT_THE_RULE = Interpreter(changed(THEORY, ["without append/epoch-is-committed"]))

NEVER = z3.BoolVal(False)
SINGLE_SERVER = mutant("change-before-own-epoch-commits")
KIP_642 = mutant("change-before-own-epoch-commits-and-invariant-agrees")


def test_every_invariant_holds_in_every_state_that_random_runs_reach() -> None:
    found = simulate(INTERPRETER, states=4_000, seed=0)
    assert (found.states, found.broken, found.idle) == (4_000, None, ())
    assert found.steps.keys() == {action.name for action in THEORY.actions}
    # What makes the runs worth something: leaders of several epochs, commits, and committed voter changes.
    assert found.elections > 100
    assert found.commits > 100
    assert found.voter_changes > 10
    assert found.epochs >= 4


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_every_invariant_holds_in_50_000_states(seed: int) -> None:
    found = simulate(INTERPRETER, states=50_000, seed=seed)
    assert (found.states, found.broken, found.idle) == (50_000, None, ())


def test_a_seed_gives_the_same_runs() -> None:
    assert simulate(INTERPRETER, states=300, seed=5) == simulate(Interpreter(theory()), states=300, seed=5)
    assert simulate(INTERPRETER, states=300, seed=5) != simulate(INTERPRETER, states=300, seed=6)


def test_a_broken_guard_is_reported_with_the_run() -> None:
    broken = simulate(Interpreter(changed(THEORY, ["without vote/no-other-vote"])), states=4_000, seed=0).broken
    assert broken is not None
    assert broken.names == ("vote-once-per-epoch",)
    assert broken.steps[-1].action == "vote"


def test_an_untrue_invariant_is_reported() -> None:
    nobody_leads = other_invariant(THEORY, "bootstrap-written", _nobody_leads)
    broken = simulate(Interpreter(nobody_leads), states=4_000, seed=0).broken
    assert broken is not None
    assert (broken.names, broken.steps[-1].action) == (("bootstrap-written",), "become-leader")


def _nobody_leads(s: State) -> Formula:
    (epoch,), (leader,), (log,) = variables(NUMBER, "t"), variables(REPLICA, "r"), variables(ENTRY, "f")
    return forall((epoch, leader, log), z3.Not(s.elected(epoch, leader, log)))


def test_runs_in_which_nothing_happens_are_told_from_those_in_which_it_does() -> None:
    nobody_votes = Interpreter(THEORY.with_action(THEORY.action("vote")._replace(guard={"never": NEVER})))
    found = simulate(nobody_votes, states=20, seed=0, clusters=(Cluster(3, 3, 3, 30),))
    assert found.broken is None
    assert {"vote", "become-leader", "commit", "election", "commit of a voter change"} <= set(found.idle)


def test_a_cluster_with_too_few_states_ends_the_runs() -> None:
    found = simulate(INTERPRETER, states=1_000, seed=0, clusters=(Cluster(1, 1, 1, 2),))
    assert (found.states < 20, found.broken) == (True, None)


@pytest.mark.parametrize("told", [SINGLE_SERVER, KIP_642], ids=["single-server", "kip-642"])
def test_a_change_before_the_own_epoch_is_committed_is_refused(told: Mutant) -> None:
    assert told.cluster is not None
    found = replay(INTERPRETER, told.cluster, moves(told.run))
    assert (found.breaches, str(found.refused), len(found.steps)) == ((), "append(leader=2)", 23)


@pytest.mark.parametrize(
    ("told", "elected", "committed"),
    [(SINGLE_SERVER, 32, 40), (KIP_642, 35, 43)],
    ids=["single-server", "kip-642"],
)
def test_without_the_rule_it_loses_what_was_committed(told: Mutant, elected: int, committed: int) -> None:
    assert told.cluster is not None
    found = replay(WITHOUT_THE_RULE, told.cluster, moves(told.run))
    assert found.refused is None
    assert [(one.number, one.step.action, one.names) for one in found.breaches] == [
        (24, "append", ("one-voter-change-at-a-time",)),
        (elected, "become-leader", ("leader-completeness",)),
        (committed, "commit", ("committed-in-one-order", "state-machine-safety")),
    ]


def test_the_told_course_is_possible_and_breaks_nothing() -> None:
    found = replay(INTERPRETER, *COURSE)
    assert (found.breaches, found.refused) == ((), None)
    assert INTERPRETER.broken_axioms(found.world) == ()


def test_clusters_are_odd_and_even_and_have_replicas_to_spare() -> None:
    assert {cluster.voters % 2 for cluster in CLUSTERS} == {0, 1}
    assert any(cluster.replicas > cluster.voters for cluster in CLUSTERS)

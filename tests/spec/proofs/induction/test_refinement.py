"""Steps of the replicas are steps of the proof; a wrong mapping or a faulty replica is detected."""

from collections.abc import Callable, Iterator
from itertools import chain

import pytest

from kraft_mutants.playing import simulation_of
from kraft_proofs.induction import explaining
from kraft_proofs.induction.abstraction import DECISIONS
from kraft_proofs.induction.explaining import explain, of_plan
from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.invariants import Invariant
from kraft_proofs.induction.obligations import prove_induction
from kraft_proofs.induction.own_vote import where_safe
from kraft_proofs.induction.refinement import Refinement, UnexplainedStepError
from kraft_proofs.induction.symbols import REPLICA, forall, variables
from kraft_proofs.induction.theory import theory
from kraft_reference import profile as of_profile
from kraft_reference.profile import KAFKA_PROFILES, Profile
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS


@pytest.fixture(scope="module")
def interpreter() -> Interpreter:
    return Interpreter(theory())


def follow(
    interpreter: Interpreter, plan: RunPlan, kind: type[Refinement] = Refinement
) -> Iterator[tuple[tuple[Step, ...], Refinement]]:
    simulation = simulation_of(plan)
    states = {number: replica.state for number, replica in simulation.world.replicas.items()}
    followed = kind(interpreter, simulation.configuration, states)
    for occurrence in simulation.run():
        yield followed.explain(occurrence), followed


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_every_step_of_a_run_is_steps_of_the_proof_whose_invariants_hold(
    workload: str, interpreter: Interpreter
) -> None:
    taken = 0
    for number, (steps, followed) in enumerate(follow(interpreter, RunPlan(1, steps=300, workload=workload))):
        taken += len(steps)
        assert number % 100 or interpreter.broken(followed.world) == ()
    assert taken > 100


@pytest.mark.parametrize("profile", KAFKA_PROFILES, ids=lambda profile: profile.name)
def test_where_kafka_decides_the_steps_are_those_of_its_own_proof(profile: Profile) -> None:
    plans = [
        RunPlan(seed, steps=300, workload=workload, profile=profile.name)
        for workload in ("impatient-changes", "upgrade")
        for seed in range(2)
    ]
    assert explain(map(of_plan, plans), lambda _: None, profile=profile).problems == []
    (problem, *_) = explain(map(of_plan, plans), lambda _: None).problems
    assert "follows-nobody forbids stand-again" in problem


def test_a_state_that_violates_an_invariant_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    replica = variables(REPLICA, "r")
    nobody_stands = Invariant("nobody-stands", "", lambda state: forall(replica, state.epoch(*replica) == 0))
    with_it = theory()._replace(invariants=(*theory().invariants, nobody_stands))
    monkeypatch.setattr(explaining, "theory", lambda _: with_it)
    explained = explain([of_plan(RunPlan(2, steps=300, workload="elections"))], lambda _: None, invariants_every=50)
    assert [problem.splitlines()[-1] for problem in explained.problems] == [
        "event 50: nobody-stands does not hold in the proof's state"
    ]


def test_where_it_is_safe_a_restart_by_the_own_vote_is_a_step_and_keeps_the_invariants() -> None:
    interpreter = Interpreter(where_safe())
    plan = RunPlan(0, steps=300, workload="impatient-changes", profile="kafka-4")
    again = 0
    for number, (steps, followed) in enumerate(follow(interpreter, plan)):
        stands = any(step.action == "stand-again" for step in steps)
        again += stands
        assert not (stands or number % 100 == 0) or interpreter.broken(followed.world) == ()
    assert again > 0


@pytest.mark.parametrize("condition", ["log-is-older", "on-disk"])
def test_without_its_conditions_it_is_not_proved(condition: str) -> None:
    about = where_safe()
    weaker = about.with_action(about.action("stand-again").without(condition))
    assert not all(answer.proved for answer in prove_induction(("stand-again",), weaker))


def test_each_decision_has_a_reason_why_the_proof_leaves_it_out_but_one() -> None:
    assert DECISIONS.keys() == of_profile.DECISIONS.keys()
    assert [name for name, reason in DECISIONS.items() if not reason] == ["restart_precedence"]


class _NothingUnsynced(Refinement):
    def _mapped(self, state: ReplicaState):  # type: ignore[no-untyped-def]
        epoch, end, _ = super()._mapped(state)
        return epoch, end, end


class _OnlyWhatIsSynced(Refinement):
    def _mapped(self, state: ReplicaState):  # type: ignore[no-untyped-def]
        epoch, _, flushed = super()._mapped(state)
        return epoch, flushed, flushed


class _StoppedKnowsNoEpoch(Refinement):
    def _mapped(self, state: ReplicaState):  # type: ignore[no-untyped-def]
        epoch, end, flushed = super()._mapped(state)
        return (0 if state.role is Role.STOPPED else epoch), end, flushed


def _without(action: str) -> type[Refinement]:
    """Return a mapping that omits an action of the proof."""

    class Without(Refinement):
        def explain(self, occurrence):  # type: ignore[no-untyped-def]
            world = self.world
            steps = super().explain(occurrence)
            if any(step.action == action for step in steps):
                self.world = world
                for step in steps:
                    if step.action != action:
                        self.world = self.interpreter.after(self.world, step)
            return steps

    return Without


@pytest.mark.parametrize(
    "mapping",
    [
        pytest.param(lambda: _NothingUnsynced, id="all of a log is on disk"),
        pytest.param(lambda: _OnlyWhatIsSynced, id="a log ends where it is synced"),
        pytest.param(lambda: _StoppedKnowsNoEpoch, id="a stopped replica knows no epoch"),
        pytest.param(lambda: _without("acknowledge"), id="a Fetch acknowledges nothing"),
        pytest.param(lambda: _without("vote"), id="a grant is no vote"),
        pytest.param(lambda: _without("learn-leader"), id="nobody follows"),
    ],
)
def test_a_wrong_mapping_is_detected(mapping: Callable[[], type[Refinement]], interpreter: Interpreter) -> None:
    plans = (RunPlan(seed, steps=300, workload="crashes") for seed in range(5))
    with pytest.raises(UnexplainedStepError):
        list(chain.from_iterable(follow(interpreter, plan, mapping()) for plan in plans))


@pytest.mark.parametrize(
    ("rule", "workload", "seed", "words"),
    [
        ("hw.own-epoch", "elections", 2, "the proof has not committed its high watermark"),
        ("hw.leader-excluded", "voter-changes", 14, "majority-of-own-voters or majority-acknowledged forbids commit"),
        ("voters.epoch-committed-before-change", "voter-changes", 10, "has-high-watermark or epoch-is-committed"),
    ],
)
def test_an_unexplained_step_is_reported_with_the_guard_and_both_states(
    rule: str, workload: str, seed: int, words: str, interpreter: Interpreter
) -> None:
    plan = RunPlan(seed, steps=400, workload=workload, mutants=(rule,))
    with pytest.raises(UnexplainedStepError) as caught:
        list(follow(interpreter, plan))
    text = str(caught.value)
    assert words in text
    assert [line.split()[0] for line in text.splitlines()[-3:]] == ["before", "after", "proof"]

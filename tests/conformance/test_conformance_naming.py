"""Rules that a failure names: those behind the differences, wherever they begin."""

import subprocess
import sys

import pytest
from tests.conformance.altered_adapter import Altered
from tests.conformance.commands import Captured, altered, output, without_rule
from tests.misnamed import MISNAMED, Misnamed

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.random_runs.seats import LocalSession
from kraft_conformance.runner.attribution import (
    StepComparison,
    given_of,
    rules_of_order,
    rules_of_writes,
    steps_of,
)
from kraft_conformance.runner.clearing import Clearing
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.selection import select_vectors
from kraft_conformance.runner.shown import Observation
from kraft_conformance.runner.whole_run import likeliest_first
from kraft_dev.mutants.adapter import broken_adapter
from kraft_dev.mutants.subjects import subject_of
from kraft_mutants import load_catalogue
from kraft_mutants.attribution import attributed, defects
from kraft_mutants.attribution.given import played
from kraft_mutants.attribution.mutated import outcomes
from kraft_mutants.replicas import mutated_replicas
from kraft_reference import replica
from kraft_reference.replica import Replica
from kraft_spec.difference import Difference
from kraft_spec.edits import Edit, EditError, edited_packages
from kraft_traces.alternatives.writes import disk_of
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.effects import traced_effect
from kraft_traces.states import traced_state
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.cluster import configuration_from

NEXT_STEP = ("reassign.commit-before-next-step",)


def run(capsys: Captured, adapter: str, word: str) -> str:
    code, printed = output(capsys, "conformance", "run", "--adapter", adapter, "-k", word)
    assert code == ExitCode.VIOLATION
    return printed


def test_a_failure_names_the_rule_behind_what_differs(capsys: Captured) -> None:
    printed = run(capsys, without_rule("hw.own-epoch"), "unsynced-candidate.right")
    # None of these vectors is about it.
    assert "hw.own-epoch" not in Catalogue().entries["scenario.unsynced-candidate.right.replica-3"].rules
    assert "  rule hw.own-epoch: " in printed
    assert "  same outcome as the reference with this bug: a leader commits records of older\n    epochs" in printed


def test_many_failures_are_put_together(capsys: Captured) -> None:
    printed = run(capsys, without_rule("hw.own-epoch"), "fetch")
    assert " failures, all differ in state.high_watermark after HandleFetchRequest" in printed


@pytest.mark.parametrize("level", ["wire", "history"])
def test_a_history_that_differs_is_said_to(level: str, capsys: Captured) -> None:
    printed = run(capsys, altered("silent=HandleVoteRequest", level), "vote.granted")
    where = "note: differs before the first step: event 1 of 1 of the history, HandleVoteRequest: Send "
    assert where in " ".join(printed.split())


def test_a_dead_adapter_names_step_event_and_rules(capsys: Captured) -> None:
    printed = run(capsys, altered("exits=HandleVoteRequest", "history"), "vote.granted")
    assert ", HandleVoteRequest: the adapter exited with code 101 instead of replying" in printed
    assert "  rule state.learn-higher-epoch.no-leader: " in printed


def test_vectors_made_for_a_rule_come_first() -> None:
    is_of_scenario = [entry.id.startswith("scenario.") for entry in select_vectors(Catalogue(), ())]
    assert is_of_scenario == sorted(is_of_scenario)


def test_the_order_of_effects_has_its_rules() -> None:
    late = Difference("PersistQuorumState and Send VoteResponse to 1", "", "")
    assert rules_of_order([late, Difference("AppendRecords and FlushLog", "", "")]) == (
        "vote.persist-before-reply",
        "durable.write-before-act",
    )


def test_what_is_known_and_not_written_has_its_rules() -> None:
    vector = Catalogue().vector("foreign.none-named.vote")
    outcome = run_vector(LocalSession(Altered("votes-in-memory")), vector, "kip", attributes=True)
    assert outcome.rules[:2] == ("vote.persist-before-reply", "durable.write-before-act")
    # Where the replica does something else besides, it may have meant what it wrote.
    unwritten = Difference("PersistQuorumState", "a vote", "nothing")
    assert rules_of_writes("HandleVoteRequest", [unwritten, Difference("state.epoch", "1", "2")]) == ()


def test_controllers_of_partitions_are_attributed_too(capsys: Captured) -> None:
    with broken_adapter(subject_of(load_catalogue()["idle-partitions-are-listed"])) as command:
        printed = run(capsys, command, "partition.cancel")
    # The vector is about another rule.
    assert Catalogue().entries["partition.cancel"].rules == ("partition-reassign.cancel",)
    assert "  rule partition-reassign.list: " in printed


def failure_of(vector_id: str, suspects: tuple[str, ...], rules: tuple[str, ...]) -> Outcome:
    return Outcome(vector_id, Status.FAIL, rules=rules, suspects=suspects)


def test_what_explains_most_failures_comes_first() -> None:
    failures = [
        failure_of("a", ("two-changes-at-once", "next-step-at-once"), ("voters.one-change-at-a-time", *NEXT_STEP)),
        failure_of("b", ("next-step-at-once",), NEXT_STEP),
    ]
    results = likeliest_first(failures, lambda mutant: False)
    assert [result.rules[0] for result in results] == [*NEXT_STEP, *NEXT_STEP]


def test_a_mutant_that_a_passed_vector_excludes_is_cleared() -> None:
    failure = failure_of("a", ("two-changes-at-once", "next-step-at-once"), ("voters.one-change-at-a-time", *NEXT_STEP))
    (result,) = likeliest_first([failure], lambda mutant: mutant == "two-changes-at-once")
    assert result.rules[0] == NEXT_STEP[0]
    is_cleared = Clearing(Catalogue(), "state", {"prevote.follower-refuses"})
    names = ("follower-that-fetches-grants-pre-votes", "two-changes-at-once")
    assert [is_cleared(name) for name in names] == [True, False]


def test_a_step_without_a_rule_is_put_down_to_it() -> None:
    vector = Catalogue().of_replica("prevote.follower-refuses")
    configuration = configuration_from(vector.cluster)
    state = replica_state_of("$.before", vector.before)
    inputs = given_of(Replica(state, configuration), vector.steps[0])
    broken = mutated_replicas(("prevote.follower.rejects-after-fetch",))
    wrong = broken(state, configuration).step(inputs.event, inputs.draw)
    result = attributed(inputs, lambda step: [] if step == wrong else [Difference("step", str(step), str(wrong))])
    assert (result.is_exact, result.rules[0]) == (True, "prevote.follower.rejects-after-fetch")


@pytest.mark.parametrize("bug", MISNAMED, ids=lambda bug: bug.name)
def test_a_failed_step_names_the_broken_rule_first(bug: Misnamed) -> None:
    vector = Catalogue().of_replica(bug.vector)
    hello = LocalSession(ReferenceAdapter()).hello
    state = None
    for recorded in steps_of(vector, vector.cluster):
        # The bug may have led to another state than the reference's before anything shows it.
        own = recorded if state is None else recorded._replace(state=state)
        wrong = next((step for _, step in outcomes(own, {bug.name: bug.edits})), None) or played(replica, own)
        state = wrong.state
        effects = tuple([traced_effect(1, effect) for effect in wrong.effects])
        observed = Observation(effects, wrong.refusal, traced_state(state), disk_of(traced_state(recorded.state)))
        compare = StepComparison(observed, hello).differences
        if compare(played(replica, recorded)):
            assert attributed(recorded, compare, vector.rules).rules[0] == bug.rule
            return
    raise AssertionError("the vector does not meet the bug")


def fail(*_: object) -> None:
    raise EditError("kraft_reference/elections.py: 'x' stands there 0 times, expected once")


UNRANKED = "the rules are not ranked, the verdict stands: EditError: kraft_reference/elections.py: "


def test_a_defect_of_attribution_leaves_the_failure_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraft_conformance.runner.replica_running.attribute_step", fail)
    monkeypatch.setattr(defects, "RAISES", False)
    vector = Catalogue().vector("foreign.none-named.vote")
    outcome = run_vector(LocalSession(Altered("votes-in-memory")), vector, "kip", attributes=True)
    assert (outcome.status, outcome.rules) == (Status.FAIL, vector.rules)
    assert outcome.remark.startswith(UNRANKED)


def test_a_reference_that_is_edited_where_the_runner_is_installed_is_judged_all_the_same() -> None:
    edit = Edit("kraft_reference/elections.py", "# Rule: prevote.leader.rejects.", "# A mutant edits this line.")
    words = ("conformance", "run", "--adapter", altered("silent=HandleVoteRequest"), "-k", "vote.granted")
    with edited_packages([edit]) as environment:
        program = "import sys; from kraft_cli.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == ExitCode.VIOLATION, done.stderr
    assert f"note: {UNRANKED}" in " ".join(done.stdout.split())

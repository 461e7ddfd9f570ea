"""Grading the suite: what broken references are caught by, the published table, and vectors from constructed states."""

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.conformance.commands import altered

from kraft_conformance.cli import main as conformance
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import Reset, ResetReply, Step, StepReply
from kraft_conformance.protocol.partitions import (
    PartitionReset,
    PartitionResetReply,
    PartitionStep,
    PartitionStepReply,
    ShownStorePartitions,
)
from kraft_conformance.runner.outcome import FAILING
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.session import Session
from kraft_conformance.vectors.acceptance import NotAcceptedError, accepted_by_model
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.files import files_of
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_conformance.vectors.recording import Subject as Cut
from kraft_conformance.vectors.recording import vector_of
from kraft_dev.cli import main
from kraft_dev.grading import grader as grader_module
from kraft_dev.grading.campaign import GradingPlan, grade
from kraft_dev.grading.checking import not_caught_any_more, problems, sampled
from kraft_dev.grading.grader import Grader, GradingError, command_line
from kraft_dev.grading.naming import load_naming, naming_bytes
from kraft_dev.grading.subjects import graded_mutants, subject_graded
from kraft_dev.grading.table import Row, Table, load_table, score, table_bytes
from kraft_dev.grading.views import View
from kraft_dev.mutation.campaign import UNBROKEN, Subject, subject_of
from kraft_dev.results import result_file
from kraft_dev.vectors.generate import write
from kraft_dev.vectors.staging import RecordingDirector, recorded
from kraft_dev.vectors.target import THREE
from kraft_dev.vectors.targeted.candidates import rivals
from kraft_reference.events import ElectionTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Refusal
from kraft_reference.roles import Role
from kraft_reference.scenarios.opening import start
from kraft_spec.edits import Edit, EditError
from kraft_spec.mutants import load_catalogue
from kraft_traces.effects import TracedPersistQuorumState, TracedSend, TracedStartTimer
from kraft_traces.values import TracedKey

DOCS = Path(__file__).parents[2] / "docs"


def vectors(*ids: str) -> tuple[Vector, ...]:
    catalogue = Catalogue()
    return tuple([catalogue.of_replica(one) for one in ids]) or catalogue.of_replicas()


def mutant(name: str) -> Subject:
    return subject_of(load_catalogue()[name])


# -------------------------------------------------------------------------------------------------------------
# The published table.
# -------------------------------------------------------------------------------------------------------------


def test_the_table_has_every_mutant_and_names_vectors_that_there_are() -> None:
    assert problems(load_table()) == []


def test_the_table_is_written_as_it_is_read() -> None:
    assert table_bytes(load_table()) == result_file("grading").read_bytes()
    assert naming_bytes(load_naming()) == result_file("naming").read_bytes()


def test_vectors_catch_nine_of_ten_and_no_named_mutant_escapes_both() -> None:
    table = load_table()
    assert table.machine is not None
    assert score((*table.seeded, *table.machine.rows)).share >= 0.9
    named = score(table.seeded)
    assert named.share >= 0.9
    assert named.together == named.mutants


def test_a_sample_of_the_named_mutants_is_caught_by_the_vectors_in_its_rows() -> None:
    rows = sampled(load_table().seeded, every=25)
    assert len(rows) > 10
    assert not_caught_any_more(rows) == []


@pytest.mark.nightly
def test_every_named_mutant_is_caught_by_the_vectors_in_its_row() -> None:
    assert not_caught_any_more(load_table().seeded) == []


def changed(table: Table, place: int, **fields: object) -> Table:
    rows = list(table.seeded)
    rows[place] = structs.replace(rows[place], **fields)
    return structs.replace(table, seeded=tuple(rows))


def test_a_table_that_is_out_of_date_says_so() -> None:
    table = load_table()
    first = table.seeded[0]
    assert problems(structs.replace(table, seeded=table.seeded[1:])) == [f"the mutant {first.mutant} has no row"]
    assert f"there is no mutant {first.mutant}-x" in problems(changed(table, 0, mutant=f"{first.mutant}-x"))
    gone = changed(table, 0, state="nowhere-to-be-found")
    assert problems(gone) == [f"{first.mutant}: there is no vector nowhere-to-be-found any more"]
    uncaught = changed(table, 0, wire=None, effects=None, state=None, history=None, random=None)
    assert problems(uncaught) == ["1 named mutants are caught by nothing"]
    assert problems(changed(table, 0, rules=("vote.log-check",)))[0].startswith(f"{first.mutant} breaks ")
    assert problems(changed(table, 0, excluded="because")) == [
        f"{first.mutant} is excluded, and caught",
        f"{first.mutant}: excluded.toml says 'nothing'",
    ]


def test_a_row_whose_vector_notices_nothing_is_found() -> None:
    row = next(row for row in load_table().seeded if row.mutant == "vote-without-log-check")
    wrong = structs.replace(row, wire="vote.granted", effects="vote.granted", state="vote.granted", history=None)
    assert not_caught_any_more((wrong,)) == [
        f"vote-without-log-check: vote.granted does not notice it any more at {level}"
        for level in ("wire", "effects", "state")
    ]


def test_each_seeded_mutant_is_of_the_quorum_part_or_of_the_partitions() -> None:
    others = [one for one in graded_mutants() if subject_graded(one) == "partitions"]
    assert {edit.file.partition("/")[0] for one in others for edit in one.reference} == {"partitions"}
    assert all(rule.startswith("partition-") for one in others for rule in one.rules)
    rows = {row.mutant: row.subject for row in load_table().seeded}
    assert {name for name, subject in rows.items() if subject == "partitions"} == {one.name for one in others}


def test_a_mutant_of_the_partitions_is_graded_with_their_vectors() -> None:
    catalogue = Catalogue()
    asked = tuple([catalogue.vector(f"partition.{one}") for one in ("cancel", "override", "failover.reads")])
    row = Grader(asked).row(mutant("lists-are-not-stored"), ("partition-reassign.persisted",))
    assert (row.wire, row.vectors, row.history) == ("partition.failover.reads", 2, "partition.failover.reads")


# -------------------------------------------------------------------------------------------------------------
# One mutant.
# -------------------------------------------------------------------------------------------------------------


def test_a_mutant_has_the_first_vector_of_each_level_and_how_many_there_are() -> None:
    asked = vectors("vote.log-check", "vote.granted", "restart.voted-static", "constructed.leader-asked")
    assert Grader(asked).row(mutant("vote-without-log-check"), ("vote.log-check",)) == Row(
        mutant="vote-without-log-check",
        rules=("vote.log-check",),
        vectors=1,
        counted=True,
        wire="vote.log-check",
        effects="vote.log-check",
        state="vote.log-check",
        history="vote.log-check",
        said="step 1 of 1: Send VoteResponse to 3.granted: expected false, actual true",
    )
    row = Grader(asked).row(mutant("file-version-0-without-vote"))
    assert (row.level, row.wire, row.effects) == ("effects", None, "restart.voted-static")
    row = Grader(asked).row(mutant("leader-is-asked-too"))
    assert (row.level, row.wire, row.history) == ("wire", "constructed.leader-asked", None)


@pytest.mark.parametrize(
    ("new", "said"),
    [("raise RuntimeError('no')\n", "ended with exit code 1"), ("import time\ntime.sleep(60)\n", "no reply within")],
)
def test_a_mutant_that_does_not_come_to_its_hello_is_caught_there(
    monkeypatch: pytest.MonkeyPatch, new: str, said: str
) -> None:
    monkeypatch.setattr(grader_module, "REPLY_TIMEOUT_S", 1.0)
    old = "from kraft_reference.configuration import Configuration\n"
    row = Grader(vectors("vote.granted")).row(Subject("broken", (Edit("elections.py", old, f"{old}{new}"),)))
    assert (row.first, row.counted) == ("hello", False)
    assert said in row.said


def test_a_mutant_that_dies_in_every_vector_is_left_alone_after_a_few() -> None:
    old = "    def step(self,"
    new = "    def step(self, *_):\n        import os\n\n        os._exit(7)\n\n    def _step(self,"
    died = Edit("replica.py", old, new)
    row = Grader(vectors()).row(Subject("dies", (died,)))
    assert (row.vectors, row.counted) == (3, False)
    assert "ended with exit code 7" in row.said


def test_an_edit_that_does_not_fit_is_no_mutant() -> None:
    with pytest.raises(EditError, match="stands there 0 times"):
        Grader(vectors("vote.granted")).row(Subject("none", (Edit("elections.py", "no such text", ""),)))


def test_an_unbroken_reference_in_place_of_the_mutant_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(environment: dict[str, str]) -> str:
        copy = environment["PYTHONPATH"].split(os.pathsep)[0]
        return command_line(environment).replace(f"PYTHONPATH={copy}", "PYTHONPATH=")

    monkeypatch.setattr(grader_module, "command_line", elsewhere)
    with pytest.raises(GradingError, match="does not come from the edited copy"):
        Grader(vectors("vote.granted")).row(UNBROKEN)


def test_nothing_is_graded_with_vectors_that_fail_on_the_unbroken_reference(tmp_path: Path) -> None:
    vector = vectors("vote.granted")[0]
    step = structs.replace(vector.steps[0], refusal=Refusal.STALE_EPOCH)
    write(files_of((structs.replace(vector, steps=(step,)),)), tmp_path)
    with pytest.raises(GradingError, match=r"vote\.granted fails on the unbroken reference: step 1 of 1: refusal"):
        grade(GradingPlan(()), catalogue=Catalogue(tmp_path))


@pytest.mark.parametrize("level", ["wire", "effects"])
def test_a_view_shows_what_an_adapter_of_that_level_does(level: str) -> None:
    """The same vectors on the reference seen as less, and on an adapter that shows less, with the same outcomes."""
    reference = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
    less = altered(level)
    asked = vectors()[::4]
    with Session(reference, 10.0) as whole, Session(less, 10.0) as limited:
        view = View(whole, level, injects=False)  # type: ignore[arg-type]
        seen = [run_vector(view, vector, "kip") for vector in asked]
        assert seen == [run_vector(limited, vector, "kip") for vector in asked]
    assert not [one for one in seen if one.status in FAILING]


def test_a_view_of_the_wire_leaves_out_what_is_written() -> None:
    reference = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
    vector = vectors("vote.granted")[0]
    step = vector.steps[0]
    asked: dict[str, Any] = {"event": step.event, "message": step.message, "draw": step.draw}
    shown = []
    with Session(reference, 10.0) as whole:
        for level in ("wire", "effects"):
            view = View(whole, level, injects=True)
            view.ask(ResetReply, Reset, replica=vector.replica, cluster=vector.cluster, before=vector.before)
            shown.append([type(one) for one in view.ask(StepReply, Step, **asked).effects])
    assert shown == [[TracedSend], [TracedPersistQuorumState, TracedSend, TracedStartTimer]]


def test_a_view_of_the_wire_leaves_out_what_controllers_store() -> None:
    reference = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
    vector = Catalogue().vector("partition.start")
    assert isinstance(vector, PartitionVector)
    shown = []
    with Session(reference, 10.0) as whole:
        for level in ("wire", "effects"):
            view = View(whole, level, injects=True)
            view.ask(PartitionResetReply, PartitionReset, cluster=vector.cluster, before=vector.before)
            reply = view.ask(PartitionStepReply, PartitionStep, event=vector.steps[0].event)
            shown.append([isinstance(one, ShownStorePartitions) for one in reply.effects])
    assert (any(shown[0]), any(shown[1]), len(shown[1]) - len(shown[0])) == (False, True, 1)


# -------------------------------------------------------------------------------------------------------------
# The command.
# -------------------------------------------------------------------------------------------------------------


def test_the_command_shows_one_mutant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "-k", "vote-without-log-check", "--vectors-only", "--first"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 caught by vectors (100.0%): at wire 1, at effects 1, at state 1" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-k", "no-such-mutant"], "no mutant of the reference fits no-such-mutant"),
        (["--no-seeded"], "nothing to grade"),
        (["-k", "vote-without-log-check", "--record"], "does not go with -k"),
    ],
)
def test_wrong_use_is_told(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["grade", *words]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------------------
# Constructed states, and events that are not due.
# -------------------------------------------------------------------------------------------------------------

CUT = Cut("constructed.made", "Made here", ("vote.candidate.rejects",), 1)


def votes_again(d: RecordingDirector, **fields: object) -> None:
    rivals(d)
    d.construct(1, "it has voted for itself", **fields)
    d.step("v(3>1)")
    d.vote(3, 1, "refused")


def test_a_vector_of_a_constructed_state_has_no_history_and_says_why() -> None:
    run = recorded("a script", THREE, lambda d: votes_again(d, voted_key=ReplicaKey(3, "U3")), accepted_by_model)
    vector = vector_of(run, CUT)
    assert vector is not None
    assert (vector.history, vector.constructed) == (None, "it has voted for itself")
    assert (vector.before.state.voted_key, vector.before.state.role) == (TracedKey(3, "U3"), "Candidate")
    assert vector.requires.profiles == ("kip", "kafka-4")


def test_the_model_is_asked_from_the_constructed_state() -> None:
    run = recorded("a script", THREE, lambda d: votes_again(d, voted_key=ReplicaKey(3, "U3")), lambda _: ("kip",))
    last = run.occurrences[-2]
    assert last.replica_id == 1
    assert last.state is not None
    cast = last._replace(state=last.state._replace(voted_key=ReplicaKey(1, "U1")))
    with pytest.raises(NotAcceptedError, match=r"a script: rejected: .* HandleVoteRequest at replica 1"):
        accepted_by_model(replace(run, occurrences=(*run.occurrences[:-2], cast)))


def test_a_state_that_is_not_well_typed_makes_no_vector() -> None:
    with pytest.raises(AssertionError, match="a script: the constructed state is not well-typed"):
        recorded("a script", THREE, lambda d: votes_again(d, voted_key=None), accepted_by_model)


def test_an_event_that_is_not_due_must_be_refused_by_the_model_too() -> None:
    def fires(d: RecordingDirector) -> None:
        start(d, 1, 1)
        d.step("et(1)")
        d.refuses(1, ElectionTimeout(), Refusal.NOT_IN_ROLE)

    run = recorded("a script", THREE, fires, accepted_by_model)
    assert run.profiles == ("kip", "kafka-4")
    assert run.occurrences[-1].state is not None
    assert run.occurrences[-1].state.role is Role.LEADER
    wrong = (*run.occurrences[:-1], run.occurrences[-1]._replace(refusal=Refusal.NOTHING_DUE))
    with pytest.raises(NotAcceptedError, match="ElectionTimeout at replica 1"):
        accepted_by_model(replace(run, occurrences=wrong))


def test_without_injection_a_constructed_vector_is_unsupported(capsys: pytest.CaptureFixture[str]) -> None:
    command = altered("history")
    conformance(["conformance", "run", "-k", "constructed.leader-asked", "--adapter", command])
    assert "unsupported: 1, needs state_injection" in capsys.readouterr().out

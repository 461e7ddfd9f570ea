"""The vectors as a tool: mutants behind the adapter, and views with a lower observability level."""

import os
from typing import Any

import pytest
from tests.conformance.commands import REFERENCE, altered

from kraft_conformance.protocol.messages import Reset, ResetReply, Step, StepReply
from kraft_conformance.protocol.partitions import PartitionReset, PartitionResetReply, PartitionStep, PartitionStepReply
from kraft_conformance.runner.outcome import FAILING
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.session import Session
from kraft_dev.mutants import adapter
from kraft_dev.mutants.adapter import command_line
from kraft_dev.mutants.listing import load_listed
from kraft_dev.mutants.measuring import problems, runner
from kraft_dev.mutants.subjects import UNBROKEN, Subject, seeded_subjects
from kraft_dev.mutants.tool import Means, ToolError
from kraft_dev.mutants.vectors import DETECTORS, HISTORY, View, cells_of
from kraft_dev.results import Cell
from kraft_spec.edits import Edit
from kraft_traces.effects import TracedPersistQuorumState, TracedSend, TracedStartTimer
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.features import LEVELS
from kraft_vectors.format import Vector
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.partitions.shown import ShownStorePartitions

MEANS = Means()


def vectors(*ids: str) -> tuple[AnyVector, ...]:
    catalogue = Catalogue()
    return tuple([catalogue.vector(vector_id) for vector_id in ids]) or catalogue.of_replicas()


def cells(subject: Subject | str, *ids: str) -> dict[str, Cell]:
    if isinstance(subject, str):
        (subject,) = seeded_subjects((subject,))
    results = cells_of(subject, vectors(*ids), MEANS)
    assert [cell.detector for cell in results] == list(DETECTORS)
    return {cell.detector: cell for cell in results}


def test_a_mutant_that_only_a_constructed_state_shows_is_detected_by_its_vector() -> None:
    """`make killed` runs a quarter of the other vectors."""
    listed = {name: of for name, of in load_listed().items() if of.keys() & {*LEVELS} and HISTORY not in of}
    assert len(listed) >= 5
    with runner(None, lambda _: None) as run:
        run._limits["vectors"] = 60.0
        assert [*problems(run.rows(seeded_subjects([*listed])))] == []


def test_a_listed_vector_that_detects_nothing_is_a_problem() -> None:
    with runner(None, lambda _: None) as run:
        run._limits["vectors"] = 60.0
        run.listed = {"vote-without-log-check": {"wire": "vote.granted"}}
        messages = [*problems(run.rows(seeded_subjects(["vote-without-log-check"])))]
    assert messages == ["vote-without-log-check: wire: does not detect it by vote.granted, as detected_by.toml lists"]


def test_a_mutant_has_the_first_vector_of_each_level_and_how_many_there_are() -> None:
    vector_ids = ("vote.log-check", "vote.granted", "restart.voted-static", "constructed.leader-asked")
    results = cells("vote-without-log-check", *vector_ids)
    assert {cell.where for cell in results.values()} == {"vote.log-check"}
    assert results["wire"].what == "step 1 of 1: Send VoteResponse to 3.granted: expected false, actual true"
    assert results["state"].amount == 1
    results = cells("file-version-0-without-vote", *vector_ids)
    assert (results["wire"].detects, results["effects"].where) == (False, "restart.voted-static")
    results = cells("leader-is-asked-too", *vector_ids)
    assert (results["wire"].where, results[HISTORY].detects) == ("constructed.leader-asked", False)


def test_a_mutant_of_the_partitions_meets_their_vectors() -> None:
    results = cells(
        "lists-are-not-stored", *(f"partition.{vector_id}" for vector_id in ("cancel", "override", "failover.reads"))
    )
    assert (results["wire"].where, results["state"].amount) == ("partition.failover.reads", 2)
    assert results[HISTORY].where == "partition.failover.reads"


@pytest.mark.parametrize(
    ("new", "where", "timeout_s"),
    [
        ("raise RuntimeError('no')\n", "exited with code 1", 60.0),
        ("import time\ntime.sleep(60)\n", "no reply within", 1.0),
    ],
)
def test_a_mutant_that_does_not_come_to_its_hello_is_detected_there(
    monkeypatch: pytest.MonkeyPatch, new: str, where: str, timeout_s: float
) -> None:
    monkeypatch.setattr(adapter, "REPLY_TIMEOUT_S", timeout_s)
    old = "from kraft_reference.configuration import Configuration\n"
    results = cells(Subject("broken", (Edit("kraft_reference/elections.py", old, f"{old}{new}"),)), "vote.granted")
    assert {cell.where for cell in results.values()} == {"hello"}
    assert where in results["wire"].what


def test_a_mutant_that_dies_in_every_vector_is_left_alone_after_a_few() -> None:
    old = "    def step(self,"
    new = "    def step(self, *_):\n        import os\n\n        os._exit(7)\n\n    def _step(self,"
    results = cells(Subject("dies", (Edit("kraft_reference/replica.py", old, new),)))
    assert (results["state"].detects, results["state"].amount) == (True, 0), "how many there are is not known"
    assert "exited with code 7" in results["state"].what


def test_an_unbroken_reference_in_place_of_the_mutant_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(environment: dict[str, str]) -> str:
        copy = environment["PYTHONPATH"].split(os.pathsep)[0]
        return command_line(environment).replace(f"PYTHONPATH={copy}", "PYTHONPATH=")

    monkeypatch.setattr(adapter, "command_line", elsewhere)
    with pytest.raises(ToolError, match="does not come from the edited copy"):
        cells(UNBROKEN, "vote.granted")


@pytest.mark.nightly
@pytest.mark.parametrize("level", ["wire", "effects"])
def test_a_view_shows_what_an_adapter_of_that_level_does(level: str) -> None:
    """The same vectors have the same outcomes on a view of the reference and on an adapter of that level."""
    sample = vectors()[::4]
    with Session(REFERENCE, 10.0) as whole, Session(altered(level), 10.0) as limited:
        view = View(whole, level, injects=False)  # type: ignore[arg-type]
        outcomes = [run_vector(view, vector, "kip") for vector in sample]
        assert outcomes == [run_vector(limited, vector, "kip") for vector in sample]
    assert not [outcome for outcome in outcomes if outcome.status in FAILING]


def test_a_view_of_the_wire_leaves_out_what_is_written() -> None:
    (vector,) = vectors("vote.granted")
    assert isinstance(vector, Vector)
    step = vector.steps[0]
    request: dict[str, Any] = {"event": step.event, "message": step.message, "draw": step.draw}
    effects = []
    with Session(REFERENCE, 10.0) as whole:
        for level in ("wire", "effects"):
            view = View(whole, level, injects=True)
            view.ask(ResetReply, Reset, replica=vector.replica, cluster=vector.cluster, before=vector.before)
            effects.append([type(effect) for effect in view.ask(StepReply, Step, **request).effects])
    assert effects == [[TracedSend], [TracedPersistQuorumState, TracedSend, TracedStartTimer]]


def test_a_view_of_the_wire_leaves_out_what_controllers_store() -> None:
    (vector,) = vectors("partition.start")
    assert isinstance(vector, PartitionVector)
    effects = []
    with Session(REFERENCE, 10.0) as whole:
        for level in ("wire", "effects"):
            view = View(whole, level, injects=True)
            view.ask(PartitionResetReply, PartitionReset, cluster=vector.cluster, before=vector.before)
            reply = view.ask(PartitionStepReply, PartitionStep, event=vector.steps[0].event)
            effects.append([isinstance(effect, ShownStorePartitions) for effect in reply.effects])
    assert (any(effects[0]), any(effects[1]), len(effects[1]) - len(effects[0])) == (False, True, 1)

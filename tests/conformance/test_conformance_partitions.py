"""The subject `partitions`: messages, vectors, and the runner's verdicts."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from tests.conformance.commands import Captured, altered, assert_said, lines, output, without_rule

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.partitions import PartitionObserve, PartitionReset
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.results import suite_version
from kraft_conformance.runner.running import error_outcome, run_vector
from kraft_conformance.runner.session import Session
from kraft_mutants import omittable_partition_rules
from kraft_mutants.replicas import mutated_controllers
from kraft_spec.edits import Edit, edited_packages
from kraft_traces.partitions.encode import configuration_of
from kraft_traces.partitions.process import PartitionProcess
from kraft_vectors.acceptance import NotAcceptedError
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.partitions.recording import PartitionSubject, partition_vector_of
from kraft_vectors.partitions.shown import partition_cluster_of
from kraft_vectors.partitions.staging import (
    PartitionRun,
    RecordingStage,
    accepting,
    partition_run,
)
from kraft_vectors.partitions.target import FIVE
from kraft_vectors.recording import VectorProofError
from kraft_vectors.smoke import PARTITION_SMOKE

ENTRIES = [entry for entry in Catalogue().manifest.vectors if entry.subject == "partitions"]


def ran(capsys: Captured, adapter: str, word: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of `kraft-spec conformance run`, and the JSON lines of the vectors of partitions."""
    code, results = lines(capsys, "conformance", "run", "--adapter", adapter, "-k", word)
    ours = {entry.id for entry in ENTRIES}
    return code, [line for line in results if line.get("id") in ours]


@cache
def vectors() -> tuple[PartitionVector, ...]:
    return tuple([vector_called(entry.id) for entry in ENTRIES])


def outcomes(command: str) -> list[Outcome]:
    """Return the outcome of every vector with an adapter of profile kip."""
    session, result = Session(command, 20), []
    for vector in vectors():
        try:
            result.append(run_vector(session, vector, "kip"))
        except AdapterFault as fault:
            result.append(error_outcome(vector.id, fault))
            session.end(politely=False)
            session = Session(command, 20)
    session.end()
    return result


def statuses(results: Iterable[dict[str, Any]]) -> set[str]:
    return {line["status"] for line in results}


# -------------------------------------------------------------------------------------------------------------
# The protocol.
# -------------------------------------------------------------------------------------------------------------


def vector_called(name: str) -> PartitionVector:
    vector = Catalogue().vector(name)
    assert isinstance(vector, PartitionVector)
    return vector


def test_the_adapter_says_what_it_cannot_do() -> None:
    reference = ReferenceAdapter()
    with pytest.raises(ValueError, match="there was no partition_reset yet"):
        reference.answer(PartitionObserve(id=1))
    vector = vector_called("partition.start")
    partial = PartitionReset(
        id=1, cluster=vector.cluster, before=type(vector.before)(controller=1, alive=(), deleting=())
    )
    with pytest.raises(ValueError, match=r"\$\.before: Object missing required field `legacy`"):
        reference.answer(partial)


def test_every_cluster_of_the_vectors_comes_back_from_its_data() -> None:
    clusters = [vector_called(entry.id).cluster for entry in ENTRIES]
    assert [partition_cluster_of(configuration_of(cluster)) for cluster in clusters] == clusters


# -------------------------------------------------------------------------------------------------------------
# Who is asked.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "reasons"),
    [
        ("subjects=replica", {"needs the subject partitions"}),
        ("kip-595-only", {"needs KIP-455"}),
        ("unsupported=old-znode+unclean-election", {"needs old-znode", "needs unclean-election"}),
    ],
)
def test_what_an_adapter_lacks_is_unsupported(capsys: Captured, mode: str, reasons: set[str]) -> None:
    _, results = ran(capsys, altered(mode), "partition-reassign.")
    assert {line["reason"] for line in results if line["status"] == "unsupported"} == reasons
    alone = not mode.startswith("unsupported")
    assert statuses(results) == ({"unsupported"} if alone else {"pass", "skipped", "unsupported"})


def test_an_adapter_of_partitions_alone_is_asked_nothing_else(capsys: Captured) -> None:
    words = ("conformance", "smoke", "--adapter", altered("subjects=partitions"))
    number = len(PARTITION_SMOKE)
    passed = f"{number} vectors of suite {suite_version()}: {number} pass\n"
    assert output(capsys, *words, "--subject", "partitions") == (ExitCode.CONFORMANT, passed)
    code, text = output(capsys, *words)
    assert (code, text.splitlines()[0]) == (ExitCode.NOTHING_JUDGED, "12 unsupported: needs the subject replica")
    printed = "no subject 'partition', expected one of replica, partitions"
    assert_said(capsys, ExitCode.USAGE, printed, *words, "--subject", "partition")


# -------------------------------------------------------------------------------------------------------------
# Right ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode",
    ["state", "wire", "other-order-of-rows", "tells-again", "stores-one-by-one", "leader-and-isr-version=4"],
)
def test_what_no_rule_forbids_passes(mode: str) -> None:
    results = outcomes(altered(mode))
    skipped = [result for result in results if result.status is Status.SKIPPED]
    assert {item.reason for item in skipped} == {"for profile kafka-4 (experimental), not kip"}
    unobserved = [result.id for result in results if result.status is Status.UNOBSERVED]
    assert unobserved == ([entry.id for entry in ENTRIES if entry.level != "wire"] if mode == "wire" else [])
    assert sum(result.status is Status.PASS for result in results) == len(ENTRIES) - len(skipped) - len(unobserved)


@contextmanager
def edited(monkeypatch: pytest.MonkeyPatch, edits: Iterable[Edit]) -> Iterator[None]:
    """Adapters that are started here import an edited reference."""
    with edited_packages(edits) as environment, monkeypatch.context() as patched:
        for name in environment.keys() - os.environ.keys() | {"PYTHONPATH"}:
            patched.setenv(name, environment[name])
        yield


FREE = {
    "the last in sync leads": Edit(
        "kraft_partitions/leadership.py",
        "for replica in partition.replicas if replica in alive]",
        "for replica in reversed(partition.replicas) if replica in alive]",
    ),
    "a cancellation sorts": Edit(
        "kraft_partitions/reassignment.py",
        "replicas = partition.original\n",
        "replicas = tuple(sorted(partition.original)[::-1])\n",
    ),
    "everybody is told of the ISR": Edit(
        "kraft_partitions/changes.py",
        "{name for name in names if name != kept_quiet or _is_news(before[name], new[name])} | set(notified)",
        "set(names) | set(notified)",
    ),
}


@pytest.mark.parametrize("level", ["state", "wire"])
@pytest.mark.parametrize("choice", sorted(FREE))
def test_what_the_rules_leave_open_is_free(monkeypatch: pytest.MonkeyPatch, choice: str, level: str) -> None:
    """A vector that cannot continue from a choice is skipped with the reason."""
    with edited(monkeypatch, [FREE[choice]]):
        results = outcomes(altered(level))
    assert [result for result in results if result.status in FAILING] == []
    skipped = [result.id for result in results if "the vector continues from another choice" in result.reason]
    assert len(skipped) <= 10
    assert sum(result.status is Status.PASS for result in results) > 80


# -------------------------------------------------------------------------------------------------------------
# Wrong ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "vector", "text"),
    [
        (
            "tells-first",
            "partition.start",
            "expected StorePartitions A-0 before LeaderAndIsr A-0 to 1, "
            "actual LeaderAndIsr A-0 to 1 before StorePartitions A-0",
        ),
        ("stores-twice", "partition.start", "StorePartitions A-0: expected once, actual twice"),
        ("never-stops", "partition.cancel", "StopReplica A-0 to 4: expected once, actual nothing"),
        ("leader-and-isr-version=2", "partition.start", "LeaderAndIsr A-0 to 1.version: expected at least 3, actual 2"),
        (
            "forgets-rows",
            "partition.list.all",
            'ListReassignmentsAnswer.reassignments.A-0: expected {"replicas": [1, 4, 3, 2], "adding": [4], '
            '"removing": [1]}, actual nothing',
        ),
        (
            "forgets-rows",
            "partition.invalid.empty",
            'AlterReassignmentsAnswer.results.A-0: expected "INVALID_REPLICA_ASSIGNMENT", actual nothing',
        ),
        ("one-partition-less", "partition.list.all", "before.partitions.A-0: expected {"),
        (
            "other-error=NO_REASSIGNMENT_IN_PROGRESS",
            "partition.request.error-order",
            'AlterReassignmentsAnswer.results.A-99: expected "UNKNOWN_TOPIC_OR_PARTITION", '
            'actual "NO_REASSIGNMENT_IN_PROGRESS"',
        ),
    ],
)
def test_what_is_wrong_fails(capsys: Captured, mode: str, vector: str, text: str) -> None:
    code, results = ran(capsys, altered(mode), vector)
    failed = next(result for result in results if result["id"] == vector)
    assert (code, failed["status"]) == (ExitCode.VIOLATION, "fail")
    assert text in failed["reason"]


@pytest.mark.parametrize(
    ("vector", "error"),
    [
        ("partition.request.error-order", "INVALID_REPLICA_ASSIGNMENT"),
        ("partition.request.unauthorized-elsewhere", "NONE"),
    ],
)
def test_of_two_errors_either_is_right(capsys: Captured, vector: str, error: str) -> None:
    """The order of the errors is a SHOULD."""
    _, result = ran(capsys, altered(f"other-error={error}"), vector)
    assert statuses(result) == {"pass"}


def test_a_field_that_is_left_out_is_unobserved(capsys: Captured) -> None:
    code, results = ran(capsys, altered("leader-and-isr-without=removing"), "partition.start.adds")
    assert (code, statuses(results)) == (ExitCode.NOTHING_JUDGED, {"unobserved"})
    assert results[0]["reason"].startswith("not shown: LeaderAndIsr A-0 to 1.removing, ")
    code, results = ran(capsys, altered("leader-and-isr-without=version"), "partition.start.adds")
    assert (code, statuses(results)) == (ExitCode.CONFORMANT, {"pass"})


@pytest.mark.parametrize("rule", omittable_partition_rules())
def test_each_rule_that_can_be_left_out_is_noticed_by_a_vector_about_it(capsys: Captured, rule: str) -> None:
    code, results = ran(capsys, without_rule(rule), rule)
    assert code == ExitCode.VIOLATION
    assert rule in {name for result in results if result["status"] == "fail" for name in result["rules"]}


# -------------------------------------------------------------------------------------------------------------
# The generator.
# -------------------------------------------------------------------------------------------------------------


def cancels(s: RecordingStage) -> None:
    s.alter(3, 4, 5)
    s.step("Alter(null)")
    s.cancel()


def made(rules: tuple[str, ...] = ("partition-reassign.cancel",)) -> PartitionVector:
    run = partition_run("a script", FIVE, cancels, lambda _: ("kip",))
    return partition_vector_of(run, PartitionSubject("partition.cancels", "A cancellation", rules))


def test_a_rule_that_the_steps_do_not_turn_on_is_refused() -> None:
    assert made().rules == ("partition-reassign.cancel",)
    with pytest.raises(ValueError, match=r"nothing in it shows whether partition-reassign\.override is kept"):
        made(("partition-reassign.cancel", "partition-reassign.override"))


def test_a_history_that_leaves_something_open_is_refused() -> None:
    def goes_on(s: RecordingStage) -> None:
        s.alter(3, 4, 5)
        s.cancel()
        s.step("Alter(null) again")
        s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")

    run = partition_run("a script", FIVE, goes_on, lambda _: ("kip",))
    with pytest.raises(VectorProofError, match="its history leaves something open, at AlterPartitionReassignments"):
        partition_vector_of(run, PartitionSubject("partition.x", "", ("partition-reassign.cancel-nothing",)))


def test_a_step_that_the_reference_does_not_take_is_refused() -> None:
    run = partition_run("a script", FIVE, cancels, lambda _: ("kip",))
    tampered = (*run.occurrences[:-1], run.occurrences[-1]._replace(effects=()))
    with pytest.raises(VectorProofError, match="step 0 gives"):
        partition_vector_of(
            replace(run, occurrences=tampered), PartitionSubject("partition.x", "", ("partition-reassign.list",))
        )


@pytest.mark.slow
def test_a_run_that_the_model_rejects_makes_no_vector() -> None:
    broken = mutated_controllers(("partition-reassign.cancel",))
    run = partition_run("a bug", FIVE, cancels, lambda _: ("kip",), broken)
    with PartitionProcess() as process:
        accepts = accepting(process)
        assert accepts(PartitionRun("right", FIVE, partition_run("", FIVE, cancels, lambda _: ()).occurrences, 2)) == (
            "kip",
        )
        with pytest.raises(NotAcceptedError, match=r"a bug: rejected: .*AlterPartitionReassignments"):
            accepts(run)

"""Profiles: a vector for each setting, sources of Kafka's, and the mark `experimental` in every output."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from junitparser import JUnitXml
from msgspec.structs import replace as with_fields
from tests.conformance.commands import REFERENCE, Captured, altered, document, lines, output

from kraft_cli.commands import conformance_profiles
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.output.results import suite_version
from kraft_kafka.differences import known_differences
from kraft_partitions import decisions as of_partitions
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.state import initial_state
from kraft_reference.configuration import Configuration
from kraft_reference.profile import KAFKA_PROFILES, KIP, PROFILES, Profile, settings, with_settings
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.scenarios.opening import nominate, start
from kraft_simulation.scenarios.schedule import ScenarioFailure
from kraft_spec.rules import load_registry
from kraft_traces.check import Verdict, VerdictKind
from kraft_traces.partitions.encode import configuration_of, event_of, line_of
from kraft_vectors import acceptance, profiles
from kraft_vectors.acceptance import accepted_by_model, accepted_under_own_profile
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.features import Subject as SubjectName
from kraft_vectors.format import Vector
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.partitions.values import shown_effect
from kraft_vectors.profiles import (
    EXPERIMENTAL,
    SUFFIX,
    SUFFIXES,
    Source,
    difference_of,
    provenance,
    read_kafka_file,
    shown_profile,
    summary_of,
)
from kraft_vectors.recording import Run, Subject, vector_of
from kraft_vectors.scripts import TARGETS
from kraft_vectors.staging import RecordingDirector, record_run
from kraft_vectors.target import THREE
from kraft_vectors.twins import Recorded, with_twins

DECISIONS = [
    name for name, setting in settings(KIP).items() if any(setting != settings(kafka)[name] for kafka in KAFKA_PROFILES)
]

PARTITION_DECISIONS = [
    field.name
    for field in fields(of_partitions.ReassignmentProfile)
    if field.name != "name" and getattr(of_partitions.KIP, field.name) != getattr(of_partitions.KAFKA_4, field.name)
]


def only_kafka(subject: SubjectName) -> list[str]:
    entries = Catalogue().entries.values()
    return [entry.id for entry in entries if set(entry.profiles) <= EXPERIMENTAL and entry.subject == subject]


def of_controller(vector_id: str) -> PartitionVector:
    vector = Catalogue().vector(vector_id)
    assert isinstance(vector, PartitionVector)
    return vector


# -------------------------------------------------------------------------------------------------------------
# The table of differences.
# -------------------------------------------------------------------------------------------------------------


def test_every_answer_that_is_another_one_has_an_entry_and_a_vector_or_a_reason() -> None:
    expected = read_kafka_file().difference
    assert [difference.decision for difference in expected] == DECISIONS + PARTITION_DECISIONS
    assert [difference.decision for difference in expected if difference.subject == "partitions"] == PARTITION_DECISIONS
    assert [
        difference.decision for difference in expected if bool(difference.vectors) == bool(difference.without_vector)
    ] == []
    every = [*settings(KIP), *(item.name for item in fields(of_partitions.ReassignmentProfile))]
    remaining = [name for name in every if name not in ("name", *DECISIONS, *PARTITION_DECISIONS)]
    assert [entry.decision for entry in read_kafka_file().alike] == remaining


def test_every_vector_of_kafka_alone_has_one_entry_and_every_entry_has_vectors_that_there_are() -> None:
    for subject in get_args(SubjectName):
        expected = [difference for difference in read_kafka_file().difference if difference.subject == subject]
        assert sorted(vector for difference in expected for vector in difference.vectors) == sorted(only_kafka(subject))


def test_what_a_running_release_shows_stands_in_one_place() -> None:
    """A difference known from running Kafka is not repeated among those that the profiles cannot express."""
    displayed = {rule for difference in known_differences() for rule in difference.rules}
    text = {rule for entry in read_kafka_file().unexpressed for rule in entry.rules}
    assert not displayed & text


def test_the_sources_are_well_formed() -> None:
    expected = read_kafka_file()
    sources = [
        *(source for difference in expected.difference for source in (*difference.source, *difference.later)),
        *(source for same in expected.alike for source in same.source),
        *(source for other in expected.unexpressed for source in other.source),
    ]
    path = re.compile(r"(raft|clients|metadata|server-common)/src/main/\S+\.(java|json)")
    assert [source for source in sources if not path.fullmatch(source.path) or not source.where] == []
    commits = [revision.commit for revision in expected.revision]
    assert [commit for commit in commits if re.fullmatch(r"\d+\.\d+\.\d+|[0-9a-f]{40}", commit) is None] == []
    assert len(commits) == len(set(commits))
    assert {source.revision for source in sources} == set(commits)
    assert [difference.decision for difference in expected.difference if not difference.source] == []


def test_every_note_on_kafka_that_reads_like_a_difference_is_accounted_for_once() -> None:
    expected, registry = read_kafka_file(), load_registry()
    named = [
        *(rule for difference in expected.difference for rule in difference.rules),
        *(rule for same in expected.alike for rule in same.rules),
        *(rule for other in expected.unexpressed for rule in other.rules),
        *(rule for other in known_differences() for rule in other.rules),
        *expected.agreeing,
    ]
    groups = tuple(name[:-1] for name in named if name.endswith(".*"))
    assert [name for name in named if not name.endswith(".*") and not registry[name].is_active] == []
    unnamed = [
        rule.id
        for rule in registry
        if rule.is_active
        and rule.kafka
        and not rule.kafka.startswith(("Same", "This is Kafka's"))
        and rule.id not in named
        and not rule.id.startswith(groups)
    ]
    assert unnamed == []
    assert [rule for rule in expected.agreeing if named.count(rule) > 1] == []


# -------------------------------------------------------------------------------------------------------------
# The pairs.
# -------------------------------------------------------------------------------------------------------------


def script_of(vector: Vector) -> tuple[Callable[[RecordingDirector], None], Configuration]:
    """Return the script of a vector and its cluster."""
    name = next((vector.id.removesuffix(suffix) for suffix in SUFFIXES if vector.id.endswith(suffix)), vector.id)
    for target in TARGETS:
        if target.subject.id == name:
            return target.script, target.configuration
    kind, variant = vector.source.removeprefix("scenario ").split("/")
    result = next(scenario for scenario in SCENARIOS if scenario.name == kind).variant(variant)
    return result.script, result.configuration


def course(vector: Vector, profile: Profile) -> object:
    """Return the outcome of a vector's replica under a profile; None if the script does not fit."""
    script, configuration = script_of(vector)
    try:
        run = record_run("", replace(configuration, profile=profile), script, lambda _: ())
    except ScenarioFailure:
        return None
    cut = vector_of(replace(run, profiles=(profile.name,)), Subject(vector.id, "", vector.rules, vector.replica))
    return None if cut is None else (cut.history, cut.before, cut.steps)


@cache
def decided_by(vector_id: str) -> list[str]:
    """Return Kafka's decisions on which the vector depends."""
    vector = Catalogue().of_replica(vector_id)
    profile = PROFILES[vector.requires.profiles[0]]
    own = course(vector, profile)
    assert own == (vector.history, vector.before, vector.steps)
    # One answer of kip's at a time, under another name, because a name that is known stands for its answers.
    return [
        decision
        for decision in DECISIONS
        if course(vector, with_settings(profile, "mixed", **{decision: settings(KIP)[decision]})) != own
    ]


@pytest.mark.parametrize("vector_id", only_kafka("replica"))
def test_a_vector_of_kafka_shows_the_decision_of_its_entry(vector_id: str) -> None:
    result = difference_of(vector_id)
    assert result is not None
    assert result.decision in decided_by(vector_id)


@pytest.mark.parametrize("decision", [decision for decision in DECISIONS if decision != "resigned_metric"])
def test_each_decision_has_a_vector_that_shows_it_alone(decision: str) -> None:
    result = next(difference for difference in read_kafka_file().difference if difference.decision == decision)
    assert [decision] in map(decided_by, result.vectors)


def test_the_variants_begin_alike_and_end_otherwise() -> None:
    catalogue = Catalogue()
    expected = [difference for difference in read_kafka_file().difference if difference.subject == "replica"]
    pairs = [(difference.kip_variant(vector), vector) for difference in expected for vector in difference.vectors]
    compared = [(catalogue.of_replica(kip), catalogue.of_replica(kafka)) for kip, kafka in pairs if kip is not None]
    assert len(compared) >= len(DECISIONS)
    for kip, kafka in compared:
        assert not set(kip.requires.profiles) & set(kafka.requires.profiles)
        assert (kip.history, kip.before, kip.replica, kip.rules) == (
            kafka.history,
            kafka.before,
            kafka.replica,
            kafka.rules,
        ), kafka.id
        assert kip.steps != kafka.steps, kafka.id
        assert kip.steps[0].event == kafka.steps[0].event, kafka.id


@pytest.mark.parametrize("decision", [decision for decision in DECISIONS if decision != "resigned_metric"])
def test_each_decision_has_a_pair_with_the_same_events_to_the_end(decision: str) -> None:
    def happens(vector: Vector) -> list[object]:
        return [(step.event, step.message, step.input, step.draw, step.crash) for step in vector.steps]

    catalogue = Catalogue()
    results = next(difference for difference in read_kafka_file().difference if difference.decision == decision)
    same = [
        vector
        for vector in results.vectors
        if (kip := results.kip_variant(vector))
        and happens(catalogue.of_replica(kip)) == happens(catalogue.of_replica(vector))
    ]
    assert same != []


# -------------------------------------------------------------------------------------------------------------
# The pairs of the controllers of partitions.
# -------------------------------------------------------------------------------------------------------------


def happening(vector: PartitionVector, profile: of_partitions.ReassignmentProfile) -> list[PartitionOccurrence]:
    """Return the outcome of a vector's events under a profile."""
    configuration = replace(configuration_of(vector.cluster), profile=profile)
    state, done = initial_state(configuration), []
    for number, step in enumerate((*vector.history, *vector.steps), 1):
        done.append(happen(number, state, event_of(step.event), configuration))
        state = done[-1].state
    return done


def decisive(vector: PartitionVector) -> list[str]:
    """Return the decisions on which the steps depend, by replacing one setting at a time with kip's."""
    kip, kafka, begin = of_partitions.KIP, of_partitions.KAFKA_4, len(vector.history)
    own = happening(vector, kafka)[begin:]
    displayed = [tuple(map(shown_effect, line_of(occurrence).effects)) for occurrence in own]
    assert displayed == [step.outputs for step in vector.steps], vector.id
    mixed = {
        decision: replace(kafka, name="mixed", **{decision: getattr(kip, decision)}) for decision in PARTITION_DECISIONS
    }
    return [item for item, profile in mixed.items() if happening(vector, profile)[begin:] != own]


INSEPARABLE = {"completes_with": {"replicas_order"}}
"""If more replicas are removed than added, RR is not empty, and its position in R shows."""


@pytest.mark.parametrize("decision", PARTITION_DECISIONS)
def test_each_vector_of_a_controller_shows_its_decision_and_one_pair_no_other(decision: str) -> None:
    results = next(difference for difference in read_kafka_file().difference if difference.decision == decision)
    displayed = {vector: decisive(of_controller(vector)) for vector in results.vectors}
    assert [vector for vector, decisions in displayed.items() if decision not in decisions] == []
    besides = INSEPARABLE.get(decision, set())
    alone = [vector for vector, decisions in displayed.items() if {*decisions} - besides == {decision}]
    pairs = [
        (of_controller(kip), of_controller(vector_id))
        for vector_id in alone
        if (kip := results.kip_variant(vector_id)) is not None
    ]
    same = [kafka.before for kip, kafka in pairs if (kip.before, events(kip)) == (kafka.before, events(kafka))]
    assert same != []


def events(vector: PartitionVector) -> list[object]:
    return [item.event for item in (*vector.history, *vector.steps)]


# -------------------------------------------------------------------------------------------------------------
# Which vectors get a twin.
# -------------------------------------------------------------------------------------------------------------


def own_profile_alone(run: Run) -> tuple[str, ...]:
    """Accept a run only under its own profile."""
    return (run.configuration.profile.name,)


def made(script: Callable[[RecordingDirector], None]) -> list[tuple[str, tuple[str, ...]]]:
    subject = Subject("a.vector", "A title", ("end-quorum.handle",), 2)
    recorded_twice = Recorded("s", THREE, script, own_profile_alone, own_profile_alone)
    return [(twin.id, twin.requires.profiles) for twin in with_twins(recorded_twice, subject)]


def test_what_is_the_same_under_both_is_one_vector_whatever_others_do() -> None:
    def votes(d: RecordingDirector) -> None:
        nominate(d, 1, 1)
        d.step("v(1>2)")
        d.vote(1, 2, "granted")

    assert made(votes) == [("a.vector", tuple(PROFILES))]


def test_what_is_otherwise_is_a_twin_and_a_script_that_says_otherwise_has_none() -> None:
    def resigns(d: RecordingDirector) -> None:
        start(d, 1, 1)
        d.shutdown(1)
        d.step("eqe(1>2)")
        d.end_quorum_epoch(1, 2)

    def is_freed(d: RecordingDirector) -> None:
        resigns(d)
        d.fetched(2, False)

    assert made(resigns) == [
        ("a.vector", ("kip",)),
        ("a.vector.kafka-4", tuple(profile.name for profile in KAFKA_PROFILES)),
    ]
    assert made(is_freed) == [("a.vector", ("kip",))]


def test_a_run_under_a_profile_of_kafka_is_checked_under_that_profile_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The profiles of a twin follow from the runs, not from what the model says of one of them."""
    checked: list[tuple[str, str]] = []

    def accept(occurrences: object, configuration: Configuration, source: str, *, attributes: bool) -> Verdict:
        checked.append((source, configuration.profile.name))
        # Only the vector's own profile is accepted, so that each other one gets a run of its own.
        is_own = configuration.profile.name == run_under[0]
        assert attributes is is_own
        kind = VerdictKind.ACCEPTED if is_own else VerdictKind.REJECTED
        return Verdict(kind, source, 1, complete=True, candidates_max=1, every=0)

    run_under = [KIP.name]
    monkeypatch.setattr(acceptance, "check_occurrences", accept)
    run = record_run("s", THREE, lambda d: nominate(d, 1, 1), accepted_by_model)
    assert (run.profiles, checked) == ((KIP.name,), [("s", name) for name in PROFILES])
    checked.clear()
    run_under[0] = "kafka-4"
    configuration = replace(THREE, profile=PROFILES["kafka-4"])
    run = record_run("s", configuration, lambda d: nominate(d, 1, 1), accepted_under_own_profile)
    assert (run.profiles, checked) == (("kafka-4",), [("s", "kafka-4")])


# -------------------------------------------------------------------------------------------------------------
# What people see.
# -------------------------------------------------------------------------------------------------------------


def unread(monkeypatch: pytest.MonkeyPatch, decision: str) -> None:
    """Mark the source of a setting as not read."""
    expected = read_kafka_file()
    doubted = [
        with_fields(difference, source=(Source("raft/A.java", "0" * 40, "a", False),))
        if difference.decision == decision
        else difference
        for difference in expected.difference
    ]
    table = with_fields(expected, difference=tuple(doubted))
    for module in (profiles, conformance_profiles):
        monkeypatch.setattr(module, "read_kafka_file", lambda: table)


@pytest.mark.parametrize("word", ["restart.own-vote", "list.at-rest"])
def test_each_profile_runs_its_variant_and_skips_the_other(capsys: Captured, word: str) -> None:
    words = ("conformance", "run", "--adapter", REFERENCE, "-k", word, "--profile")
    (of_kafka,) = [entry for name, entry in Catalogue().entries.items() if word in name and "kip" not in entry.profiles]
    assert output(capsys, *words, "kip") == (
        ExitCode.CONFORMANT,
        f"1 skipped: for profile {' and '.join(map(shown_profile, of_kafka.profiles))}, not kip\n"
        f"2 vectors of suite {suite_version()}: 1 pass, 1 skipped\n",
    )
    assert output(capsys, *words, "kafka-4") == (
        ExitCode.CONFORMANT,
        "1 skipped: for profile kip, not kafka-4 (experimental)\n"
        f"2 vectors of suite {suite_version()}: 1 pass, 1 skipped\n"
        f"{summary_of('kafka-4')}\n",
    )


def test_the_profile_that_the_adapter_names_is_the_one_that_is_said(capsys: Captured) -> None:
    code, result = lines(capsys, "conformance", "run", "--adapter", f"{REFERENCE} kafka-4", "-k", "restart.own-vote")
    first, of_kip, of_kafka, _ = result
    assert (code, of_kip["status"], of_kafka["status"]) == (ExitCode.CONFORMANT, "skipped", "pass")
    assert (of_kafka["provenance"], of_kip.get("provenance")) == (provenance(of_kafka["id"]), None)
    text = {name: first[name] for name in ("profile", "experimental", "note")}
    assert text == {"profile": "kafka-4", "experimental": True, "note": summary_of("kafka-4")}


@pytest.mark.parametrize(
    ("vector", "needs", "decision", "file", "where"),
    [
        (
            "vote.for-another-disk.kafka-4",
            "KIP-595, KIP-853, KIP-996, kraft.version 1, observers, disk-replacement, voters-records",
            "voter_key_error",
            "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java",
            "handleVoteRequest, handleBeginQuorumEpochRequest, isValidVoterKey",
        ),
        (
            "partition.list.at-rest.kafka-4",
            "KIP-455",
            "idle_when_named",
            "metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java",
            "listReassigningTopic, getOngoingPartitionReassignment",
        ),
    ],
)
def test_the_source_of_an_answer_stands_in_explanation_list_and_failure(
    capsys: Captured, tmp_path: Path, vector: str, needs: str, decision: str, file: str, where: str
) -> None:
    text = (
        f"kafka-4 (experimental): {decision}, read in apache/kafka {file} at "
        f"53364c539970785f9317c2ddab26a4e350f12b23 ({where})"
    )
    _, explained = output(capsys, "conformance", "explain", vector)
    held = " or ".join(map(shown_profile, Catalogue().entries[vector].profiles))
    assert f"\n{text}\n" in explained
    assert f"\nneeds {needs}\nonly under {held}\n" in explained
    _, listed = document(capsys, "conformance", "list", "-k", vector)
    assert [row["provenance"] for row in listed] == [text]
    junit = tmp_path / "junit.xml"
    both = vector.removesuffix(SUFFIX).partition(".")[2]
    words = ("conformance", "run", "--adapter", altered("kip-whatever-is-asked"), "-k", both)
    code, displayed = output(capsys, *words, "--profile", "kafka-4", "--junit", str(junit))
    assert (code, f"outcome: {text} " in " ".join(displayed.split())) == (ExitCode.VIOLATION, True)
    suite = next(iter(JUnitXml.fromfile(str(junit))))
    properties = {prop.name: prop.value for prop in suite.properties()}  # type: ignore[no-untyped-call]
    assert (properties["profile"], properties["note"]) == ("kafka-4 (experimental)", summary_of("kafka-4"))
    skipped, failed = [case.result[0] for case in suite if case.result]
    assert skipped.message == "skipped: for profile kip, not kafka-4 (experimental)"
    assert f"outcome: {text}" in " ".join(failed.text.split())
    _, results = lines(capsys, *words, "--profile", "kafka-4")
    of_newest = [difference for difference in read_kafka_file().difference if difference.differs_under("kafka-4")]
    assert next(result for result in results if result.get("id") == vector)["provenance"] == text
    assert results[0]["note"].startswith(f"profile kafka-4 (experimental): {len(of_newest)} of its settings")


def test_an_answer_that_was_not_read_says_so_everywhere(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    unread(monkeypatch, "voter_key_error")
    vector, mark = "vote.for-another-disk.kafka-4", "kafka-4 (experimental), not verified: voter_key_error"
    assert f"\n{mark}\n" in output(capsys, "conformance", "explain", vector)[1]
    words = ("conformance", "run", "--adapter", REFERENCE, "-k", vector, "--profile", "kafka-4")
    assert "1 not verified (voter_key_error)" in output(capsys, *words)[1]
    _, results = lines(capsys, *words)
    assert (results[1]["provenance"], "1 not verified (voter_key_error)" in results[0]["note"]) == (mark, True)
    _, listed = document(capsys, "conformance", "list", "-k", vector)
    assert [row["provenance"] for row in listed] == [mark]
    _, found_profiles = document(capsys, "conformance", "profiles")
    assert [profile["decision"] for profile in found_profiles["differences"] if not profile["verified"]] == [
        "voter_key_error"
    ]


def test_the_list_shows_which_profile_a_vector_is_of(capsys: Captured) -> None:
    _, listed = document(capsys, "conformance", "list", "-k", "restart.own-vote")
    assert [(row["id"], row["profiles"]) for row in listed] == [
        ("restart.own-vote-and-leader", ["kip"]),
        ("restart.own-vote-and-leader.kafka-4", ["kafka-4", "kafka-4.1", "kafka-4.0"]),
    ]
    _, drawn = output(capsys, "conformance", "list", "-k", "resignation.")
    rows = {words[0]: words[1:] for line in drawn.splitlines() if (words := re.findall(r"[\w().-]+", line))}
    assert rows["resignation.then-asked"][1] == "kip"
    assert rows["resignation.then-asked.kafka-4"][1:3] == ["kafka-4", "(experimental)"]


def test_the_differences_are_listed(capsys: Captured) -> None:
    code, drawn = output(capsys, "conformance", "profiles")
    assert (code, "kafka-4 (experimental)" in drawn) == (ExitCode.CONFORMANT, True)
    assert [item for item in DECISIONS + PARTITION_DECISIONS if item not in drawn] == []
    _, results = document(capsys, "conformance", "profiles")
    assert results["profiles"] == [{"name": name, "experimental": name in EXPERIMENTAL} for name in PROFILES]
    assert [(result["decision"], result["subject"], result["verified"]) for result in results["differences"]] == [
        (difference.decision, difference.subject, difference.verified) for difference in read_kafka_file().difference
    ]

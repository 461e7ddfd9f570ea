"""The vectors of the package: the generator reproduces them, and rejects wrong ones."""

import json
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kraft_dev.schemas.conformance import VECTOR_SCHEMAS
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.events import Receive
from kraft_reference.messages import VoteRequest
from kraft_simulation.scenarios import SCENARIOS
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start
from kraft_simulation.scenarios.scenario import cluster
from kraft_simulation.scenarios.schedule import ScenarioFailure
from kraft_spec.rules import load_registry
from kraft_traces.alternatives.ordering import happens_before
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
)
from kraft_vectors import generate
from kraft_vectors.acceptance import NotAcceptedError, accepted_by_model, occurrences_for_model
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.files import files_of
from kraft_vectors.format import Vector
from kraft_vectors.generate import differing_files, generate_files, write
from kraft_vectors.manifest import MANIFEST, VectorFileError, vector_folder
from kraft_vectors.recording import Subject, VectorProofError, vector_of
from kraft_vectors.rule_coverage import CoverageListError, reasons_from, rule_coverage
from kraft_vectors.scripts import TARGETS
from kraft_vectors.staging import RecordingDirector, record_run
from kraft_vectors.target import THREE


@pytest.mark.slow
def test_a_fourth_of_the_vectors_made_anew_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "SCENARIOS", SCENARIOS[::4])
    monkeypatch.setattr(generate, "TARGETS", TARGETS[::4])
    made = generate_files()
    del made[MANIFEST]
    assert len(made) > 200
    assert made.keys() & differing_files(made, vector_folder()) == set()


@pytest.mark.nightly
def test_the_vectors_made_anew_are_those_of_the_package() -> None:
    """TLC checks each run; its verdicts decide the profiles of a vector, and so its bytes."""
    assert differing_files(generate_files(), vector_folder()) == []


def shapes(value: object, path: str = "$") -> set[tuple[str, object]]:
    """Return the paths of a document, each with its type or short text."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = value if isinstance(value, str) and path.endswith(("kind", "type", "event")) else type(value)
    return {(path, own)}.union(
        *[shapes(item, f"{path}.{name if isinstance(name, str) else 0}") for name, item in inner]
    )


def test_every_file_fits_the_schema_and_the_manifest() -> None:
    """A vector represents all others of the same shape."""
    catalogue, observed = Catalogue(), set[tuple[str, object]]()
    validators = {subject: Draft202012Validator(schema.committed()) for subject, schema in VECTOR_SCHEMAS.items()}
    for entry in catalogue.manifest.vectors:
        vector = catalogue.vector(entry.id)
        document = json.loads((catalogue.folder / entry.file).read_bytes())
        if not (result := shapes(document)) <= observed:
            validators[entry.subject].validate(document)
            observed |= result
        assert (vector.level, vector.rules) == (entry.level, entry.rules)
        history = None if vector.history is None else len(vector.history)
        assert (len(vector.steps), history) == (entry.steps, entry.history)
    there = {path.relative_to(catalogue.folder).as_posix() for path in catalogue.folder.rglob("*.json")}
    assert there == {entry.file for entry in catalogue.manifest.vectors} | {MANIFEST}


def test_each_rule_with_must_has_a_vector_or_a_reason() -> None:
    covered = rule_coverage(Catalogue().manifest.vectors)
    must = [row for row in covered if row.rule.level == "MUST"]
    assert [row.rule.id for row in must if not row.vectors and not row.reason] == []
    assert [row.rule.id for row in covered if row.vectors and row.reason] == []


@pytest.mark.parametrize(
    ("rules", "reason", "printed"),
    [
        ('"wire.*"', '"Bytes."', "rules: 'wire.*', expected a list of ids of rules"),
        ("[]", '"Bytes."', "rules: [], expected a list of ids of rules"),
        ('["wire.*"]', '"Bytes."', "rules: 'wire.*' is a wildcard, expected the id of each rule"),
        ('["no-rule"]', '"Bytes."', "rules: 'no-rule', expected the id of a rule that holds"),
        ('["wire.api-keys"]', '"Bytes."', "rules: 'wire.api-keys' has a reason already, expected it once"),
        ('["wire.add-voter"]', '""', "reason: '', expected a text"),
    ],
)
def test_a_reason_is_for_rules_by_their_ids(rules: str, reason: str, printed: str) -> None:
    text = '[[without]]\nrules = ["wire.api-keys"]\nreason = "Bytes."\n'
    assert reasons_from(text) == {"wire.api-keys": "Bytes."}
    with pytest.raises(CoverageListError) as caught:
        reasons_from(f"{text}[[without]]\nrules = {rules}\nreason = {reason}\n")
    assert str(caught.value) == f"without_vector.toml: entry 2: {printed}"


OTHER_DISK = ("identity.*", "begin-quorum.voter-key", "end-quorum.candidate-key")
"""Rules about a key with another directory id, which needs a replaced disk."""
LEADER_OUTSIDE = ("fetch.leader-outside-set-serves", "snapshot.removed-leader-serves")
CHANGES = (
    "add-voter.*",
    "remove-voter.*",
    "update-voter.*",
    "auto-join.*",
    "kraft-version.*",
    "reassign.*",
    "voters.*",
)
NEEDED_BY: dict[str, tuple[str, ...]] = {
    "disk-replacement": OTHER_DISK,
    "kraft-version-upgrade": ("kraft-version.*",),
    "observers": (
        *("observer.*", "bootstrap.no-list-means-observer", "auto-join.enabled-by-config", "kraft-version.levels"),
        *("voters.self-added-may-campaign", "voters.set-from-snapshot-and-log"),
        *("remove-voter.removed-node-becomes-observer", "reassign.leader-steps-down-before-own-removal"),
        *OTHER_DISK,
        *LEADER_OUTSIDE,
    ),
    "quorum-reassignment": ("reassign.*",),
    "snapshots": ("snapshot.*", "fetch.snapshot.*", "voters.history-kept-from-snapshot-to-leo"),
    "voter-changes": (*CHANGES, "identity.directory-id-never-silently-replaced", *LEADER_OUTSIDE),
    "voters-records": (
        *(*CHANGES, "snapshot.*", "hw.leader-excluded", "hw.monotonic"),
        *("observer.becomes-non-voter", "bootstrap.no-list-means-observer"),
        *OTHER_DISK,
        *LEADER_OUTSIDE,
    ),
}
"""Optional features, with the rules that need them."""


def test_a_rule_has_a_vector_without_each_feature_that_it_does_not_need() -> None:
    """Software without the feature is tested for the rule, too."""
    catalogue = Catalogue()
    common: dict[str, set[str]] = {}
    for entry in catalogue.manifest.vectors:
        features: set[str] = set()
        if entry.subject == "replica":
            features.update(catalogue.vector(entry.id).requires.features)
        for rule in entry.rules:
            common[rule] = common[rule] & features if rule in common else features
    needless = {
        (rule, feature)
        for rule, features in common.items()
        for feature in features
        if not any(fnmatch(rule, pattern) for pattern in NEEDED_BY.get(feature, ()))
    }
    assert needless == set()


def test_the_vectors_name_rules_that_hold() -> None:
    registry = load_registry()
    named = {rule for entry in Catalogue().manifest.vectors for rule in entry.rules}
    assert [rule for rule in named if not registry[rule].is_active] == []


def grant(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("v(1>2)")
    d.vote(1, 2, "granted")


SUBJECT = Subject("vote.granted", "A vote", ("vote.once-per-epoch",), 2)


def made(script: object = grant, subject: Subject = SUBJECT) -> Vector:
    run = record_run("a script", THREE, script, lambda _: ("kip",))  # type: ignore[arg-type]
    vector = vector_of(run, subject)
    assert vector is not None
    return vector


def test_a_state_that_the_history_does_not_lead_to_is_refused() -> None:
    run = record_run("a script", THREE, grant, lambda _: ("kip",))
    tampered = [
        occurrence._replace(state=occurrence.state._replace(high_watermark=7))
        if occurrence.state is not None and occurrence.sequence == 3
        else occurrence
        for occurrence in run.occurrences
    ]
    assert run.occurrences[2].replica_id == 2
    with pytest.raises(VectorProofError, match="the history leads to"):
        vector_of(replace(run, occurrences=tuple(tampered)), SUBJECT)


def test_a_step_that_the_reference_does_not_take_is_refused() -> None:
    run = record_run("a script", THREE, grant, lambda _: ("kip",))
    tampered = [
        occurrence._replace(effects=()) if occurrence.sequence == run.start + 1 else occurrence
        for occurrence in run.occurrences
    ]
    with pytest.raises(VectorProofError, match="step 0 gives"):
        vector_of(replace(run, occurrences=tuple(tampered)), SUBJECT)


def test_a_run_that_the_model_rejects_makes_no_vector() -> None:
    def grants(d: Director) -> None:
        start(d, 1, 1)
        d.fetch_timeout(3)
        d.pre_vote(3, 2, "granted")

    broken = mutated_replicas(("prevote.follower.rejects-after-fetch",))
    run = record_run("a bug", cluster(3), grants, lambda _: ("kip",), broken)
    with pytest.raises(NotAcceptedError, match=r"a bug: rejected: .* \(HandleVoteRequest at replica 2\)"):
        accepted_by_model(run)


def test_a_request_that_nobody_sends_changes_nothing() -> None:
    def taken(d: RecordingDirector) -> None:
        nominate(d, 1, 1)
        d.unsent(d.hold(1, 2), "granted", end_offset=1)

    with pytest.raises(ScenarioFailure, match=r"messages of N2|timers of N2|the state of N2"):
        made(taken)


def test_a_request_that_names_no_cluster_is_one_of_the_cluster_to_the_model() -> None:
    def script(d: RecordingDirector) -> None:
        nominate(d, 1, 1)
        requested = d.hold(1, 2)
        d.unsent(requested, "INCONSISTENT_CLUSTER_ID", cluster_id="another")
        d.without(requested, "cluster_id")
        d.step("v(1>2)")
        d.handle(requested, "granted")

    run = record_run("a script", THREE, script, lambda _: ("kip",))
    requested = list(occurrences_for_model(run.occurrences, THREE))
    named = [
        option.event.message for option in requested if isinstance(option.event, Receive) and option.replica_id == 2
    ]
    assert [name.cluster_id for name in named if isinstance(name, VoteRequest)] == [THREE.cluster_id] * 2
    assert [option.sequence for option in requested] == list(range(1, len(requested) + 1))
    assert len(run.occurrences) == len(requested) + 1


def test_two_vectors_do_not_share_an_id() -> None:
    with pytest.raises(ValueError, match=r"two vectors have the id vote\.granted"):
        files_of((made(), made()))


def test_a_replica_at_which_nothing_happens_makes_no_vector() -> None:
    run = record_run("a script", THREE, grant, lambda _: ("kip",))
    assert vector_of(run, replace(SUBJECT, replica_id=3)) is None


def test_a_changed_file_is_found_by_its_hash(tmp_path: Path) -> None:
    write(files_of((made(),)), tmp_path)
    path = tmp_path / "vote" / "granted.json"
    assert Catalogue(tmp_path).vector("vote.granted") == made()
    path.write_bytes(path.read_bytes().replace(b'"granted":true', b'"granted":false'))
    with pytest.raises(VectorFileError, match=r"granted\.json: SHA-256 .*, expected .* as in manifest\.json"):
        Catalogue(tmp_path).vector("vote.granted")


def test_writing_again_removes_what_is_no_vector_any_more(tmp_path: Path) -> None:
    other = replace(SUBJECT, id="vote.other")
    write(files_of((made(), made(subject=other))), tmp_path)
    write(files_of((made(subject=other),)), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.json")) == [MANIFEST, "other.json"]


def test_what_is_synced_comes_before_what_is_said_and_the_log_keeps_its_order() -> None:
    vector = made()
    text = next(output for output in vector.steps[0].outputs if isinstance(output, TracedSend))
    record = TracedAppendRecords(0, ())
    persisted, timer = TracedPersistQuorumState(1, None, None, 1), TracedStartTimer("election", 5)  # type: ignore[arg-type]
    outputs = (persisted, record, TracedFlushLog(1), text, timer)
    assert happens_before(outputs) == ((0, 1), (0, 3), (1, 2), (2, 3))
    assert happens_before((text, persisted)) == ((1, 0),)


def test_what_a_vector_needs_is_said() -> None:
    for vector in Catalogue().of_replicas():
        own = next(replica for replica in vector.cluster.replicas if replica.id == vector.replica)
        assert own.pre_vote == "supported", vector.id
        displayed = [vector.before.state, *[step.state for step in vector.steps]]
        sets = {row.voters.voters for row in displayed if row.voters}
        if len(sets) > 1:
            assert "voters-records" in vector.requires.features, vector.id
        if "voters-records" in vector.requires.features:
            assert "KIP-853" in vector.requires.kips, vector.id

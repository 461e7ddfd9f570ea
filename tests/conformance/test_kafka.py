"""`kraft-spec kafka`: Apache Kafka itself if it can be fetched and built, else the error messages."""

import json
import os
import shlex
import subprocess
import zipfile
from importlib.resources import as_file
from pathlib import Path

import pytest
from tests.conformance.adapter_builds import skipped_if_missing, toolchain
from tests.conformance.commands import VERSION, Captured, assert_said, document, error, lines, newest_by_day, output

from kraft_cli.commands.conformance_template import Language, Template, copy_template
from kraft_cli.commands.kafka import worst
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.random_runs.notes import KnownStep, Notes
from kraft_conformance.random_runs.plan import KnownDifference, explain_differences
from kraft_conformance.runner.outcome import FAILING, Outcome, Status, apply_expectation
from kraft_conformance.runner.output.results import suite_version
from kraft_kafka.adapter import command_line, source_folder
from kraft_kafka.controllers import controller
from kraft_kafka.differences import expected_failures, known_differences, known_in_schedules
from kraft_kafka.jars import Kafka, KafkaUnavailableError, built, released
from kraft_kafka.recorded import load_recorded
from kraft_kafka.releases import edits, library_jars, newest, number, releases
from kraft_reference.profile import PROFILES
from kraft_simulation.violation import Violation
from kraft_simulation.workload import WORKLOADS
from kraft_spec.difference import Difference
from kraft_spec.rules import load_registry
from kraft_traces.vocabulary import EVENT_NAMES
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.profiles import read_kafka_file

RELEASE = releases()[VERSION]
REPLY_S = "30"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the jars before anything is fetched or compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kraft-spec" / "kafka" / "jars"


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    return folder


def jars_of_a_build(folder: Path, version: str) -> list[Path]:
    """Make empty files with the names of a build of Kafka and its logging libraries."""
    names = [f"{jar.artifact}-{version}{jar.suffix}.jar" for jar in RELEASE.jars]
    files = [folder / name for name in (*names, *(jar.file_name for jar in library_jars()))]
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        zipfile.ZipFile(file, "w").close()
    return files


def renamed_member(jar: Path, type_: str, old: str, new: str) -> None:
    """Put another jar in the place of a link to one of Kafka's: in it a member of a class has another name."""

    def constant(name: str) -> bytes:
        return b"\x01" + len(name).to_bytes(2, "big") + name.encode()

    original = jar.resolve()
    jar.unlink()
    with zipfile.ZipFile(original) as source, zipfile.ZipFile(jar, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == f"org/apache/kafka/raft/{type_}.class":
                assert constant(old) in content
                content = content.replace(constant(old), constant(new))
            target.writestr(name, content)


def linked(kafka: Kafka, folder: Path) -> Path:
    """Return a folder with links to the jars of a Kafka."""
    folder.mkdir()
    for jar in kafka.class_path:
        (folder / jar.name).symlink_to(jar)
    return folder


# -------------------------------------------------------------------------------------------------------------
# The table.
# -------------------------------------------------------------------------------------------------------------


def test_each_release_has_the_same_jars_by_checksum() -> None:
    kinds = {tuple((jar.artifact, jar.classifier) for jar in release.jars) for release in releases().values()}
    assert len(kinds) == 1
    checksums = [jar.sha256 for release in releases().values() for jar in release.jars]
    assert len(set(checksums)) == len(checksums)
    assert all(len(bytes.fromhex(checksum)) == 32 for checksum in checksums)
    assert all(set(release.workloads) <= WORKLOADS.keys() for release in releases().values())


def test_each_edit_changes_the_sources() -> None:
    with as_file(source_folder()) as folder:
        texts = [file.read_text(encoding="utf-8") for file in folder.rglob("*.java")]
    assert [edit.text for edit in edits() if not any(edit.text in text for text in texts)] == []


def test_the_releases_are_listed(capsys: Captured) -> None:
    code, listed = document(capsys, "kafka", "releases")
    assert code == ExitCode.CONFORMANT
    assert [row["version"] for row in listed] == [*releases()]
    assert VERSION in output(capsys, "kafka", "releases")[1]


def test_the_exit_code_of_several_runs_is_what_one_of_them_found() -> None:
    assert worst([ExitCode.CONFORMANT, ExitCode.VIOLATION]) == ExitCode.VIOLATION
    assert worst([ExitCode.INCONCLUSIVE, ExitCode.CONFORMANT]) == ExitCode.INCONCLUSIVE
    assert worst([ExitCode.NOTHING_JUDGED, ExitCode.CONFORMANT]) == ExitCode.CONFORMANT
    assert worst([ExitCode.NOTHING_JUDGED]) == ExitCode.NOTHING_JUDGED


# -------------------------------------------------------------------------------------------------------------
# What is known to differ.
# -------------------------------------------------------------------------------------------------------------


def test_what_is_known_to_differ_names_vectors_and_rules_that_there_are() -> None:
    named = [vector for difference in known_differences() for vector in difference.vectors]
    assert len(named) == len(set(named))
    assert [vector for vector in named if vector not in Catalogue().entries] == []
    registry = load_registry()
    assert [
        rule for difference in known_differences() for rule in difference.rules if not registry[rule].is_active
    ] == []
    assert all(difference.where and "" not in difference.fields for difference in known_differences())
    assert all(bool(difference.fields) == bool(difference.vectors) for difference in known_differences())
    assert all(difference.vectors or difference.schedules for difference in known_differences())
    assert all(all(difference.schedules.values()) for difference in known_differences())
    assert all(difference.schedules for difference in known_differences() if difference.breaks)
    assert {event for difference in known_differences() for event in difference.schedules} <= set(EVENT_NAMES)


def test_a_known_difference_explains_its_own_fields_and_nothing_else() -> None:
    (expected,) = [difference for difference in known_differences() if "restart.other-disk-led" in difference.vectors]

    def judged(status: Status, *fields: str, is_always_seen: bool = True) -> Outcome:
        differences = tuple(Difference(name, "a", "b") for name in fields)
        outcome = Outcome("restart.other-disk-led", status, "step 2 of 2", differences=differences)
        return apply_expectation(outcome, expected_failures(is_always_seen))

    explained = judged(Status.FAIL, "PersistQuorumState", "state.role")
    assert (explained.status, expected.says in explained.reason) == (Status.EXPECTED_FAILURE, True)
    other = judged(Status.FAIL, "state.role", "state.epoch")
    assert (other.status, other.remark.startswith("state.epoch is not part of the known")) == (Status.FAIL, True)
    assert judged(Status.ERROR).status is Status.ERROR
    assert judged(Status.PASS).status is Status.UNEXPECTED_PASS
    assert judged(Status.PASS, is_always_seen=False).status is Status.PASS


def test_a_step_of_a_schedule_is_known_if_all_that_differs_in_it_is() -> None:
    late = KnownDifference("late", {"Poll": ("Send VoteRequest to N",)})
    requested = KnownDifference("asked", {"Poll": ("state.role", "Answer to request N")})

    def reasons(event: str, *fields: str) -> list[str]:
        results = [Difference(name, "a", "b") for name in fields]
        return [difference.reason for difference in explain_differences((late, requested), event, results)]

    assert reasons("Poll", "Send VoteRequest to 1", "Send VoteRequest to 2") == ["late"]
    assert reasons("Poll", "Send VoteRequest to 1", "state.role") == ["late", "asked"]
    assert reasons("Poll", "Send VoteRequest to 1", "state.epoch") == []
    assert reasons("Poll", "Send VoteRequest to 1.pre_vote") == []
    assert reasons("PollFetch", "Send VoteRequest to 1") == []


@pytest.mark.parametrize("name", ["BeginQuorumEpoch", "Vote", "Fetch", "FetchSnapshot"])
def test_an_answer_of_an_old_version_has_no_endpoint_in_schedules_either(name: str) -> None:
    event, response = f"Handle{name}Request", f"Send {name}Response to 3"
    (expected,) = explain_differences(
        known_in_schedules(), event, [Difference(f"{response}.leader_endpoint", "a", "null")]
    )
    assert expected.reason.startswith("The answer to a request of a version from before KIP-853 has no endpoint")
    assert explain_differences((expected,), event, [Difference(f"{response}.epoch", "1", "2")]) == ()


def test_a_known_difference_in_one_direction_hides_nothing_in_the_other() -> None:
    name = "Answer to request"
    early = (KnownDifference("early", {"AddVoter": (f"{name} N: not expected",)}),)
    late = (KnownDifference("late", {"AddVoter": (f"{name} N: missing",)}),)
    inputs, left_out = Difference(f"{name} 1", "nothing", "a"), Difference(f"{name} 1", "a", "nothing")
    assert explain_differences((*early, *late), "AddVoter", [inputs]) == early
    assert explain_differences((*early, *late), "AddVoter", [left_out]) == late
    assert explain_differences((*early, *late), "AddVoter", [Difference(f"{name} 1", "a", "b")]) == ()


def test_a_known_difference_excuses_its_own_property_at_its_own_replica() -> None:
    stuck = KnownDifference("stuck", {"PollFetch": ("Send FetchRequest to N",)}, breaks=("EventuallyFetching",))
    notes = Notes((stuck,), [KnownStep(7, 4, (stuck,))])
    assert notes.is_known_to_break(Violation("EventuallyFetching", 90, 4, ""))
    assert not notes.is_known_to_break(Violation("EventuallyFetching", 90, 3, ""))
    assert not notes.is_known_to_break(Violation("HwMonotonic", 90, 4, ""))
    assert notes.is_known_to_break(Violation("HwMonotonic", 7, 3, ""))
    assert not Notes((stuck,)).is_known_to_break(Violation("EventuallyFetching", 90, 4, ""))


def test_what_hangs_on_certain_words_is_not_known_without_them() -> None:
    dead = (KnownDifference("dead", {"Poll": ("died: no leader of epoch N", "state.role")}),)
    role = Difference("state.role", "a", "b")
    assert explain_differences(dead, "Poll", [role]) == ()
    assert (
        explain_differences(dead, "Poll", [Difference("died", "a running process", "no vote of epoch 7"), role]) == ()
    )
    assert (
        explain_differences(dead, "Poll", [Difference("died", "a running process", "no leader of epoch 7!"), role])
        == dead
    )


def test_every_release_is_recorded_under_its_profile_with_nothing_unexplained() -> None:
    recorded = load_recorded().releases
    assert [run.version for run in recorded] == [*releases()]
    assert all(run.profile in PROFILES for run in recorded)
    assert [vector for run in recorded for vector, status in run.statuses.items() if status in FAILING] == []
    assert any(difference.shown_on(run.statuses) for difference in read_kafka_file().difference for run in recorded)
    observed = {
        vector for run in recorded for vector, status in run.statuses.items() if status is Status.EXPECTED_FAILURE
    }
    # The runs of partitions are not recorded.
    expected = {
        vector
        for difference in known_differences()
        for vector in difference.vectors
        if not vector.startswith("partition.")
    }
    assert observed == expected


# -------------------------------------------------------------------------------------------------------------
# What is missing is said in one line.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("empty_cache")
def test_without_maven(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_said(capsys, ExitCode.UNAVAILABLE, "no `mvn` on PATH", "kafka", "run", "--version", VERSION)


@pytest.mark.usefixtures("empty_cache")
def test_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven = program(tmp_path / "bin", "mvn", "echo '[ERROR] unknown host'; echo '[ERROR] -> see above'; exit 1")
    monkeypatch.setenv("PATH", f"{maven}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(KafkaUnavailableError, match=r"^Maven cannot fetch .* network.* unknown host$"):
        released(RELEASE)


def test_another_file_under_the_name_of_a_jar(capsys: Captured, empty_cache: Path) -> None:
    jars_of_a_build(empty_cache, VERSION)
    printed = f"expected {RELEASE.jars[0].sha256}"
    assert_said(capsys, ExitCode.UNAVAILABLE, printed, "kafka", "adapter", "--version", VERSION)


@pytest.mark.usefixtures("empty_cache")
def test_without_javac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "jre" / "bin", "java", "exit 1")
    (tmp_path / "jre" / "release").write_text('JAVA_VERSION="17.0.1"\n', encoding="utf-8")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jre"))
    with pytest.raises(KafkaUnavailableError, match="no `javac` beside"):
        command_line(Kafka("9.9", ()), "wire")


@pytest.mark.usefixtures("empty_cache")
def test_jars_that_the_adapter_does_not_compile_with(tmp_path: Path) -> None:
    with skipped_if_missing():
        toolchain(Language.JAVA)
    first = r"org/apache/kafka/raft/\w+\.java:\d+: package [\w.]+ does not exist \(and \d\d\d more\); "
    with pytest.raises(KafkaUnavailableError, match=rf"does not compile with Kafka 9\.9: {first}"):
        command_line(built(jars_of_a_build(tmp_path / "libs", "9.9")[0].parent, RELEASE), "wire")


@pytest.mark.usefixtures("empty_cache")
def test_a_compile_error_names_the_symbol(kafka: Kafka, tmp_path: Path) -> None:
    copy_template(Template.KAFKA, tmp_path / "mine")
    names = tmp_path / "mine" / "src" / "org" / "apache" / "kafka" / "raft" / "Names.java"
    names.write_text(names.read_text(encoding="utf-8").replace("NOBODY = ReplicaKey.of", "NOBODY = ReplicaKey.moved"))
    printed = r"raft/Names\.java:\d+: cannot find symbol, symbol method moved\(int,Uuid\), location class ReplicaKey; "
    with pytest.raises(KafkaUnavailableError, match=printed):
        command_line(kafka, "wire", own=tmp_path / "mine")


@pytest.mark.usefixtures("empty_cache")
def test_a_file_that_is_no_jar(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_text("nothing", encoding="utf-8")
    with pytest.raises(KafkaUnavailableError, match=r"a\.jar: no jar that can be read"):
        command_line(Kafka("9.9", (tmp_path / "a.jar",)), "wire")


# -------------------------------------------------------------------------------------------------------------
# A build of one's own.
# -------------------------------------------------------------------------------------------------------------


def test_the_newest_jars_below_a_folder_are_taken(tmp_path: Path) -> None:
    old = jars_of_a_build(tmp_path / "core" / "dependant-libs", "4.4.0")
    new = jars_of_a_build(tmp_path / "raft" / "build" / "libs", "4.4.0-SNAPSHOT")
    jars_of_a_build(tmp_path / "raft" / "build" / "libs", "4.4.0-SNAPSHOT-sources")
    for second, file in enumerate([*old, *new]):
        os.utime(file, (second, second))
    assert built(tmp_path, RELEASE) == Kafka("4.4.0-SNAPSHOT", tuple(new))


def test_jars_of_several_versions_are_refused_by_name(capsys: Captured, tmp_path: Path) -> None:
    jars_of_a_build(tmp_path / "libs", "4.3.1")
    (tmp_path / "libs" / "kafka-clients-4.3.1.jar").rename(tmp_path / "libs" / "kafka-clients-4.2.0.jar")
    printed = "2 versions (4.2.0: libs/kafka-clients-4.2.0.jar; 4.3.1: libs/kafka-raft-4.3.1.jar, libs/kafka-server-"
    assert_said(capsys, ExitCode.BAD_INPUT, printed, "kafka", "run", "--jars", str(tmp_path))


def test_two_versions_in_one_folder_are_refused_though_one_is_newer(capsys: Captured, tmp_path: Path) -> None:
    """File times cannot identify a build, because a copy has new ones."""
    jars_of_a_build(tmp_path, "4.2.0")
    jars_of_a_build(tmp_path, "4.3.1")
    assert_said(capsys, ExitCode.BAD_INPUT, "2 versions (4.2.0: ", "kafka", "adapter", "--jars", str(tmp_path))


def test_a_controller_of_several_versions_is_refused_by_name(tmp_path: Path) -> None:
    for name in ("kafka_2.13-4.3.1", "kafka-raft-4.2.0", "kafka-raft-4.2.0-sources"):
        (tmp_path / f"{name}.jar").touch()
    with pytest.raises(CommandError, match=r"\(4\.2\.0: kafka-raft-4\.2\.0\.jar; 4\.3\.1: kafka_2\.13-4\.3\.1\.jar\)"):
        controller(str(tmp_path))


def test_jars_that_a_build_lacks_are_named(capsys: Captured, tmp_path: Path) -> None:
    raft, clients, *_ = jars_of_a_build(tmp_path / "libs", "4.4.0")
    clients.unlink()
    printed = "there is no kafka-clients-VERSION.jar in it or below"
    assert_said(capsys, ExitCode.UNAVAILABLE, printed, "kafka", "run", "--jars", str(tmp_path))
    assert_said(capsys, ExitCode.UNAVAILABLE, "no such folder", "kafka", "run", "--jars", str(raft))


def test_sources_of_ones_own_are_a_template(capsys: Captured, tmp_path: Path) -> None:
    jars_of_a_build(tmp_path / "libs", "4.4.0")
    words = ("kafka", "run", "--jars", str(tmp_path), "--sources", str(tmp_path))
    assert_said(capsys, ExitCode.UNAVAILABLE, "no src/org in it", *words)


# -------------------------------------------------------------------------------------------------------------
# Kafka.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kafka")
def test_smoke(capsys: Captured) -> None:
    _, adapter = output(capsys, "kafka", "adapter", "--version", VERSION, "--level", "wire")
    code, printed = output(capsys, "conformance", "smoke", "--adapter", adapter, "--timeout", REPLY_S)
    assert (code, f"12 vectors of suite {suite_version()}: 6 pass, 6 unobserved" in printed) == (
        ExitCode.INCONCLUSIVE,
        True,
    ), printed


@pytest.mark.usefixtures("kafka")
def test_vectors_at_the_level_of_the_state(capsys: Captured, tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    words = ("kafka", "run", "--version", VERSION, "-k", "prevote.unattached", "--log", str(log))
    code, displayed = lines(capsys, *words)
    assert code == ExitCode.CONFORMANT, [row for row in displayed if row.get("status") == "fail"]
    assert displayed[0]["implementation"] == {"name": "apache-kafka", "version": VERSION}
    assert "KafkaRaftClient" in log.read_text(encoding="utf-8")


@pytest.mark.usefixtures("kafka")
def test_a_process_that_dies_of_an_exception_is_stopped(capsys: Captured, tmp_path: Path) -> None:
    """Kafka's does of an answer that names a leader whose endpoint nobody knows."""
    log = tmp_path / "kafka.log"
    name = "versions.answer-without-endpoint-nor-set"
    _, displayed = lines(capsys, "kafka", "run", "--version", VERSION, "-k", name, "--log", str(log))
    failed = next(row for row in displayed if row.get("id") == name)
    assert (failed["status"], "IllegalArgumentException" in failed["reason"]) == ("expected failure", True)
    assert (failed["differences"][0]["field"], failed["differences"][0]["actual"].partition(" (")[0]) == (
        "died",
        "java.lang.IllegalArgumentException: Unknown leader endpoints",
    )
    assert {"field": "state.role", "expected": '"Unattached"', "actual": '"Stopped"'} in failed["differences"]
    assert "IllegalArgumentException: Unknown leader endpoints" in log.read_text(encoding="utf-8")


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("version", "idle"),
    [
        ("4.1.2", {"idle.unattached-observer"}),
        ("4.3.1", {"idle.unattached-observer", "idle.searching-observer.kafka-4"}),
    ],
)
def test_an_observer_that_waits_for_an_answer_polls_without_a_pause(
    capsys: Captured, version: str, idle: set[str]
) -> None:
    with skipped_if_missing():
        released(releases()[version])
    _, displayed = lines(capsys, "kafka", "run", "--version", version, "-k", "-observer", "--timeout", REPLY_S)
    results = {row["id"]: row["differences"] for row in displayed if row.get("status") == "expected failure"}
    polled = {"field": "poll_again_ms", "expected": "more than 0 where nothing is due", "actual": "0"}
    assert {vector for vector, differences in results.items() if differences == [polled]} == idle


@pytest.mark.nightly
@pytest.mark.usefixtures("kafka")
def test_a_schedule_ends_at_what_is_known_to_differ(capsys: Captured) -> None:
    """A Voters record that takes the place of a truncated one is not read; the model says which rule that breaks."""
    words = ("--seed", "37", "--workload", "storm", "--steps", "300")
    code, displayed = lines(capsys, "kafka", "run", "--version", VERSION, "-k", "vote.stale-epoch", *words)
    run = next(row for row in displayed if row.get("workload") == "storm")
    assert (code, run["status"]) == (ExitCode.CONFORMANT, "expected failure"), run
    assert run["reason"].startswith("finding: A replica that has truncated its log reads no KRaftVersion")

    _, adapter = output(capsys, "kafka", "adapter", "--version", VERSION)
    random = ("conformance", "random", "--adapter", adapter, "--shrink-runs", "0", "--timeout", REPLY_S)
    code, displayed = lines(capsys, *random, *words)
    assert (code, displayed[0]["rules"][0]) == (ExitCode.VIOLATION, "voters.effective-on-append"), displayed[0]
    assert displayed[0]["differences"][0] == {"field": "state.voters.offset", "expected": "2", "actual": "-1"}


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize("version", newest_by_day(releases()))
def test_the_controllers_of_partitions_do_what_their_profile_says(capsys: Captured, version: str) -> None:
    """Until 4.2 all of a target is waited for; everything else is alike, the leader epoch of KAFKA-12803 too."""
    with skipped_if_missing():
        released(releases()[version], "partitions")
    code, displayed = lines(capsys, "kafka", "run", "--partitions", "--version", version, "--timeout", REPLY_S)
    assert [(row["id"], row["reason"]) for row in displayed if row.get("status") in FAILING] == []
    differs = [row["id"] for row in displayed if row.get("status") == "expected failure"]
    assert differs == ([] if number(version) >= (4, 3) else ["partition.complete.kafka-adding"])
    passed = {row["id"] for row in displayed if row.get("status") == "pass"}
    assert {"partition.complete.kafka", "partition.complete.kafka-target"} <= passed
    assert code == ExitCode.CONFORMANT


@pytest.mark.usefixtures("kafka")
def test_a_release_without_pre_vote(capsys: Captured) -> None:
    """A Resigned voter becomes Candidate there, so that vectors in which it asks for Pre-Votes are not for it."""
    with skipped_if_missing():
        released(releases()["3.9.2"])
    code, displayed = lines(capsys, "kafka", "run", "--version", "3.9.2", "-k", "resignation", "--timeout", REPLY_S)
    assert (code, displayed[0]["kip_levels"]["KIP-996"]) == (ExitCode.CONFORMANT, "none")
    results = {row["id"]: row["status"] for row in displayed if row["kind"] == "vector"}
    assert results["resignation.of-a-larger-epoch"] == "pass"
    assert results["resignation.restarted-leader-asks"] == "unsupported"


@pytest.mark.slow
@pytest.mark.usefixtures("kafka")
def test_no_vector_fails_unexplained(capsys: Captured) -> None:
    with skipped_if_missing():
        released(releases()[newest()])
    code, displayed = lines(capsys, "kafka", "run", "--version", newest(), "--timeout", REPLY_S)
    assert [(row["id"], row["reason"]) for row in displayed if row.get("status") in FAILING] == []
    assert (code, displayed[-1]["counts"]["pass"] > 290) == (ExitCode.INCONCLUSIVE, True), displayed[-1]


@pytest.mark.slow
@pytest.mark.usefixtures("kafka")
def test_five_seeds_are_judged(capsys: Captured) -> None:
    words = ("--seeds", "0:5", "--workload", "calm", "--steps", "100", "--shrink-runs", "0", "--timeout", REPLY_S)
    _, adapter = output(capsys, "kafka", "adapter", "--version", VERSION)
    _, displayed = lines(capsys, "conformance", "random", "--adapter", adapter, *words)
    assert displayed[-1]["counts"].keys() <= {"pass", "fail"}, json.dumps(displayed)[:2000]


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize(
    ("type_", "name", "missing"),
    [
        ("FollowerState", "fetchTimer", "FollowerState has no field fetchTimer"),
        pytest.param(
            "KafkaRaftClient",
            "shouldSendUpdateVoteRequest",
            "KafkaRaftClient has no method shouldSendUpdateVoteRequest(FollowerState)",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_renamed_member_is_an_error_of_the_adapter(
    capsys: Captured, kafka: Kafka, tmp_path: Path, type_: str, name: str, missing: str
) -> None:
    """No vector runs: each that needs the member would be a failure of Kafka's."""
    libs = linked(kafka, tmp_path / "libs")
    renamed_member(libs / f"kafka-raft-{VERSION}.jar", type_, name, "moved")
    code, printed = error(capsys, "kafka", "run", "--jars", str(libs), "-k", "moved")
    assert code == ExitCode.UNAVAILABLE, printed
    assert f"Kafka {VERSION} is not as the table in Member.java says: org.apache.kafka.raft.{missing} (" in printed
    assert "vectors" not in printed


@pytest.mark.usefixtures("empty_cache")
def test_a_member_is_looked_for_in_the_releases_of_the_table(kafka: Kafka, tmp_path: Path) -> None:
    copy_template(Template.KAFKA, tmp_path / "mine")
    table = tmp_path / "mine" / "src" / "org" / "apache" / "kafka" / "raft" / "Member.java"
    written = table.read_text(encoding="utf-8")
    place = 'field(CandidateState.class, "isBackingOff")'
    assert f'{place}.until("4.0")' in written
    table.write_text(written.replace(f'{place}.until("4.0")', place), encoding="utf-8")
    with pytest.raises(
        KafkaUnavailableError, match=r"raft\.CandidateState has no field isBackingOff \(BACKING_OFF\); "
    ):
        command_line(kafka, "wire", own=tmp_path / "mine")


@pytest.mark.usefixtures("empty_cache")
def test_jars_that_are_built_anew_are_checked_before_hello(capsys: Captured, kafka: Kafka, tmp_path: Path) -> None:
    libs = linked(kafka, tmp_path / "libs")
    _, adapter = output(capsys, "kafka", "adapter", "--jars", str(libs))
    renamed_member(libs / f"kafka-raft-{VERSION}.jar", "FollowerState", "fetchTimer", "moved")
    done = subprocess.run(shlex.split(adapter), input="{}\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (ExitCode.UNAVAILABLE, ""), done.stderr
    assert "FollowerState has no field fetchTimer" in done.stderr


def test_the_adapter_of_relative_folders_starts_in_any_other(
    capsys: Captured, kafka: Kafka, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(kafka, elsewhere / "libs")
    copy_template(Template.KAFKA, Path("mine"))
    code, adapter = output(capsys, "kafka", "adapter", "--jars", "libs", "--sources", "mine")
    assert code == ExitCode.CONFORMANT
    monkeypatch.chdir(elsewhere.parent)
    words = ("conformance", "replay", "prevote.unattached-grants", "--adapter", adapter, "--timeout", REPLY_S)
    code, printed = output(capsys, *words)
    assert code == ExitCode.CONFORMANT, printed


@pytest.mark.usefixtures("empty_cache")
def test_the_adapter_is_built_from_a_template(kafka: Kafka, tmp_path: Path) -> None:
    copy_template(Template.KAFKA, tmp_path / "mine")
    replica = tmp_path / "mine" / "src" / "org" / "apache" / "kafka" / "raft" / "KafkaReplica.java"
    packaged = command_line(kafka, "wire")
    assert command_line(kafka, "wire", own=tmp_path / "mine") == packaged
    replica.write_text(replica.read_text(encoding="utf-8") + "// A change.\n", encoding="utf-8")
    assert command_line(kafka, "wire", own=tmp_path / "mine") != packaged

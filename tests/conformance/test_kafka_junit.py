"""The unit tests of findings: red on a release, green with the fixes, as Kafka's own tests of the classes."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.conformance.adapter_builds import KAFKAS_TESTS, skipped_if_missing
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.findings.finding import find_finding
from kraft_kafka.jars import Kafka, fetched, released
from kraft_kafka.own_tests.libraries import jars_of_tests, library_jars
from kraft_kafka.patching.patches import patched, patches
from kraft_kafka.recorded import load_recorded
from kraft_kafka.releases import releases
from kraft_kafka.reports.writing import UNIT_TESTS

VERSION = KAFKAS_TESTS.version
LIBRARIES = (*jars_of_tests()[VERSION], *library_jars())
OURS = (
    "org.apache.kafka.raft.QuorumStateOwnVoteTest",
    "org.apache.kafka.raft.internals.ControlRecordsAfterTruncationTest",
)
KAFKAS = ("org.apache.kafka.raft.QuorumStateTest", "org.apache.kafka.raft.internals.KRaftControlRecordStateMachineTest")
FIXES = ("leader-before-own-vote", "next-offset-set-back", "snapshot-read-anew")


def counted(kafka: Kafka, classes: Path, names: tuple[str, ...]) -> tuple[int, int]:
    """Return the numbers of passed and failed tests."""
    path = os.pathsep.join(map(str, (classes, *kafka.class_path, *fetched(LIBRARIES))))
    launcher = ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", path]
    launcher += ["org.junit.platform.console.ConsoleLauncher", "execute", "--details=summary", "--disable-ansi-colors"]
    done = subprocess.run([*launcher, *(f"-c={name}" for name in names)], capture_output=True, text=True, check=False)
    results = {match[2]: int(match[1]) for match in re.finditer(r"(\d+) tests (successful|failed)", done.stdout)}
    assert results.keys() == {"successful", "failed"}, done.stdout + done.stderr
    return results["successful"], results["failed"]


@pytest.fixture(scope="module")
def unpatched() -> Kafka:
    with skipped_if_missing():
        fetched(LIBRARIES)
        return released(releases()[VERSION])


@pytest.fixture(scope="module")
def classes(unpatched: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("junit")
    for name in UNIT_TESTS:
        assert main(["kafka", "finding", name, "--junit", str(folder / "src")]) == ExitCode.CONFORMANT
    path = os.pathsep.join(map(str, (*unpatched.class_path, *fetched(LIBRARIES))))
    sources = [str(source) for source in (folder / "src").rglob("*.java")]
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(folder / "classes"), *sources], check=True)
    return folder / "classes"


def test_they_fail_on_the_release_but_for_the_control(unpatched: Kafka, classes: Path) -> None:
    assert counted(unpatched, classes, OURS) == (1, 8)


@pytest.mark.nightly
def test_they_and_kafkas_own_tests_pass_with_the_fixes(unpatched: Kafka, classes: Path) -> None:
    kafka = unpatched
    for name in FIXES:
        kafka = patched(kafka, patches()[name])
    assert counted(kafka, classes, OURS + KAFKAS) == (9 + 204, 0)


@pytest.mark.parametrize("name", UNIT_TESTS)
def test_the_text_for_the_tracker_names_its_tests(capsys: Captured, name: str) -> None:
    assert main(["kafka", "finding", name, "--jira"]) == ExitCode.CONFORMANT
    text = capsys.readouterr().out
    assert text.startswith("Summary: KRaft: ")
    assert Path(UNIT_TESTS[name]).stem in text
    assert f"Affects: {load_recorded().releases_with(name)} (run); " in text
    assert find_finding(name).fix in FIXES

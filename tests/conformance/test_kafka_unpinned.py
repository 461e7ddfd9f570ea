"""Releases of Apache Kafka that no table has: how they are fetched and checked, and what is expected of them."""

import logging
from hashlib import sha256
from pathlib import Path

import pytest
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import VERSION, Captured, assert_said, lines

from kraft_conformance.exit_codes import ExitCode
from kraft_kafka import unpinned
from kraft_kafka.findings.finding import find_finding, load_findings
from kraft_kafka.jars import Kafka
from kraft_kafka.recorded import in_words, load_recorded
from kraft_kafka.releases import nearest, profile_of, releases
from kraft_kafka.unpinned import classes_digest, release_of, unpinned_jars
from kraft_spec.compiled.building import user_cache

ALIKE = "4.1.1"
"""A release that is not pinned and has the Raft classes of VERSION."""


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A jar of a release 9.9.9, as it was fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = user_cache("kafka") / "unpinned" / "replica-9.9.9"
    file = folder / "org" / "apache" / "kafka" / "kafka-raft" / "9.9.9" / "kafka-raft-9.9.9.jar"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"as fetched")
    sums = f"{sha256(b'as fetched').hexdigest()}  {file.relative_to(folder)}\n"
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return file


def test_a_relative_cache_folder_is_one_of_where_the_command_runs(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert user_cache("kafka") == elsewhere / "cache" / "kraft-spec" / "kafka"


def test_a_jar_has_the_coordinates_of_its_folder(jar: Path) -> None:
    ((named, file),) = unpinned_jars("9.9.9", "replica").items()
    assert (named.group, named.file_name, file) == ("org.apache.kafka", "kafka-raft-9.9.9.jar", jar)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_damaged_jar_is_named(capsys: Captured, jar: Path, is_there: bool) -> None:
    if is_there:
        jar.write_bytes(b"something else")
    else:
        jar.unlink()
    text = f"{jar.name} is not as it was fetched, expected SHA-256 "
    assert_said(capsys, ExitCode.UNAVAILABLE, text, "kafka", "run", "--version", "9.9.9")


def test_what_is_no_version_is_refused(capsys: Captured) -> None:
    text = "no release '../4.3.1', expected a version such as 3.9.2, "
    assert_said(capsys, ExitCode.USAGE, text, "kafka", "run", "--version", "../4.3.1")


@pytest.mark.parametrize("command", [("kafka", "run", "--version"), ("live", "run", "--kafka")])
def test_a_version_that_there_is_not(capsys: Captured, command: tuple[str, ...]) -> None:
    with skipped_if_missing():
        release_of(VERSION)
    assert_said(capsys, ExitCode.UNAVAILABLE, "-9.9.9.jar; is the version right? It says: ", *command, "9.9.9")


@pytest.mark.parametrize(
    ("version", "profile", "near"),
    [
        ("3.9.1", "kafka-4.0", "3.9.2"),
        ("4.0.1", "kafka-4.0", "4.0.2"),
        ("4.0.3", "kafka-4.0", "4.0.2"),
        ("4.1.0", "kafka-4.1", "4.1.2"),
        ("4.2.1", "kafka-4", "4.2.2"),
        ("3.10.0", "kafka-4.0", "3.9.2"),
        ("4.10.0-rc1", "kafka-4", [*releases()][-1]),
    ],
)
def test_the_profile_and_the_nearest_release_are_those_of_the_number(version: str, profile: str, near: str) -> None:
    assert (profile_of(version), nearest(version).version) == (profile, near)


def test_a_release_has_the_workloads_that_it_has_the_features_for() -> None:
    newest = set(nearest("99.0").workloads)
    assert newest - set(nearest("4.0.2").workloads) == {"upgrade", "auto-join"}
    assert newest - set(nearest("4.1.2").workloads) == {"auto-join"}
    assert newest >= {"storm", "hasty-snapshots"}


def test_the_table_has_the_digest_of_the_raft_classes(kafka: Kafka) -> None:
    assert classes_digest(kafka.class_path) == releases()[VERSION].classes


@pytest.mark.usefixtures("kafka")
def test_a_release_with_the_classes_of_a_pinned_one(capsys: Captured, caplog: pytest.LogCaptureFixture) -> None:
    with skipped_if_missing():
        release_of(ALIKE)
    unpinned._say_unpinned.cache_clear()
    caplog.set_level(logging.WARNING)
    caplog.clear()
    code, displayed = lines(capsys, "kafka", "run", "--version", ALIKE, "-k", "prevote.unattached")
    assert (code, displayed[0]["implementation"]["version"]) == (ExitCode.CONFORMANT, ALIKE)
    assert caplog.messages == [
        f"Kafka {ALIKE} is not pinned: its jars are checked against the repository's checksums alone",
        f"the Raft classes of Kafka {ALIKE} are byte for byte those of {VERSION}, whose known differences are expected "
        "of it",
    ]


@pytest.mark.parametrize(
    ("some", "text"),
    [
        ((), "no release"),
        (("4.1",), "4.1"),
        (("4.1", "4.0"), "4.0 and 4.1"),
        (("4.0", "4.1", "4.2"), "4.0 to 4.2"),
        (("4.0", "4.1", "4.3"), "4.0, 4.1 and 4.3"),
    ],
)
def test_releases_in_words(some: tuple[str, ...], text: str) -> None:
    assert in_words(some, ("4.0", "4.1", "4.2", "4.3")) == text


def test_findings_name_the_releases_that_were_recorded_to_show_them() -> None:
    recorded = load_recorded()
    assert recorded.releases_with("observer-refuses-for-ever") == "4.0.2 and 4.1.2"
    text = find_finding("observer-refuses-for-ever").release
    assert text.startswith("Apache Kafka 4.0.2 and 4.1.2, ")
    assert [finding.name for finding in load_findings() if "{" in finding.release] == []

"""The jars of Kafka's own tests, from `libraries.toml` or from a build, and of the libraries that they need."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kraft_kafka.jars import Kafka, built, fetched, find_build
from kraft_kafka.releases import Jar, newest, releases
from kraft_kafka.unpinned import release_of

_BUILD = " ".join(f":{module}:{task}" for module in ("raft", "clients", "server-common") for task in ("jar", "testJar"))


@dataclass(frozen=True, slots=True)
class KafkaWithTests:
    """A Kafka with its own tests."""

    kafka: Kafka
    tests: tuple[Path, ...]
    """Jars of its tests; the first one has those of the raft client."""


def published_tests(version: str) -> KafkaWithTests:
    """Return a release with its tests, which are fetched with Maven.

    Raises:
        KafkaUnavailableError: Maven is missing or cannot fetch them, or a file differs from the table.
        OSError: the cache cannot be written.
    """
    return KafkaWithTests(release_of(version), fetched(jars_of_tests()[version]))


def built_tests(folder: Path) -> KafkaWithTests:
    """Return a build of Kafka with its tests, which are anywhere below a folder, such as a checkout.

    Raises:
        CommandError: the jars are of different versions.
        KafkaUnavailableError: a jar is missing, or a library cannot be fetched.
        OSError: the cache cannot be written.
    """
    release = releases()[newest()]
    tests = [replace(jar, classifier="test") for jar in release.jars]
    build = find_build(folder, (*release.jars, *tests), _BUILD)
    return KafkaWithTests(built(folder, release), build.jars[len(release.jars) :])


@cache
def jars_of_tests() -> Mapping[str, tuple[Jar, ...]]:
    """Return the test jars of each release that has them, the oldest first."""
    return {
        release["version"]: tuple(
            Jar("org.apache.kafka", artifact, "test", release.get("tests", release["version"]), sha256)
            for artifact, sha256 in release["jars"].items()
        )
        for release in _table()["release"]
    }


@cache
def library_jars() -> tuple[Jar, ...]:
    """Return JUnit, and the libraries of Kafka's tests."""
    names = _table()["libraries"].items()
    return tuple(
        Jar(group, artifact, "", version, sha) for name, sha in names for group, artifact, version in [name.split(":")]
    )


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_kafka.own_tests") / "libraries.toml").read_text(encoding="utf-8"))

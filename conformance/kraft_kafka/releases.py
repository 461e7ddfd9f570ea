"""The supported releases of Apache Kafka, from `releases.toml`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kraft_simulation.workload import WORKLOADS
from kraft_vectors.features import Subject

_PROFILES = {(4, 2): "kafka-4", (4, 1): "kafka-4.1"}
"""Profiles by their first release, the newest first; older releases have `_OLDEST_PROFILE`."""
_OLDEST_PROFILE = "kafka-4.0"
_NEVER_RUN = ("reassignments", "hasty-reassignments", "old-voters")
"""Workloads for no release: KIP-642 never shipped, and no replica of a release is older than the release."""
_WORKLOADS_SINCE = {"upgrade": (4, 1), "auto-join": (4, 2)}
"""The first release that has the feature of a workload."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar of a release."""

    group: str
    artifact: str
    classifier: str
    """Empty for the artifact itself, `test` for its tests."""
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """File name as Maven and Kafka's own build write it."""
        return f"{self.artifact}-{self.version}{self.suffix}.jar"

    @property
    def suffix(self) -> str:
        """Part of the file name after the version."""
        return f"-{self.classifier}" if self.classifier else ""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Kafka."""

    version: str
    jars: tuple[Jar, ...]
    """Kafka's own, without the libraries."""
    partition_jars: tuple[Jar, ...]
    """Further jars for the controllers of partitions."""
    classes: str
    """Digest of its Raft classes, as `unpinned.classes_digest` computes it."""

    @property
    def workloads(self) -> tuple[str, ...]:
        since = {**dict.fromkeys(WORKLOADS, (0,)), **_WORKLOADS_SINCE}
        return tuple(name for name in WORKLOADS if name not in _NEVER_RUN and since[name] <= number(self.version))

    def jars_for(self, subject: Subject) -> tuple[Jar, ...]:
        """Return Kafka's own jars for a subject of the suite."""
        return self.jars if subject == "replica" else (*self.jars, *self.partition_jars)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the adapter's sources for jars that contain a class."""

    having: str
    """The class, as a path in a jar, without `.class`."""
    text: str
    replacement: str


@cache
def releases() -> Mapping[str, Release]:
    """Return all releases by their version, the oldest first."""
    return {
        release["version"]: Release(
            release["version"],
            _jars("org.apache.kafka", release["version"], release["jars"]),
            _jars("org.apache.kafka", release["version"], release["partition_jars"]),
            release["classes"],
        )
        for release in _table()["release"]
    }


def newest() -> str:
    """Return the version that runs by default."""
    return [*releases()][-1]


def number(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparisons: (4, 10, 0) for 4.10.0, which is newer than 4.9.1."""
    return tuple(map(int, re.findall(r"\d+", version)))


def profile_of(version: str) -> str:
    """Return the profile of a version; the newest profile for a name that is no version."""
    if re.match(r"\d+\.\d", version) is None:
        return _PROFILES[max(_PROFILES)]
    return next((profile for first, profile in _PROFILES.items() if first <= number(version)), _OLDEST_PROFILE)


def nearest(version: str) -> Release:
    """Return the newest pinned release up to a version, or else the oldest: of its minor version, or of its profile."""
    of_profile = [release for release in releases().values() if profile_of(release.version) == profile_of(version)]
    of_minor = [release for release in of_profile if number(release.version)[:2] == number(version)[:2]]
    candidates = of_minor or of_profile
    older = [release for release in candidates if number(release.version) <= number(version)]
    return older[-1] if older else candidates[0]


@cache
def logging_jars() -> tuple[Jar, ...]:
    """Return the jars of Kafka's logging, the same for every release."""
    logging = _table()["logging"]
    return _jars("org.slf4j", logging["version"], logging["jars"])


@cache
def json_jars() -> tuple[Jar, ...]:
    """Return the JSON library of the adapter and of the Java template."""
    json = _table()["json"]
    return _jars("com.google.code.gson", json["version"], json["jars"])


@cache
def metrics_jars() -> tuple[Jar, ...]:
    """Return the metrics libraries of Kafka's controller, the same for every release."""
    metrics = _table()["metrics"]
    return _jars("com.yammer.metrics", metrics["version"], metrics["jars"])


def library_jars(subject: Subject = "replica") -> tuple[Jar, ...]:
    """Return the libraries of Kafka's logging and metrics, and the adapter's JSON library."""
    return (*logging_jars(), *json_jars(), *(metrics_jars() if subject == "partitions" else ()))


@cache
def edits() -> tuple[Edit, ...]:
    """Return the changes of the adapter's sources, in their order."""
    return tuple(Edit(**edit) for edit in _table()["edit"])


def _jars(group: str, version: str, table: Mapping[str, str]) -> tuple[Jar, ...]:
    return tuple(Jar(group, artifact, "", version, sha256) for artifact, sha256 in table.items())


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_kafka") / "releases.toml").read_text(encoding="utf-8"))

"""The releases of Apache Kafka that are run, from `releases.toml`."""

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
"""Profiles by the first release that each is of, the newest first; older releases have `_OLDEST_PROFILE`."""
_OLDEST_PROFILE = "kafka-4.0"
_NEVER_RUN = ("reassignments", "hasty-reassignments", "old-voters")
"""Workloads for no release: KIP-642 never shipped, and a release has no replica that is older than itself."""
_WORKLOADS_SINCE = {"upgrade": (4, 1), "auto-join": (4, 2)}
"""Workloads for which older releases lack the feature."""


@dataclass(frozen=True, slots=True)
class Jar:
    """A file that a release consists of."""

    group: str
    artifact: str
    classifier: str
    """Empty for the artifact itself, `test` for its tests."""
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """As Maven and Kafka's own build name the file."""
        return f"{self.artifact}-{self.version}{self.suffix}.jar"

    @property
    def suffix(self) -> str:
        """What stands behind the version in the name of the file."""
        return f"-{self.classifier}" if self.classifier else ""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Kafka."""

    version: str
    jars: tuple[Jar, ...]
    """Kafka's own, without the libraries."""
    partition_jars: tuple[Jar, ...]
    """Those that the controllers of partitions need besides."""
    classes: str
    """Digest of its Raft classes, as `unpinned.classes_digest` computes it."""

    @property
    def workloads(self) -> tuple[str, ...]:
        """The random workloads that it has the features for."""
        since = {**dict.fromkeys(WORKLOADS, (0,)), **_WORKLOADS_SINCE}
        return tuple(one for one in WORKLOADS if one not in _NEVER_RUN and since[one] <= number(self.version))

    def jars_for(self, subject: Subject) -> tuple[Jar, ...]:
        """Kafka's own jars for a subject of the suite."""
        return self.jars if subject == "replica" else (*self.jars, *self.partition_jars)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the adapter's sources, for jars that have a class."""

    having: str
    """The class, as a path in a jar, without `.class`."""
    text: str
    replacement: str


@cache
def releases() -> Mapping[str, Release]:
    """All releases by their version, the oldest first."""
    return {
        one["version"]: Release(
            one["version"],
            _jars("org.apache.kafka", one["version"], one["jars"]),
            _jars("org.apache.kafka", one["version"], one["partition_jars"]),
            one["classes"],
        )
        for one in _table()["release"]
    }


def newest() -> str:
    """The version that is run if none is named."""
    return [*releases()][-1]


def number(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparisons: (4, 10, 0) for 4.10.0, which is newer than 4.9.1."""
    return tuple(map(int, re.findall(r"\d+", version)))


def profile_of(version: str) -> str:
    """The profile of a version; that of the newest for a name that is none."""
    if re.match(r"\d+\.\d", version) is None:
        return _PROFILES[max(_PROFILES)]
    return next((profile for first, profile in _PROFILES.items() if first <= number(version)), _OLDEST_PROFILE)


def nearest(version: str) -> Release:
    """The newest pinned release that is not newer, or else the oldest: of the same minor version, or of the profile."""
    of_profile = [one for one in releases().values() if profile_of(one.version) == profile_of(version)]
    of_minor = [one for one in of_profile if number(one.version)[:2] == number(version)[:2]]
    known = of_minor or of_profile
    older = [one for one in known if number(one.version) <= number(version)]
    return older[-1] if older else known[0]


@cache
def logging_jars() -> tuple[Jar, ...]:
    """What Kafka logs through, whatever its release."""
    logging = _table()["logging"]
    return _jars("org.slf4j", logging["version"], logging["jars"])


@cache
def json_jars() -> tuple[Jar, ...]:
    """What the adapter, and the template in Java, read JSON with."""
    json = _table()["json"]
    return _jars("com.google.code.gson", json["version"], json["jars"])


@cache
def metrics_jars() -> tuple[Jar, ...]:
    """Libraries that Kafka's controller counts with, whatever its release."""
    metrics = _table()["metrics"]
    return _jars("com.yammer.metrics", metrics["version"], metrics["jars"])


def library_jars(subject: Subject = "replica") -> tuple[Jar, ...]:
    """Libraries that Kafka logs through and counts with, and that its adapter reads JSON with."""
    return (*logging_jars(), *json_jars(), *(metrics_jars() if subject == "partitions" else ()))


@cache
def edits() -> tuple[Edit, ...]:
    """The changes of the adapter's sources, in their order."""
    return tuple(Edit(**one) for one in _table()["edit"])


def _jars(group: str, version: str, table: Mapping[str, str]) -> tuple[Jar, ...]:
    return tuple(Jar(group, artifact, "", version, sha256) for artifact, sha256 in table.items())


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_kafka") / "releases.toml").read_text(encoding="utf-8"))

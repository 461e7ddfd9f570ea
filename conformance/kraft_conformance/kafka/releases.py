"""The releases of Apache Kafka that are run, from `releases.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kraft_conformance.protocol.features import Subject


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
    workloads: tuple[str, ...]
    """The random workloads that it has the features for."""

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
            tuple(one["workloads"]),
        )
        for one in _table()["release"]
    }


def newest() -> str:
    """The version that is run if none is named."""
    return [*releases()][-1]


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
    split = ((name.partition(":"), sha256) for name, sha256 in table.items())
    return tuple(Jar(group, artifact, classifier, version, sha256) for (artifact, _, classifier), sha256 in split)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_conformance.kafka") / "releases.toml").read_text(encoding="utf-8"))

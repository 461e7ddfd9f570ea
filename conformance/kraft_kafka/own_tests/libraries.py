"""The jars of Kafka's own tests and of what runs them, from `libraries.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from kraft_kafka.releases import Jar


@cache
def jars_of_tests() -> Mapping[str, tuple[Jar, ...]]:
    """Return the test jars of each release that has them, the oldest first."""
    return {
        release["version"]: tuple(
            Jar("org.apache.kafka", artifact, "test", release["version"], sha256)
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

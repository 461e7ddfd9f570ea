"""Whole controllers of a release of Apache Kafka, which need more jars than the quorum's client alone."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from kraft_kafka.jars import VERSION, Kafka, KafkaUnavailableError, fetched, one_version
from kraft_kafka.releases import Jar, logging_jars
from kraft_kafka.unpinned import is_version, unpinned_controller

_KAFKAS = re.compile(rf"kafka(?:_2\.\d+|-clients|-metadata|-raft|-server|-server-common|-storage)-({VERSION})\.jar")
"""A jar of Kafka that a controller needs, with its version."""


@cache
def controllers() -> Mapping[str, tuple[Jar, ...]]:
    """The jars of each release that can be started, the oldest first."""
    text = (files("kraft_kafka") / "controllers.toml").read_text(encoding="utf-8")
    return {controller["version"]: _jars(controller["jars"]) for controller in tomllib.loads(text)["controller"]}


def _jars(table: Mapping[str, str]) -> tuple[Jar, ...]:
    split = ((*name.split(":"), "")[:4] for name in table)
    return tuple(
        Jar(group, artifact, classifier, version, sha256)
        for (group, artifact, version, classifier), sha256 in zip(split, table.values(), strict=True)
    )


def jars_of(version: str) -> tuple[Jar, ...]:
    """Return all jars of a release that can be started; empty for another name."""
    jars = controllers().get(version, ())
    return tuple(dict.fromkeys((*jars, *logging_jars()))) if jars else ()


def controller(version_or_folder: str) -> Kafka:
    """A controller that can be started: a pinned release, the jars of a folder, or any other release.

    Raises:
        CommandError: the folder has jars of several versions of Kafka.
        KafkaUnavailableError: it is neither, or cannot be fetched.
        OSError: the cache cannot be written.
    """
    if jars := jars_of(version_or_folder):
        return Kafka(version_or_folder, fetched(jars))
    folder = Path(version_or_folder).resolve()
    jars_below = sorted(folder.rglob("*.jar")) if folder.is_dir() else []
    versions = {file: match[1] for file in jars_below if (match := _KAFKAS.fullmatch(file.name))}
    if not folder.exists() and is_version(version_or_folder):
        return unpinned_controller(version_or_folder)
    if not any(file.name.startswith("kafka_") for file in versions):
        pinned = ", ".join(controllers())
        raise KafkaUnavailableError(
            f"{version_or_folder}: expected a release such as {pinned}, "
            "or a folder with kafka_2.13-VERSION.jar and what it needs"
        )
    return Kafka(one_version(folder, versions), tuple(jars_below))

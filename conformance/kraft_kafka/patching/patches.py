"""The patches of `patches.toml`, and their jars."""

import hashlib
import os
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from kraft_kafka.jars import Kafka, KafkaUnavailableError, fetched
from kraft_kafka.releases import Jar
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java

_DIGITS = 12
"""Digits of a digest in a file's name."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of one place in Kafka's classes."""

    name: str
    what: str
    """Behaviour of the patched Kafka."""
    type: str
    """The class, without its package `org.apache.kafka.raft`."""
    method: str
    at: str
    """The replaced call or access in the method, as `Class.member` or `member`; empty for its whole body."""
    becomes: str
    """The replacing statement, in Javassist's language."""
    rules: tuple[str, ...] = ()
    """Rules that a mutant breaks, the main one first; empty for a fix."""


@cache
def patches() -> Mapping[str, Patch]:
    """Return all patches by name."""
    return {patch["name"]: Patch(**{**patch, "rules": tuple(patch.get("rules", ()))}) for patch in _table()["patch"]}


def mutants() -> Mapping[str, Patch]:
    """Return the patches that break a rule of the specification, by name."""
    return {name: patch for name, patch in patches().items() if patch.rules}


def fixes() -> Mapping[str, Patch]:
    """Return the patches that fix a finding, by name."""
    return {name: patch for name, patch in patches().items() if not patch.rules}


def patched(kafka: Kafka, patch: Patch) -> Kafka:
    """Return a Kafka with the patched class first on its class path, building it if the cache has none.

    Raises:
        KafkaUnavailableError: this Kafka lacks the patched place, or Javassist cannot be fetched.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    java, javassist = find_java().executable, fetched(javassist_jars())
    with as_file(files("kraft_kafka.patching") / "Patch.java") as program:
        cache_folder = user_cache("kafka")
        jar_file = cache_folder / f"patch-{patch.name}-{_digest(patch, program, kafka)}.jar"
        if not jar_file.is_file():
            cache_folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache_folder, prefix=".patching-") as staging:
                fresh = Path(staging) / jar_file.name
                class_path = os.pathsep.join(map(str, (*javassist, *kafka.class_path)))
                place = [f"org.apache.kafka.raft.{patch.type}", patch.method, patch.at]
                done = subprocess.run(
                    [str(java), "-cp", class_path, str(program), str(fresh), *place],
                    input=patch.becomes,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode != 0:
                    message = (done.stderr.strip().splitlines() or ["nothing"])[-1]
                    where = f"{patch.type}.{patch.method} of Kafka {kafka.version}"
                    raise KafkaUnavailableError(f"{patch.name} does not fit {where}: {message}")
                fresh.replace(jar_file)
    return replace(kafka, version=f"{kafka.version}+{patch.name}", class_path=(jar_file, *kafka.class_path))


def _digest(patch: Patch, program: Path, kafka: Kafka) -> str:
    digest = hashlib.sha256(f"{patch}".encode() + program.read_bytes())
    for jar in kafka.class_path:
        digest.update(f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}\n".encode())
    return digest.hexdigest()[:_DIGITS]


@cache
def javassist_jars() -> tuple[Jar, ...]:
    """Return the pinned jar of Javassist, which changes classes."""
    return (Jar(**_table()["javassist"]),)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_kafka.patching") / "patches.toml").read_text(encoding="utf-8"))

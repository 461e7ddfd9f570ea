"""The patches of `patches.toml`, and the jar that each becomes."""

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
"""Of a digest, in the name of a file."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of one place in Kafka's classes."""

    name: str
    what: str
    """What Kafka does with it."""
    type: str
    """The class, without its package `org.apache.kafka.raft`."""
    method: str
    at: str
    """The call or access in the method that is replaced, as `Class.member` or `member`; empty for its whole body."""
    becomes: str
    """The statement in its place, in Javassist's words."""
    rules: tuple[str, ...] = ()
    """Rules that it breaks, the one that it is about first; none of a fix."""


@cache
def patches() -> Mapping[str, Patch]:
    """All patches by their name."""
    return {one["name"]: Patch(**{**one, "rules": tuple(one.get("rules", ()))}) for one in _table()["patch"]}


def mutants() -> Mapping[str, Patch]:
    """The patches that break a rule of the specification, by their name."""
    return {name: patch for name, patch in patches().items() if patch.rules}


def fixes() -> Mapping[str, Patch]:
    """The patches that mend a finding, by their name."""
    return {name: patch for name, patch in patches().items() if not patch.rules}


def patched(kafka: Kafka, patch: Patch) -> Kafka:
    """A Kafka with the patched class before its jars on the class path; made if it has not been yet.

    Raises:
        KafkaUnavailableError: this Kafka has no such place, or Javassist cannot be fetched.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    java, javassist = find_java().executable, fetched(_javassist())
    with as_file(files("kraft_kafka.patching") / "Patch.java") as program:
        cache_folder = user_cache("kafka")
        made = cache_folder / f"patch-{patch.name}-{_digest(patch, program, kafka)}.jar"
        if not made.is_file():
            cache_folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache_folder, prefix=".patching-") as staging:
                fresh = Path(staging) / made.name
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
                    said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
                    where = f"{patch.type}.{patch.method} of Kafka {kafka.version}"
                    raise KafkaUnavailableError(f"{patch.name} does not fit {where}: {said}")
                fresh.replace(made)
    return replace(kafka, version=f"{kafka.version}+{patch.name}", class_path=(made, *kafka.class_path))


def _digest(patch: Patch, program: Path, kafka: Kafka) -> str:
    found = hashlib.sha256(f"{patch}".encode() + program.read_bytes())
    for jar in kafka.class_path:
        found.update(f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}\n".encode())
    return found.hexdigest()[:_DIGITS]


@cache
def _javassist() -> tuple[Jar, ...]:
    return (Jar(**_table()["javassist"]),)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("kraft_kafka.patching") / "patches.toml").read_text(encoding="utf-8"))

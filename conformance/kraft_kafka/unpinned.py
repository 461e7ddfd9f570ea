"""Releases of Apache Kafka that no table has, of any version: fetched with Maven, and kept with their checksums."""

import hashlib
import logging
import re
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from kraft_conformance.failure import usage_error
from kraft_kafka.jars import (
    VERSION,
    Kafka,
    KafkaUnavailableError,
    copy_jars,
    fetched,
    released,
    sha256_of,
)
from kraft_kafka.releases import Jar, Release, library_jars, logging_jars, nearest, releases
from kraft_spec.compiled.building import user_cache
from kraft_vectors.features import Subject

_LOG = logging.getLogger(__name__)

What = Subject | Literal["controller"]
"""The jars of an adapter for a subject of the suite, or those of a whole controller."""

_SUMS = "SHA256SUMS"
"""The file with the checksums of the jars as they were fetched, in the form of `sha256sum`."""
_CONTROLLER = ("kafka_2.13", "kafka-tools")
"""What a controller is started from; Maven resolves what they need."""
_RAFT_CLASSES = re.compile(r"org/apache/kafka/(raft|snapshot|server/common)/.*\.class")


def is_version(text: str) -> bool:
    """True if the text has the form of a version, as 4.4.0 has."""
    return re.fullmatch(VERSION, text) is not None


def release_of(version: str, subject: Subject = "replica") -> Kafka:
    """The jars of a release of any version: a pinned one, or else what Maven finds under this version.

    Raises:
        CommandError: the text is no version.
        KafkaUnavailableError: Maven is not there or cannot fetch them, or a file is not as it was fetched.
        OSError: the cache cannot be written.
    """
    if version in releases():
        return released(releases()[version], subject)
    if not is_version(version):
        raise usage_error(f"no release {version!r}, expected a version such as {', '.join(releases())}")
    return Kafka(version, (*unpinned_jars(version, subject).values(), *fetched(library_jars(subject))), subject)


def unpinned_controller(version: str) -> Kafka:
    """A whole controller of a version that is not pinned.

    Raises:
        As `release_of`.
    """
    return Kafka(version, (*unpinned_jars(version, "controller").values(), *fetched(logging_jars())))


def unpinned_jars(version: str, what: What) -> Mapping[Jar, Path]:
    """The files of a release by their jars, in the order of the coordinates: from the cache, or else from Maven.

    Raises:
        As `release_of`.
    """
    folder = user_cache("kafka") / "unpinned" / f"{what}-{version}"
    if not folder.is_dir():
        _fetch(version, what, folder)
    found: dict[Jar, Path] = {}
    for line in (folder / _SUMS).read_text(encoding="utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        file = folder / name
        if not file.is_file() or sha256_of(file) != sha256:
            raise KafkaUnavailableError(
                f"{file} is not as it was fetched, expected SHA-256 {sha256}: delete {folder} to fetch it again"
            )
        found[_jar(name, sha256)] = file
    _say_unpinned(version)
    return found


@cache
def _say_unpinned(version: str) -> None:
    """Say so once, however many controllers of it are started."""
    _LOG.warning("Kafka %s is not pinned: its jars are checked against the repository's checksums alone", version)


def _fetch(version: str, what: What, folder: Path) -> None:
    if what == "controller":
        asked = [Jar("org.apache.kafka", artifact, "", version, "") for artifact in _CONTROLLER]
    else:
        pinned = nearest(version).jars_for(what)
        asked = [replace(jar, version=version, sha256="") for jar in pinned]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as staging:
        made = Path(staging) / folder.name
        made.mkdir()
        # In folders by group, artifact and version, which the name of the file alone does not tell.
        copy_jars(asked, made, "-Dmdep.useRepositoryLayout=true", with_needed=what == "controller")
        names = sorted(file.relative_to(made).as_posix() for file in made.rglob("*.jar"))
        sums = "".join(f"{sha256_of(made / name)}  {name}\n" for name in names)
        (made / _SUMS).write_text(sums, encoding="utf-8")
        try:
            made.rename(folder)
        except OSError:
            # Another process was faster.
            if not folder.is_dir():
                raise


def _jar(name: str, sha256: str) -> Jar:
    """The jar at a path of a repository: the group as folders, the artifact, the version and the file."""
    *group, artifact, version, file = name.split("/")
    classifier = file.removeprefix(f"{artifact}-{version}").removesuffix(".jar").removeprefix("-")
    return Jar(".".join(group), artifact, classifier, version, sha256)


# -------------------------------------------------------------------------------------------------------------
# What is known of another release.
# -------------------------------------------------------------------------------------------------------------


def known_release(version: str) -> Release:
    """The pinned release whose results are expected of a release: itself, or one with the same Raft classes.

    If there is neither, it is the nearest release (`nearest`).

    Raises:
        As `release_of`.
    """
    if version in releases():
        return releases()[version]
    digest = classes_digest(unpinned_jars(version, "replica").values())
    if same := next((one for one in releases().values() if one.classes == digest), None):
        says = "the Raft classes of Kafka %s are byte for byte those of %s, whose known differences are expected of it"
        _LOG.warning(says, version, same.version)
        return same
    near = nearest(version)
    says = (
        "the Raft classes of Kafka %s are those of no pinned release: it is expected to differ as %s does, the nearest"
    )
    _LOG.warning(says, version, near.version)
    return near


def classes_digest(jars: Iterable[Path]) -> str:
    """SHA-256 over the sorted names of the Raft classes in the jars, each with its bytes.

    Raises:
        KafkaUnavailableError: a file is no jar that can be read.
    """
    classes: dict[str, bytes] = {}
    for jar in jars:
        try:
            with zipfile.ZipFile(jar) as archive:
                classes |= {name: archive.read(name) for name in archive.namelist() if _RAFT_CLASSES.fullmatch(name)}
        except (OSError, zipfile.BadZipFile) as error:
            raise KafkaUnavailableError(f"{jar}: no jar that can be read: {error}") from error
    digest = hashlib.sha256()
    for name in sorted(classes):
        digest.update(f"{name}\n{len(classes[name])}\n".encode() + classes[name])
    return digest.hexdigest()

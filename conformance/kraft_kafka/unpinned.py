"""Releases of Apache Kafka that are not in `releases.toml`: fetched with Maven, and kept with their checksums."""

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
"""The file with the checksums of the fetched jars, in the format of `sha256sum`."""
_CONTROLLER = ("kafka_2.13", "kafka-tools")
"""The artifacts of a controller; Maven resolves their dependencies."""
_RAFT_CLASSES = re.compile(r"org/apache/kafka/(raft|snapshot|server/common)/.*\.class")


def is_version(text: str) -> bool:
    """True if the text has the form of a version, as 4.4.0 has."""
    return re.fullmatch(VERSION, text) is not None


def release_of(version: str, subject: Subject = "replica") -> Kafka:
    """Return the jars of a release of any version: pinned, or else from Maven.

    Raises:
        CommandError: the text is no version.
        KafkaUnavailableError: Maven is missing or cannot fetch them, or a file has changed since it was fetched.
        OSError: the cache cannot be written.
    """
    if version in releases():
        return released(releases()[version], subject)
    if not is_version(version):
        raise usage_error(f"no release {version!r}, expected a version such as {', '.join(releases())}")
    return Kafka(version, (*unpinned_jars(version, subject).values(), *fetched(library_jars(subject))), subject)


def unpinned_controller(version: str) -> Kafka:
    """Return a whole controller of a version that is not pinned.

    Raises:
        As `release_of`.
    """
    return Kafka(version, (*unpinned_jars(version, "controller").values(), *fetched(logging_jars())))


def unpinned_jars(version: str, what: What) -> Mapping[Jar, Path]:
    """Return the files of a release by their jars, in the order of the coordinates: from the cache, or else from Maven.

    Raises:
        As `release_of`.
    """
    folder = user_cache("kafka") / "unpinned" / f"{what}-{version}"
    if not folder.is_dir():
        _fetch(version, what, folder)
    files: dict[Jar, Path] = {}
    for line in (folder / _SUMS).read_text(encoding="utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        file = folder / name
        if not file.is_file() or sha256_of(file) != sha256:
            raise KafkaUnavailableError(
                f"{file} is not as it was fetched, expected SHA-256 {sha256}: delete {folder} to fetch it again"
            )
        files[_parse_jar(name, sha256)] = file
    _say_unpinned(version)
    return files


@cache
def _say_unpinned(version: str) -> None:
    """Warn once, however many controllers of the version start."""
    _LOG.warning("Kafka %s is not pinned: its jars are checked against the repository's checksums alone", version)


def _fetch(version: str, what: What, folder: Path) -> None:
    if what == "controller":
        jars = [Jar("org.apache.kafka", artifact, "", version, "") for artifact in _CONTROLLER]
    else:
        pinned = nearest(version).jars_for(what)
        jars = [replace(jar, version=version, sha256="") for jar in pinned]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as staging:
        fetched_folder = Path(staging) / folder.name
        fetched_folder.mkdir()
        # The repository layout keeps group, artifact and version, which a file's name alone does not have.
        copy_jars(jars, fetched_folder, "-Dmdep.useRepositoryLayout=true", with_needed=what == "controller")
        names = sorted(file.relative_to(fetched_folder).as_posix() for file in fetched_folder.rglob("*.jar"))
        sums = "".join(f"{sha256_of(fetched_folder / name)}  {name}\n" for name in names)
        (fetched_folder / _SUMS).write_text(sums, encoding="utf-8")
        try:
            fetched_folder.rename(folder)
        except OSError:
            # Another process was faster.
            if not folder.is_dir():
                raise


def _parse_jar(name: str, sha256: str) -> Jar:
    """Parse a jar's path in a repository: the group as folders, the artifact, the version and the file."""
    *group, artifact, version, file = name.split("/")
    classifier = file.removeprefix(f"{artifact}-{version}").removesuffix(".jar").removeprefix("-")
    return Jar(".".join(group), artifact, classifier, version, sha256)


# -------------------------------------------------------------------------------------------------------------
# Expected results of an unpinned release.
# -------------------------------------------------------------------------------------------------------------


def known_release(version: str) -> Release:
    """Return the pinned release whose results a release is expected to have.

    It is the release itself, else one with the same Raft classes, else the nearest (`nearest`).

    Raises:
        As `release_of`.
    """
    if version in releases():
        return releases()[version]
    digest = classes_digest(unpinned_jars(version, "replica").values())
    if same := next((release for release in releases().values() if release.classes == digest), None):
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
    """Return the SHA-256 over the sorted names of the Raft classes in the jars, each with its bytes.

    Raises:
        KafkaUnavailableError: a jar cannot be read.
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

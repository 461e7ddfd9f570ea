"""The jars of a release: fetched with Maven by exact coordinates and checked, or found in a local build."""

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, UnavailableError
from kraft_kafka.releases import Jar, Release, library_jars
from kraft_spec.compiled.building import user_cache
from kraft_vectors.features import Subject

_MAVEN_S = 600.0
"""Time limit for Maven: the jars of a release are some 11 MB."""
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_EXCLUDE_ALL = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
_SHOWN_CHARACTERS = 200
_OF_OUR_PROJECT = "kraft-spec:kafka:jar:1: "
"""Maven's prefix of the reason in an error about our project."""
VERSION = r"\d[\w.]*(?:-(?!test\b|sources\b|javadoc\b|scaladoc\b)\w+)*"
"""Pattern of a version: it begins with a digit and may end with a word, as in kafka-raft-4.4.0-SNAPSHOT.jar."""
_BUILD = ":raft:jar :clients:jar :server-common:jar :metadata:jar"


class KafkaUnavailableError(UnavailableError):
    """Kafka cannot run here; the message is one line and names what is missing."""


@dataclass(frozen=True, slots=True)
class Kafka:
    """A Kafka that can be run."""

    version: str
    class_path: tuple[Path, ...]
    subject: Subject = "replica"
    """The adapter's subject: a replica of the quorum, or the controllers of partitions."""


def released(release: Release, subject: Subject = "replica") -> Kafka:
    """Return the jars of a release: from the cache, or else fetched with Maven; each has the SHA-256 of the table.

    Raises:
        KafkaUnavailableError: Maven is missing or cannot fetch them, or a file differs from the table.
        OSError: the cache cannot be written.
    """
    return Kafka(release.version, fetched((*release.jars_for(subject), *library_jars(subject))), subject)


def built(folder: Path, release: Release, subject: Subject = "replica") -> Kafka:
    """Return the jars of a build of Kafka, anywhere below a folder: those of `release`, in any version.

    Libraries that are not below the folder are fetched.

    Raises:
        As `find_build` and `released`.
    """
    build = find_build(folder, release.jars_for(subject), _BUILD)
    wanted = library_jars(subject)
    libraries = tuple(file for jar in wanted if (file := _find_newest(jar, build.files)) is not None)
    if len(libraries) < len(wanted):
        libraries = fetched(wanted)
    return Kafka(build.version, (*build.jars, *libraries), subject)


@dataclass(frozen=True, slots=True)
class Build:
    """Jars of a build of Kafka."""

    version: str
    jars: tuple[Path, ...]
    """The jars asked for, in their order."""
    files: tuple[Path, ...]
    """All jars below the folder."""


def find_build(folder: Path, jars: Sequence[Jar], tasks: str) -> Build:
    """Find jars anywhere below a folder, in any version; the newest of several files for one jar wins.

    Args:
        folder: a checkout of Kafka, or a folder with its jars.
        jars: the jars, whose own versions do not matter.
        tasks: Gradle's tasks that build them, for the error.

    Raises:
        CommandError: the jars, or others in their folders, are of different versions.
        KafkaUnavailableError: a jar is missing.
    """
    if not folder.is_dir():
        raise KafkaUnavailableError(f"{folder}: no such folder, expected one with the jars of a build of Kafka")
    # The adapter may start in another folder.
    folder = folder.resolve()
    files = tuple(sorted(folder.rglob("*.jar")))
    file_of = {jar: _find_newest(jar, files) for jar in jars}
    missing = [f"{jar.artifact}-VERSION{jar.suffix}.jar" for jar, file in file_of.items() if file is None]
    if missing:
        raise KafkaUnavailableError(
            f"{folder}: there is no {', no '.join(missing)} in it or below; a checkout of Kafka builds them: "
            f"./gradlew {tasks}"
        )
    kafkas = tuple(file for file in file_of.values() if file is not None)
    folders = {file.parent for file in kafkas}
    version = one_version(
        folder,
        {file: match[1] for file in files if file.parent in folders and (match := _match_version(file, file_of))},
    )
    return Build(version, kafkas, files)


def one_version(folder: Path, versions: Mapping[Path, str]) -> str:
    """The version of all jars of Kafka in a folder.

    Raises:
        CommandError: there is more than one; the message names the files of each.
    """
    files: dict[str, list[str]] = {}
    for file, version in versions.items():
        files.setdefault(version, []).append(str(file.relative_to(folder)))
    if len(files) > 1:
        named = "; ".join(f"{version}: {', '.join(names)}" for version, names in files.items())
        raise CommandError(
            f"{folder}: the jars of Kafka are of {len(files)} versions ({named}), expected one: delete the others",
            ExitCode.BAD_INPUT,
        )
    return next(iter(files))


def _match_version(file: Path, jars: Iterable[Jar]) -> re.Match[str] | None:
    """Return the match of a file's name with the pattern of one of these jars; its group is the version."""
    return next((match for jar in jars if (match := _pattern(jar).fullmatch(file.name))), None)


def _find_newest(jar: Jar, files: Iterable[Path]) -> Path | None:
    named = [file for file in files if _pattern(jar).fullmatch(file.name)]
    return max(named, key=lambda file: file.stat().st_mtime_ns, default=None)


def _pattern(jar: Jar) -> re.Pattern[str]:
    return re.compile(rf"{jar.artifact}-({VERSION}){jar.suffix}\.jar")


# -------------------------------------------------------------------------------------------------------------
# Maven.
# -------------------------------------------------------------------------------------------------------------


def fetched(jars: Sequence[Jar], maven_s: float = _MAVEN_S) -> tuple[Path, ...]:
    """Return the files of jars: from the cache, or else fetched with Maven; each has the SHA-256 of its table.

    Args:
        jars: the jars.
        maven_s: time limit for Maven, in seconds.

    Raises:
        As `released`.
    """
    folder = _folder()
    if missing := [jar for jar in dict.fromkeys(jars) if not (folder / jar.file_name).is_file()]:
        _fetch(missing, folder, maven_s)
    for jar in jars:
        _check(folder / jar.file_name, jar)
    return tuple(folder / jar.file_name for jar in jars)


def _folder() -> Path:
    return user_cache("kafka") / "jars"


def _check(file: Path, jar: Jar) -> None:
    actual = sha256_of(file)
    if actual != jar.sha256:
        raise KafkaUnavailableError(f"{file} has SHA-256 {actual}, expected {jar.sha256}: delete it to fetch it again")


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _fetch(jars: Sequence[Jar], folder: Path, maven_s: float) -> None:
    more = f" and {len(jars) - 1} more" if len(jars) > 1 else ""
    say(f"fetching {jars[0].file_name}{more} with Maven, for at most {maven_s:.0f} s", console=stderr)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as staging:
        copy_jars(jars, Path(staging), maven_s=maven_s)
        for jar in jars:
            (Path(staging) / jar.file_name).replace(folder / jar.file_name)


def copy_jars(
    jars: Sequence[Jar], folder: Path, *options: str, with_needed: bool = False, maven_s: float = _MAVEN_S
) -> None:
    """Make Maven copy jars into a folder, whatever their checksums in the table.

    Maven refuses a download if the repository has another checksum for it, or none.

    Args:
        jars: the jars.
        folder: an empty folder.
        options: further options of Maven.
        with_needed: True to copy their runtime dependencies as well.
        maven_s: time limit for Maven, in seconds.

    Raises:
        KafkaUnavailableError: Maven is missing or cannot fetch them.
        OSError: the folder cannot be written.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise KafkaUnavailableError(
            f"no `mvn` on PATH, which fetches {jars[0].file_name}: install Maven, or name a build of Kafka with --jars"
        )
    project = folder / "pom.xml"
    project.write_text(_project(jars, with_needed), encoding="utf-8")
    # Maven caches for a day that a version is missing; -U asks again, as the version may have appeared.
    command = [maven, "-B", "-q", "-U", "--strict-checksums", "-f", str(project), _COPY]
    try:
        done = subprocess.run(
            [*command, f"-DoutputDirectory={folder}", "-DincludeScope=runtime", *options],
            capture_output=True,
            text=True,
            timeout=maven_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise KafkaUnavailableError(f"Maven has not fetched {jars[0].file_name} in {maven_s:.0f} s") from error
    except OSError as error:
        raise KafkaUnavailableError(f"{maven} does not run: {error}") from error
    if done.returncode != 0:
        why = _reason(done.stdout)
        asks = "is the version right?" if "Could not find artifact" in done.stdout else "is there a network?"
        raise KafkaUnavailableError(f"Maven cannot fetch {jars[0].file_name}; {asks} It says: {why}")


def _reason(output: str) -> str:
    """Return Maven's first error, on one line."""
    errors = (line.partition("[ERROR]")[2].strip() for line in output.splitlines())
    return next(filter(None, errors), "nothing").rpartition(_OF_OUR_PROJECT)[2][:_SHOWN_CHARACTERS]


def _project(jars: Iterable[Jar], with_needed: bool) -> str:
    """Return a project that depends on these jars, with or without their own dependencies."""
    exclusions = "" if with_needed else _EXCLUDE_ALL
    dependencies = "".join(
        "<dependency>"
        + "".join(
            f"<{tag}>{escape(text)}</{tag}>"
            for tag, text in (
                ("groupId", jar.group),
                ("artifactId", jar.artifact),
                ("version", jar.version),
                ("classifier", jar.classifier),
            )
            if text
        )
        + f"{exclusions}</dependency>"
        for jar in jars
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>kraft-spec</groupId><artifactId>kafka</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )

"""Kafka's adapter: its sources, compiled once for each Kafka, and its command line."""

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from kraft_kafka.jars import Kafka, KafkaUnavailableError
from kraft_kafka.releases import edits
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java
from kraft_vectors.features import Level, Subject

_DIGITS = 12
"""Digits of a digest in a folder's name."""

_LAUNCHER = """\
#!/bin/sh
# adapter LEVEL [LOG]: kraft-adapter/1 on standard input and output, what Kafka logs at the end of the file LOG.
level=off
if [ $# -gt 1 ]; then level=info; exec 2>>"$2"; fi
exec {java} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto "-Dorg.slf4j.simpleLogger.defaultLogLevel=$level" \\
    -cp {class_path} {main} {version} "$1"
"""
"""Runs are short and start a process for each job or replica, so only the fast compiler pays off."""


_MAIN: Mapping[Subject, str] = {
    "replica": "org.apache.kafka.raft.KafkaAdapter",
    "partitions": "org.apache.kafka.controller.PartitionAdapter",
}
_JAVAC_OPTIONS = ("-J-Duser.language=en", "-Xmaxerrs", "1000", "-nowarn", "-proc:none", "--release", "17")
"""`_javac_errors` parses all errors, and expects English."""
_DETAIL = re.compile(r"  (symbol|location): (.*)")
"""A detail line of javac below an error."""
_SOURCES = "`kraft-spec conformance template kafka DIR` has its sources, to be adapted"
_WITHOUT_PRE_VOTE = "without_pre_vote"
"""A folder beside `org`: its sources replace others if the jars lack the class `_NOMINEE`."""
_NOMINEE = "org/apache/kafka/raft/NomineeState.class"
_OF_PARTITIONS = "org/apache/kafka/controller/"
_SHARED = tuple(f"org/apache/kafka/raft/{name}.java" for name in ("Json", "Serving", "Unsupported"))


def command_line(kafka: Kafka, level: Level, log: Path | None = None, own: Path | None = None) -> str:
    """Return the command line of a Kafka's adapter, compiling it if the cache has none.

    Args:
        kafka: the Kafka to run.
        level: the adapter's observability level.
        log: a file for Kafka's log; None discards it.
        own: a folder of sources, which `conformance template kafka` makes; None for those of the package.

    Raises:
        KafkaUnavailableError: there are no sources or no javac, the sources do not compile with these jars, or the jars
            lack a member that the adapter reads.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    words = [str(_compile(kafka, own) / "adapter"), level]
    return shlex.join(words if log is None else [*words, str(log.absolute())])


def source_folder() -> Traversable:
    """Return the folder of the package's sources."""
    return files("kraft_kafka") / "java"


def _read_sources(folder: Path) -> dict[str, str]:
    sources = sorted(folder.glob("org/**/*.java"))
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in sources}


def _select_sources(folder: Path, kafka: Kafka) -> Mapping[str, str]:
    """Return the sources for the subject by their paths, as they compile with these jars."""
    classes = _list_classes(kafka.class_path)
    texts = _read_sources(folder)
    if _NOMINEE not in classes:
        texts |= _read_sources(folder / _WITHOUT_PRE_VOTE)
    if kafka.subject == "partitions":
        texts = {name: text for name, text in texts.items() if name.startswith(_OF_PARTITIONS) or name in _SHARED}
    else:
        texts = {name: text for name, text in texts.items() if not name.startswith(_OF_PARTITIONS)}
    for edit in edits():
        if f"{edit.having}.class" in classes:
            texts = {name: text.replace(edit.text, edit.replacement) for name, text in texts.items()}
    return texts


def _list_classes(jars: Iterable[Path]) -> frozenset[str]:
    names: set[str] = set()
    for jar in jars:
        try:
            with zipfile.ZipFile(jar) as archive:
                names.update(archive.namelist())
        except (OSError, zipfile.BadZipFile) as error:
            raise KafkaUnavailableError(f"{jar}: no jar that can be read: {error}") from error
    return frozenset(names)


def _compile(kafka: Kafka, own: Path | None) -> Path:
    """Return the folder with the classes and their launcher."""
    java = find_java().executable
    if own is not None and not (own / "src" / "org").is_dir():
        raise KafkaUnavailableError(f"{own}: no src/org in it, expected what `conformance template kafka` makes")
    with as_file(source_folder()) as packaged:
        texts = _select_sources(packaged if own is None else own / "src", kafka)
    cache = user_cache("kafka")
    folder = cache / f"adapter-{kafka.version}-{_digest(java, texts, kafka.class_path)}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".compiling-") as staging:
            built = Path(staging) / "made"
            _javac(java, texts, kafka, Path(staging), built / "classes")
            _start(java, kafka, built / "classes")
            launcher = built / "adapter"
            class_path = os.pathsep.join(map(str, (folder / "classes", *kafka.class_path)))
            launcher.write_text(
                _LAUNCHER.format(
                    java=shlex.quote(str(java)),
                    class_path=shlex.quote(class_path),
                    main=_MAIN[kafka.subject],
                    version=kafka.version,
                ),
                encoding="utf-8",
            )
            launcher.chmod(0o755)
            try:
                built.rename(folder)
            except OSError:
                # Another process was faster.
                if not folder.is_dir():
                    raise
    return folder


def _digest(java: Path, texts: Mapping[str, str], jars: Iterable[Path]) -> str:
    digest = hashlib.sha256(f"{java}\n{_LAUNCHER}".encode())
    for name, text in texts.items():
        digest.update(f"{name}\n{text}".encode())
    for jar in jars:
        digest.update(f"{jar}\n".encode() + jar.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def _javac(java: Path, texts: Mapping[str, str], kafka: Kafka, staging: Path, classes: Path) -> None:
    javac = java.parent / "javac"
    if not javac.is_file():
        raise KafkaUnavailableError(f"no `javac` beside {java}: install a JDK, 17 or newer, or name one in JAVA_HOME")
    for name, text in texts.items():
        file = staging / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    class_path = os.pathsep.join(map(str, kafka.class_path))
    command = [str(javac), *_JAVAC_OPTIONS, "-cp", class_path, "-d", str(classes)]
    sources = [str(staging / "src" / name) for name in texts]
    done = subprocess.run([*command, *sources], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = _javac_errors(done.stderr, f"{staging}/src/") or [f"javac says: {done.stderr[:200]}"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise KafkaUnavailableError(
            f"the adapter does not compile with Kafka {kafka.version}: {errors[0]}{more}; {_SOURCES}"
        )


def _javac_errors(output: str, folder: str) -> list[str]:
    """Return the errors of javac, a line each: file, message, and the symbol and its location if given."""
    errors: list[str] = []
    for line in output.splitlines():
        if ": error: " in line:
            errors.append(line.removeprefix(folder).replace(": error: ", ": "))
        elif errors and (detail := _DETAIL.fullmatch(line)):
            errors[-1] += f", {detail[1]} {' '.join(detail[2].split())}"
    return errors


def _start(java: Path, kafka: Kafka, classes: Path) -> None:
    """Start the adapter without a request: it ends, with an error if Kafka lacks a member that it reads."""
    class_path = os.pathsep.join(map(str, (classes, *kafka.class_path)))
    command = [str(java), "-cp", class_path, _MAIN[kafka.subject], kafka.version, "wire"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # A JVM first says which JAVA_TOOL_OPTIONS it has picked up.
        message = next((line for line in done.stderr.splitlines() if not line.startswith("Picked up ")), "nothing")
        raise KafkaUnavailableError(f"Kafka's adapter does not start: {message}; {_SOURCES}")

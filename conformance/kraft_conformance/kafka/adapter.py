"""The adapter of Kafka: its sources, compiled once for each Kafka, and its command line."""

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path

from kraft_conformance.kafka.jars import Kafka, KafkaUnavailableError
from kraft_conformance.kafka.releases import edits
from kraft_conformance.protocol.features import Level
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java

_MAIN = "org.apache.kafka.raft.KafkaAdapter"
_FAST_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
"""A run is short, and starts one process for each job or replica."""


def command_line(kafka: Kafka, level: Level, log: Path | None = None) -> str:
    """The command line of the adapter of a Kafka, which is compiled if it has not been yet.

    Args:
        kafka: what is run.
        level: how much it shows.
        log: a file for what Kafka logs; None throws it away.

    Raises:
        KafkaUnavailableError: there is no javac, or it refuses the sources with these jars.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    path = os.pathsep.join(map(str, (_compiled(kafka), *kafka.class_path)))
    java = (str(find_java().executable), *_FAST_START, f"-Dorg.slf4j.simpleLogger.defaultLogLevel={_log_level(log)}")
    command = shlex.join((*java, "-cp", path, _MAIN, kafka.version, level))
    if log is None:
        return command
    # Several replicas append to one file.
    return shlex.join(("sh", "-c", f"exec {command} 2>>{shlex.quote(str(log.absolute()))}"))


def _log_level(log: Path | None) -> str:
    return "off" if log is None else "info"


def sources(kafka_path: Iterable[Path]) -> Mapping[str, str]:
    """The sources of the adapter by their path, as they compile with these jars.

    The protocol is that of `conformance template java`.
    """
    own, template = files("kraft_conformance.kafka") / "java", files("kraft_conformance.templates") / "java" / "src"
    texts: dict[str, str] = {}
    for folder, pattern in ((own, "org/**/*.java"), (template, "adapter/*.java")):
        with as_file(folder) as root:
            texts |= {
                file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
                for file in sorted(root.glob(pattern))
            }
    classes = _classes(kafka_path)
    for edit in edits():
        if f"{edit.having}.class" in classes:
            texts = {name: text.replace(edit.text, edit.replacement) for name, text in texts.items()}
    return texts


def _classes(jars: Iterable[Path]) -> frozenset[str]:
    names: set[str] = set()
    for jar in jars:
        try:
            with zipfile.ZipFile(jar) as archive:
                names.update(archive.namelist())
        except (OSError, zipfile.BadZipFile) as error:
            raise KafkaUnavailableError(f"{jar}: no jar that can be read: {error}") from error
    return frozenset(names)


def _compiled(kafka: Kafka) -> Path:
    """The folder of the classes."""
    texts = sources(kafka.class_path)
    folder = user_cache("kafka") / "classes" / _digest(texts, kafka.class_path)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".compiling-") as staging:
            for name, text in texts.items():
                file = Path(staging) / "src" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            _javac(Path(staging), [*texts], kafka)
            try:
                (Path(staging) / "classes").rename(folder)
            except OSError:
                # Another process was faster.
                if not folder.is_dir():
                    raise
    return folder


def _digest(texts: Mapping[str, str], jars: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for name, text in texts.items():
        found.update(f"{name}\n{text}".encode())
    for jar in jars:
        found.update(jar.read_bytes())
    return found.hexdigest()


def _javac(folder: Path, names: Iterable[str], kafka: Kafka) -> None:
    beside_java = find_java().executable.parent / "javac"
    javac = str(beside_java) if beside_java.is_file() else shutil.which("javac")
    if javac is None:
        raise KafkaUnavailableError("no `javac` beside java or on PATH: install a JDK, 17 or newer")
    class_path = os.pathsep.join(map(str, kafka.class_path))
    command = [javac, "-nowarn", "-proc:none", "--release", "17", "-cp", class_path, "-d", str(folder / "classes")]
    done = subprocess.run(
        [*command, *(str(folder / "src" / name) for name in names)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if ": error: " in line), done.stderr[:200])
        raise KafkaUnavailableError(
            f"the adapter does not compile with Kafka {kafka.version}: {first.removeprefix(f'{folder}/src/')}; "
            "kraft-spec conformance template kafka DIR has its sources, to be adapted"
        )

"""The agent's jar: our classes and an isolated Javassist, without any class of Kafka."""

import hashlib
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from kraft_conformance.console import say, stderr
from kraft_kafka.jars import KafkaUnavailableError, fetched
from kraft_kafka.patching.patches import javassist_jars
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java

_DIGITS = 12
"""Digits of a digest in the jar's name."""
_JAVAC_OPTIONS = ("-J-Duser.language=en", "-nowarn", "-proc:none", "--release", "11")
"""Brokers of Kafka 3.9 run on Java 11."""
_MANIFEST = (
    "Manifest-Version: 1.0\n"
    "Premain-Class: kraft.agent.Agent\n"
    "Agent-Class: kraft.agent.Agent\n"
    "Can-Retransform-Classes: true\n\n"
)
_ISOLATED = "kraft/agent/isolated/"
"""Folder of the classes that the host's class loader must not find."""
_WEAVING = "kraft/agent/weaving/"
_TABLE = "kraft/agent/hooks.txt"
_TIME = (1980, 1, 1, 0, 0, 0)


def agent_jar() -> Path:
    """Return the path of the agent's jar, building it if the cache has none.

    Raises:
        KafkaUnavailableError: Javassist cannot be fetched, or there is no javac.
        JavaMissing: there is no Java.
        OSError: the cache cannot be written.
    """
    (javassist,) = fetched(javassist_jars())
    with as_file(files("kraft_kafka.agent") / "java") as folder:
        sources = sorted(path for path in folder.rglob("*") if path.is_file())
        digest = hashlib.sha256(javassist.read_bytes() + _MANIFEST.encode() + " ".join(_JAVAC_OPTIONS).encode())
        for path in sources:
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
        cache = user_cache("kafka")
        jar = cache / f"kraft-agent-{digest.hexdigest()[:_DIGITS]}.jar"
        if not jar.is_file():
            say(f"compiling the agent for Kafka's JVM into {jar}", console=stderr)
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=".compiling-") as staging:
                classes = Path(staging) / "classes"
                compile_sources([path for path in sources if path.suffix == ".java"], [javassist], classes)
                fresh = Path(staging) / jar.name
                _pack(fresh, classes, folder / _TABLE, javassist)
                fresh.replace(jar)
    return jar


def compile_sources(sources: Sequence[Path], class_path: Sequence[Path], classes: Path) -> None:
    """Compile Java sources into a folder.

    Raises:
        KafkaUnavailableError: there is no javac, or it fails.
        JavaMissing: there is no Java.
    """
    java = find_java().executable
    javac = java.parent / "javac"
    if not javac.is_file():
        raise KafkaUnavailableError(f"no `javac` beside {java}: install a JDK, 17 or newer, or name one in JAVA_HOME")
    command = [
        str(javac),
        *_JAVAC_OPTIONS,
        "-cp",
        ":".join(map(str, class_path)),
        "-d",
        str(classes),
        *map(str, sources),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KafkaUnavailableError(f"{sources[0].name} does not compile: javac says: {done.stderr[:400]}")


def _pack(jar: Path, classes: Path, table: Path, javassist: Path) -> None:
    """Write the jar; equal sources give equal bytes."""
    contents = {"META-INF/MANIFEST.MF": _MANIFEST.encode(), _TABLE: table.read_bytes()}
    for path in sorted(classes.rglob("*.class")):
        name = path.relative_to(classes).as_posix()
        contents[f"{_ISOLATED}{name}" if name.startswith(_WEAVING) else name] = path.read_bytes()
    with zipfile.ZipFile(javassist) as library:
        for name in sorted(library.namelist()):
            if name.startswith("javassist/") and name.endswith(".class"):
                contents[_ISOLATED + name] = library.read(name)
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)

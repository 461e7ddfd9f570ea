"""A run of Kafka's own tests in one JVM with the agent, which writes a file for each client that they start."""

import hashlib
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.building import agent_jar, compile_sources
from kraft_kafka.agent.reading import RawFile, read_raw
from kraft_kafka.jars import Kafka, fetched
from kraft_kafka.own_tests.libraries import jars_of_tests, library_jars
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java

CLASSES = r".*\.KafkaRaftClient\w*Test"
"""Pattern of the test classes."""
_LISTENER = "kraft.tests.Times"
_SERVICE = "META-INF/services/org.junit.platform.launcher.TestExecutionListener"
_JVM = ("-XX:TieredStopAtLevel=1", "-Xmx512m", "-XX:+EnableDynamicAgentLoading")
_NO_TEST = 2
"""JUnit's exit code if no test was found."""


@dataclass(frozen=True, slots=True)
class KafkaTest:
    """A test that ran; one with parameters runs several times."""

    name: str
    """Class and method, without the package."""
    parameters: str
    """Display name."""
    started_us: int
    result: str
    """JUnit's result: successful, failed, aborted or skipped."""
    detail: str
    """Why it failed."""
    files: tuple[RawFile, ...] = ()
    """The agent's files of the clients that it started."""


def run_tests(kafka: Kafka, version: str, pattern: str | None, folder: Path) -> tuple[KafkaTest, ...]:
    """Run the tests whose class and method match a pattern, all without one.

    Args:
        kafka: the Kafka that is tested.
        version: release of the tests.
        pattern: a regular expression, found anywhere in `Class.method`.
        folder: where the agent's files are written.

    Raises:
        CommandError: no test matches, or JUnit does not start.
        KafkaUnavailableError: a jar cannot be fetched, or there is no javac.
        JavaMissing: there is no Java.
        OSError: a file cannot be written.
    """
    jars = jars_of_tests()[version]
    libraries = fetched((*jars, *library_jars()))
    class_path = [_listener(libraries), *libraries, *kafka.class_path]
    times = folder / "tests.tsv"
    command = [str(find_java().executable), f"-javaagent:{agent_jar()}={folder}", *_JVM]
    command += [f"-Dkraft.tests.file={times}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]
    command += ["-cp", ":".join(map(str, class_path)), "org.junit.platform.console.ConsoleLauncher", "execute"]
    command += [f"--scan-classpath={libraries[0]}", f"--include-classname={CLASSES}", "--details=none"]
    if pattern is not None:
        command.append(f"--include-methodname=.*(?:{pattern}).*")
    done = subprocess.run([*command, "--disable-banner"], capture_output=True, text=True, check=False)
    tests = _read(times) if times.is_file() else []
    if not tests:
        if done.returncode == _NO_TEST or times.is_file():
            raise CommandError(f"no test matches {pattern!r}, expected a part of Class.method", ExitCode.USAGE)
        raise CommandError(f"JUnit does not start: {done.stderr[-400:]}", ExitCode.UNAVAILABLE)
    return _with_files(tests, read_raw(folder.rglob("*.raw.jsonl")))


def _read(times: Path) -> list[KafkaTest]:
    """Return the tests in their order, without their files."""
    tests: list[KafkaTest] = []
    started = 0
    for line in times.read_text(encoding="utf-8").splitlines():
        time_us, event, method, parameters, detail = line.split("\t")
        if event == "started":
            started = int(time_us)
        else:
            name = ".".join(method.split(".")[-2:])
            tests.append(KafkaTest(name, parameters, started, event, detail))
    return tests


def _with_files(tests: Sequence[KafkaTest], recorded: Sequence[RawFile]) -> tuple[KafkaTest, ...]:
    """Return the tests with the files of the clients that started while they ran: tests run one after the other."""
    starts = [test.started_us for test in tests]
    files_of: dict[int, list[RawFile]] = {}
    for file in sorted(recorded, key=lambda file: file.start.time_us):
        files_of.setdefault(bisect_right(starts, file.start.time_us) - 1, []).append(file)
    return tuple(
        KafkaTest(test.name, test.parameters, test.started_us, test.result, test.detail, tuple(files_of.get(index, ())))
        for index, test in enumerate(tests)
    )


def _listener(libraries: Sequence[Path]) -> Path:
    """Return the folder with the compiled JUnit listener, building it if the cache has none."""
    with as_file(files("kraft_kafka.own_tests") / "java") as folder:
        sources = sorted(folder.rglob("*.java"))
        digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
        cache = user_cache("kafka")
        built = cache / f"tests-listener-{digest}"
        if not built.is_dir():
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=".compiling-") as staging:
                classes = Path(staging) / "classes"
                compile_sources(sources, libraries, classes)
                service = classes / _SERVICE
                service.parent.mkdir(parents=True)
                service.write_text(_LISTENER, encoding="utf-8")
                if not built.is_dir():
                    shutil.move(classes, built)
    return built

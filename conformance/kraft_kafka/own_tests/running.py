"""A run of Kafka's own tests in one JVM with the agent, which writes a file for each client that they start."""

import hashlib
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.building import agent_jar, compile_sources
from kraft_kafka.agent.reading import RawFile, read_raw
from kraft_kafka.jars import fetched
from kraft_kafka.own_tests.libraries import KafkaWithTests, library_jars
from kraft_spec.compiled.building import user_cache
from kraft_spec.tlc.jar import find_java

CLASSES = r".*\.KafkaRaftClient\w*Test"
"""Pattern of the test classes."""
_LISTENER = "kraft.tests.Times"
_SERVICE = "META-INF/services/org.junit.platform.launcher.TestExecutionListener"
_JVM = ("-XX:TieredStopAtLevel=1", "-Xmx1g", "-XX:+EnableDynamicAgentLoading")
_SEEDS_PER_JVM = 5
"""Clients that a simulation kills are not closed, and keep up to 16 MiB each."""
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
    is_simulation: bool = False
    """True if they are of one cluster."""


def run_tests(tested: KafkaWithTests, pattern: str | None, folder: Path) -> tuple[KafkaTest, ...]:
    """Run the tests whose class and method match a pattern, all without one.

    Args:
        tested: the Kafka with its tests.
        pattern: a regular expression, found anywhere in `Class.method`.
        folder: where the agent's files are written.

    Raises:
        CommandError: no test matches, or JUnit does not start.
        KafkaUnavailableError: a jar cannot be fetched, or there is no javac.
        JavaMissing: there is no Java.
        OSError: a file cannot be written.
    """
    command = ["org.junit.platform.console.ConsoleLauncher", "execute", f"--scan-classpath={tested.tests[0]}"]
    command += [f"--include-classname={CLASSES}", "--details=none", "--disable-banner"]
    if pattern is not None:
        command.append(f"--include-methodname=.*(?:{pattern}).*")
    tests = _run(tested, command, folder)
    if not tests:
        raise CommandError(f"no test matches {pattern!r}, expected a part of Class.method", ExitCode.USAGE)
    return tests


def run_simulations(tested: KafkaWithTests, seeds: range, folder: Path) -> Iterator[KafkaTest]:
    """Run RaftEventSimulationTest, which simulates whole clusters: one of its properties for each seed.

    Args:
        tested: the Kafka with its tests.
        seeds: the seeds.
        folder: where the agent's files are written, in a folder for some seeds each.

    Raises:
        As `run_tests`.
    """
    for first in range(seeds.start, seeds.stop, _SEEDS_PER_JVM):
        part = range(first, min(first + _SEEDS_PER_JVM, seeds.stop))
        files = folder / f"seeds-{part.start}-{part.stop}"
        files.mkdir()
        for test in _run(tested, ["kraft.tests.Simulation", str(part.start), str(part.stop)], files):
            yield replace(test, is_simulation=True)


def _run(tested: KafkaWithTests, command: Sequence[str], folder: Path) -> tuple[KafkaTest, ...]:
    """Run a class of Java with the agent, and return the tests."""
    libraries = fetched(library_jars())
    class_path = [_compiled(libraries), *tested.tests, *libraries, *tested.kafka.class_path]
    times = folder / "tests.tsv"
    java = [str(find_java().executable), f"-javaagent:{agent_jar()}={folder}", *_JVM]
    java += [f"-Dkraft.tests.file={times}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"]
    java += ["-cp", ":".join(map(str, class_path)), *command]
    done = subprocess.run(java, capture_output=True, text=True, check=False)
    tests = _read(times) if times.is_file() else []
    # Without a test JUnit ends with this code, or opens the listener's file and writes nothing.
    if done.returncode != _NO_TEST and not times.is_file():
        raise CommandError(f"Kafka's tests do not start: {done.stderr[-400:]}", ExitCode.UNAVAILABLE)
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
    return tuple(replace(test, files=tuple(files_of.get(index, ()))) for index, test in enumerate(tests))


def _compiled(libraries: Sequence[Path]) -> Path:
    """Return the folder with our compiled classes, building it if the cache has none."""
    with as_file(files("kraft_kafka.own_tests") / "java") as folder:
        sources = sorted(folder.rglob("*.java"))
        digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
        cache = user_cache("kafka")
        built = cache / f"tests-{digest}"
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

"""The processes that are measured: sessions of the pipeline, and bare checkers."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from kraft_dev.benchmark.figure import BenchmarkError
from kraft_dev.child import child_command

_SESSION = "kraft_dev.benchmark.pipeline.measuring"
_BARE = "kraft_dev.benchmark.pipeline.bare"
_WORDS_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """Runs of the pipeline in one session, one after the other.

    Attributes:
        master: of the session.
        inputs: files or folders, one for each run.
        folder: where the outputs go.
        settings: more of Spark.
    """

    master: str
    inputs: Sequence[str]
    folder: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the pipeline in a session.

    Attributes:
        events: lines that were checked.
        seconds: of the whole run, by the clock.
        stages: seconds of each stage, by the clock.
        cpu_seconds: by role, processor time of its processes.
        peak_bytes: by role, the most memory of one process until the end of this run.
        processes: by role, how many there have been until then.
    """

    events: int
    seconds: float
    stages: dict[str, float]
    cpu_seconds: dict[str, float]
    peak_bytes: dict[str, int]
    processes: dict[str, int]

    @property
    def all_cpu_seconds(self) -> float:
        """Processor time of all processes."""
        return sum(self.cpu_seconds.values())

    @property
    def per_second(self) -> float:
        """Events a second of the whole run."""
        return self.events / self.seconds


def run_session(
    master: str, inputs: Sequence[Path], folder: Path, on_run: Callable[[], None], settings: Mapping[str, str]
) -> list[Measured]:
    """Run the pipeline as `SessionRequest` says, in a process of its own.

    Args:
        folder: for the outputs, which are removed.
        on_run: is called after each run.

    Raises:
        BenchmarkError: it fails, or does not accept every trace.
    """
    with TemporaryDirectory(dir=folder) as outputs, TemporaryFile() as words:
        request = SessionRequest(master, [str(one) for one in inputs], outputs, dict(settings))
        with _started(_SESSION, words) as process:
            _say(process, json.dumps(asdict(request)))
            assert process.stdout is not None
            found: list[Measured] = []
            for line in process.stdout:
                found.append(Measured(**json.loads(line)))
                on_run()
        _check(process, words, _SESSION)
    return found


def _started(module: str, words: IO[bytes]) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(child_command(module), stdin=pipe, stdout=pipe, stderr=words, text=True)


def _check(process: "subprocess.Popen[str]", words: IO[bytes], what: str) -> None:
    if process.returncode:
        words.seek(0)
        said = words.read().decode(errors="replace")[-_WORDS_SHOWN:]
        raise BenchmarkError(f"{what} fails with exit code {process.returncode}:\n{said}")


@dataclass(frozen=True, slots=True)
class BareRequest:
    """Files of traces, one in each: those to be checked first, and those to be checked against the clock."""

    warm_up: Sequence[str]
    measured: Sequence[str]


@dataclass(frozen=True, slots=True)
class BareMeasured:
    """Bare checkers side by side.

    Attributes:
        checkers: how many processes.
        events: lines that were checked by all of them.
        seconds: by the clock, until the last was done.
        cpu_seconds: processor time of all of them.
    """

    checkers: int
    events: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        """Events a second of all checkers together."""
        return self.events / self.seconds


def run_bare(warm_up: Sequence[Path], measured: Sequence[Path], checkers: int) -> BareMeasured:
    """Let bare checkers share the files, each a process of its own; the clock runs once all are warm.

    Raises:
        BenchmarkError: one fails, or does not accept a trace.
    """
    with TemporaryFile() as words, ExitStack() as stack:
        processes = [stack.enter_context(_started(_BARE, words)) for _ in range(checkers)]
        try:
            for number, process in enumerate(processes):
                shares = ([str(file) for file in files[number::checkers]] for files in (warm_up, measured))
                _say(process, json.dumps(asdict(BareRequest(*shares))))
            for process in processes:
                _hear(process, words)
            began = time.monotonic()
            for process in processes:
                _say(process, "go")
            answers = [json.loads(_hear(process, words)) for process in processes]
            seconds = time.monotonic() - began
        except BaseException:
            for process in processes:
                process.kill()
            raise
    events, cpu_seconds = (sum(answer[name] for answer in answers) for name in ("events", "cpu_seconds"))
    return BareMeasured(checkers, events, seconds, cpu_seconds)


def _say(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _hear(process: "subprocess.Popen[str]", words: IO[bytes]) -> str:
    """The next line that a bare checker says."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        process.wait()
        _check(process, words, _BARE)
        raise BenchmarkError(f"{_BARE} does not answer")
    return line

"""Search by the explorer: a breadth-first search over the compiled model, with TLC as its judge.

The explorer has its own values, memos and fingerprints. TLC's interpreter evaluates a sample of its states, and repeats
every path that it reports.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from kraft_spec.compiled.checks import EXPLORED, compiled_check
from kraft_spec.compiled.estimating import estimated_states
from kraft_spec.tlc.jar import find_jar
from kraft_spec.tlc.model_check import ModelCheckError, ModelCheckOptions, check_model, java_command, terminate
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress

_LAST_WORDS = 2000
_CHECKPOINT = "explorer.checkpoint"


def explorer_checkpoint(directory: Path) -> Path | None:
    """Return the folder if it has a checkpoint of the explorer, and None otherwise."""
    return directory if (directory / _CHECKPOINT).is_file() else None


class Unexplorable(Exception):  # noqa: N818 - a condition that the caller handles, not a failure
    """The explorer does not support a part of the configuration; the message names it."""


class _Line(msgspec.Struct):
    """A line that the explorer prints: its progress, and its result if there is an outcome."""

    outcome: str = ""
    message: str = ""
    generated: int = 0
    distinct: int = 0
    left: int = 0
    depth: int = 0
    components: int = 0
    sampled: int = 0
    widths: tuple[int, ...] = ()

    @property
    def progress(self) -> Progress:
        return Progress(self.generated, self.distinct, self.left, self.depth, estimated_states(self.widths))


@dataclass(frozen=True, slots=True)
class Exploration:
    """Result of a search by the explorer.

    Attributes:
        report: As of TLC; a counterexample is TLC's.
        sampled: Number of states that TLC's interpreter evaluated as well.
        widths: Number of states at each distance from the initial ones.
    """

    report: ModelCheckReport
    sampled: int
    widths: tuple[int, ...]


def explore(
    directory: Path,
    module: str,
    configuration: str,
    options: ModelCheckOptions,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search the states of `directory`/`module`.tla with `directory`/`configuration`.cfg.

    Args:
        directory: Folder of the modules and the configuration.
        module: Name of the root module.
        configuration: Name of the configuration, without .cfg.
        options: Workers, deadlock, heap, time limit and checkpoints; with `both`, TLC
            judges every state, and every kept result is evaluated anew.
        on_progress: Called every second.

    Raises:
        Unexplorable: The configuration has symmetry or temporal properties.
        CompilationError: There is no Java compiler, or the specification uses a construct that is not compiled.
        ModelCheckError: The explorer failed, or TLC disagrees with it.
        JarMissing, JarMismatch, JavaMissing: A prerequisite of TLC is missing.
    """
    started = time.monotonic()
    jar = compiled_check(directory, module, configuration, EXPLORED)
    with tempfile.TemporaryDirectory(prefix="kraft-spec-explorer-") as temporary:
        files = Path(temporary) if options.checkpoints is None else options.checkpoints.directory
        command = _command(directory, module, configuration, options, jar, Path(temporary), files)
        result, exit_code = _run(command, on_progress)
        report = ModelCheckReport(
            outcome=_OUTCOMES.get(result.outcome, Outcome.VIOLATION),
            violated="",
            message=result.message,
            trace=(),
            loop="",
            progress=result.progress,
            seconds=time.monotonic() - started,
            actions=(),
            warnings=(),
            checkpoint=explorer_checkpoint(files),
            states_recovered=0,
            exit_code=exit_code,
        )
        if report.outcome is Outcome.OK and report.checkpoint is not None:
            _remove(files)
            report = replace(report, checkpoint=None)
        if result.outcome in _FOUND:
            report = _repeated(report, directory, module, configuration, options, jar, files / "path")
    return Exploration(report, result.sampled, result.widths)


_OUTCOMES = {"ok": Outcome.OK, "time limit": Outcome.TIME_LIMIT}
_FOUND = ("violation", "deadlock", "error")


def _command(
    directory: Path,
    module: str,
    configuration: str,
    options: ModelCheckOptions,
    jar: Path,
    temporary: Path,
    files: Path,
) -> list[str]:
    checkpoints = options.checkpoints
    command = java_command(temporary, brief=options.brief, heap_megabytes=options.heap_megabytes)
    # The memos are read at random places: large pages save a tenth of the time, where the system has them.
    command += ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseTransparentHugePages"]
    if options.both:
        command.append("-Dkraftspec.both=true")
    command += ["-cp", os.pathsep.join((str(jar), str(find_jar().path))), "kraftexplorer.Main"]
    command += [str(directory.resolve()), module, configuration, str(files), str(options.workers)]
    command += [str(options.check_deadlock).lower(), str(options.time_limit_seconds or 0)]
    command.append(str(0 if checkpoints is None else checkpoints.interval_seconds))
    command.append(str(checkpoints is not None and checkpoints.recover is not None).lower())
    command.append(jar.stem)
    return command


def _run(command: list[str], on_progress: Callable[[Progress], None] | None) -> tuple[_Line, int]:
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
        line = _Line()
        try:
            assert process.stdout is not None, "standard output is a pipe"
            for text in process.stdout:
                line = msgspec.json.decode(text, type=_Line)
                if on_progress is not None and not line.outcome:
                    on_progress(line.progress)
            exit_code = process.wait()
        finally:
            terminate(process)
        if line.outcome == "unsupported":
            raise Unexplorable(line.message)
        if line.outcome == "disagreement":
            raise ModelCheckError(f"a defect of the explorer: {line.message}")
        if not line.outcome:
            errors.seek(0)
            last_words = errors.read().decode(errors="replace").strip()[-_LAST_WORDS:]
            raise ModelCheckError(f"the explorer ended with exit code {exit_code}:\n{last_words}")
        return line, exit_code


def _remove(files: Path) -> None:
    """Remove the files of a search that is complete."""
    for file in (files / _CHECKPOINT, *files.glob("level-*.states"), *files.glob("level-*.parents")):
        file.unlink(missing_ok=True)


def _repeated(
    report: ModelCheckReport,
    directory: Path,
    module: str,
    configuration: str,
    options: ModelCheckOptions,
    jar: Path,
    path: Path,
) -> ModelCheckReport:
    """Return the report of TLC about the path that the explorer has found, with the numbers of the search."""
    guided = ModelCheckOptions(
        check_deadlock=options.check_deadlock,
        heap_megabytes=options.heap_megabytes,
        brief=True,
        compiled=jar,
        guide=path,
    )
    judged = check_model(directory, module, configuration, guided)
    if judged.outcome is Outcome.OK:
        raise ModelCheckError(
            f"a defect of the explorer: it finds that {module} with {configuration}.cfg is violated after "
            f"{len(path.read_text().splitlines())} states, and TLC does not ({report.message or 'no message'})"
        )
    return replace(
        judged, progress=report.progress, seconds=report.seconds + judged.seconds, checkpoint=report.checkpoint
    )

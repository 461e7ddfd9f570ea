"""Model checking: runs `tlc2.TLC` in a subprocess, monitors and stops it, and reports its findings."""

import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_spec.tlc.jar import TlcBridgeError, find_jar, find_java
from kraft_spec.tlc.jvm import COMPILED_OPTIONS
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress
from kraft_spec.tlc.tool_output import Findings, tool_messages

STOP_GRACE_SECONDS = 120.0
"""Time for TLC, after its time limit, to finish its step and write its checkpoint, before it is killed.

With temporal properties it may additionally search for loops, as long as for states.
"""

_CHECKPOINT_NEVER_MS = 10 * 365 * 24 * 3600 * 1000
_TERMINATE_GRACE_SECONDS = 5.0

_SIGNALLED_EXIT_CODES = frozenset(128 + number for number in (1, 2, 9, 15))
"""Exit codes of Java after SIGHUP, SIGINT and SIGTERM, and of a shell's child after SIGKILL."""

_CONFIGURATION_KEYWORDS = re.compile(
    r"(ACTION_)?CONSTRAINTS?|ALIAS|CHECK_DEADLOCK|CONSTANTS?|INIT|INVARIANTS?|NEXT|POSTCONDITION|PROPERTY|PROPERTIES"
    r"|SPECIFICATION|SYMMETRY|TYPE|TYPE_CONSTRAINT|VIEW"
)


class ModelCheckError(TlcBridgeError):
    """The model check cannot be started with these options."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Random behaviours instead of the whole state space.

    Attributes:
        behaviours: Number of behaviours; None for as many as the time limit allows.
        depth: States in each.
        seed: Seed of TLC's generator; the same seed and one worker give the same behaviours.
    """

    behaviours: int | None = None
    depth: int = 100
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Folder and interval of TLC's checkpoints; TLC also writes one when the time limit stops it.

    Attributes:
        directory: Folder for the checkpoints; TLC removes them when the search is complete.
        interval_seconds: Time between checkpoints.
        recover: Checkpoint to resume from (see `latest_checkpoint`); None for a fresh start.
    """

    directory: Path
    interval_seconds: float = 300.0
    recover: Path | None = None


@dataclass(frozen=True, slots=True)
class ModelCheckOptions:
    """Options of a model check.

    Attributes:
        workers: Threads of TLC.
        simulation: Random behaviours instead of the state space.
        checkpoints: Checkpoints to write; None for none.
        check_deadlock: Report states without successor.
        coverage: Count how often each action fires (slower).
        heap_megabytes: Java's heap; a quarter of the machine if None.
        time_limit_seconds: Time after which to stop, rounded up to seconds; None for no limit.
        brief: The search should take seconds: Java then uses the compiler and collector that start fastest, in half the
            time and with less use of the other processors.
        fingerprint_index: Index of TLC's hash polynomial; fixed for reproducible runs.
        compiled: Jar of the compiled specification for TLC to call: see `kraft_spec.compiled.checks`; None: TLC
            interprets the specification.
        both: TLC also interprets it, and the search ends with an error if the results differ.
        guide: File of a path that the explorer has found, whose steps alone TLC takes; `compiled` is its jar.
    """

    workers: int = 1
    simulation: Simulation | None = None
    checkpoints: Checkpoints | None = None
    check_deadlock: bool = True
    coverage: bool = False
    heap_megabytes: int | None = None
    time_limit_seconds: float | None = None
    brief: bool = False
    fingerprint_index: int = 0
    compiled: Path | None = None
    both: bool = False
    guide: Path | None = None


def latest_checkpoint(directory: Path) -> Path | None:
    """Return the newest complete checkpoint below `directory`; None if there is none."""
    complete = [path for path in directory.glob("*/vars.chkpt") if (path.parent / "queue.chkpt").exists()]
    newest = max(complete, key=lambda path: path.stat().st_mtime_ns, default=None)
    return None if newest is None else newest.parent


def check_model(
    directory: Path,
    module: str,
    configuration: str | None = None,
    options: ModelCheckOptions | None = None,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ModelCheckReport:
    """Run TLC on `directory`/`module`.tla with `directory`/`configuration`.cfg and report its findings.

    `on_progress` is called when TLC reports progress: after 3 seconds and then every minute.
    On return, also by an exception, TLC's process has ended and its temporary files are removed.

    Raises:
        ModelCheckError: A file or a checkpoint is missing.
        JarMissing, JarMismatch, JavaMissing: A prerequisite of TLC is missing.
    """
    chosen = options or ModelCheckOptions()
    directory = directory.resolve()
    configuration = configuration or module
    for file in (directory / f"{module}.tla", directory / f"{configuration}.cfg"):
        if not file.is_file():
            raise ModelCheckError(f"no such file: {file}")
    started = clock()
    findings = Findings()
    temporal = _temporal_names(directory / f"{configuration}.cfg")
    with tempfile.TemporaryDirectory(prefix="kraft-spec-model-") as temporary:
        command = _command(chosen, Path(temporary), configuration, module)
        exit_code, killed_late = _run(command, directory, _kill_after(chosen, temporal), findings, on_progress)
    seconds = clock() - started
    return ModelCheckReport(
        outcome=_outcome_of(findings, chosen, seconds, killed_late, exit_code),
        violated=findings.violated or " or ".join(temporal if findings.temporal else ()),
        message=_message(findings, exit_code),
        trace=tuple(findings.trace),
        loop=findings.loop,
        progress=findings.progress,
        seconds=seconds,
        actions=tuple(findings.actions.values()),
        warnings=tuple(findings.warnings),
        checkpoint=None if chosen.checkpoints is None else latest_checkpoint(chosen.checkpoints.directory),
        states_recovered=findings.states_recovered,
        exit_code=exit_code,
    )


_BRIEF = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LONG = ("-XX:+UseParallelGC", *COMPILED_OPTIONS)


def java_command(temporary: Path, *, brief: bool, heap_megabytes: int | None) -> list[str]:
    """Return the beginning of the command line of a search in Java: the program, and its options.

    Args:
        temporary: Folder of the search.
        brief: The search should take seconds.
        heap_megabytes: Java's heap; a quarter of the machine if None.
    """
    java = find_java()
    unpacked = temporary / "unpacked"
    unpacked.mkdir()
    command = [str(java.executable), *(_BRIEF if brief else _LONG), "-XX:-UsePerfData", "-Xss16m"]
    supervisor = shutil.which("setpriv")
    if supervisor:
        # The kernel kills the search if this process dies without cleanup.
        command = [supervisor, "--pdeathsig", "KILL", *command]
    if heap_megabytes is not None:
        command.append(f"-Xmx{heap_megabytes}m")
    # TLC unpacks its standard modules here; concurrent processes must not share the folder.
    return [*command, f"-Djava.io.tmpdir={unpacked}"]


def _command(options: ModelCheckOptions, temporary: Path, configuration: str, module: str) -> list[str]:
    """Return the command line of TLC's process."""
    command = java_command(temporary, brief=options.brief, heap_megabytes=options.heap_megabytes)
    if options.time_limit_seconds is not None:
        command.append(f"-Dtlc2.TLC.stopAfter={max(1, math.ceil(options.time_limit_seconds))}")
    states = temporary / "states"
    recover: Path | None = None
    if options.checkpoints is None:
        command.append("-Dtlc2.TLCGlobals.chkpt=0")
    else:
        states = options.checkpoints.directory.resolve()
        recover = options.checkpoints.recover
        interval_ms = min(max(1, round(options.checkpoints.interval_seconds * 1000)), _CHECKPOINT_NEVER_MS)
        command.append(f"-Dtlc2.TLCGlobals.chkpt={interval_ms}")
    states.mkdir(parents=True, exist_ok=True)
    if options.both:
        command.append("-Dkraftspec.both=true")
    if options.guide is not None:
        command.append(f"-Dkraftspec.path={options.guide.resolve()}")
    jars = [find_jar().path] if options.compiled is None else [options.compiled, find_jar().path]
    command += ["-cp", os.pathsep.join(map(str, jars)), "tlc2.TLC", "-tool", "-config", f"{configuration}.cfg"]
    command += ["-metadir", str(states), "-workers", str(options.workers), "-fp", str(options.fingerprint_index)]
    if options.simulation is not None:
        command.append("-simulate")
        if options.simulation.behaviours is not None:
            command.append(f"num={options.simulation.behaviours}")
        command += ["-depth", str(options.simulation.depth), "-seed", str(options.simulation.seed)]
    # Search for loops once, at the end. Repeated searches take most of the time, and the loop found first would
    # depend on the machine.
    command += ["-lncheck", "final"]
    if not options.check_deadlock:
        command.append("-deadlock")
    if options.coverage:
        command += ["-coverage", "1"]
    if recover is not None:
        if not (recover / "vars.chkpt").is_file():
            raise ModelCheckError(f"no checkpoint of TLC in {recover}")
        command += ["-recover", str(recover.resolve())]
    return [*command, module]


def _kill_after(options: ModelCheckOptions, temporal: tuple[str, ...]) -> float | None:
    limit = options.time_limit_seconds
    return None if limit is None else limit * (2 if temporal else 1) + STOP_GRACE_SECONDS


def _run(
    command: list[str],
    directory: Path,
    kill_after: float | None,
    findings: Findings,
    on_progress: Callable[[Progress], None] | None,
) -> tuple[int, bool]:
    """Run TLC and read its output; kill it after `kill_after` seconds, if set.

    Returns:
        The exit code, and True if it was killed for exceeding its time limit.
    """
    process = subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        # Ctrl-C at a terminal reaches only this process, which then stops TLC.
        start_new_session=True,
    )
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        process.kill()

    watchdog = None if kill_after is None else threading.Timer(kill_after, kill)
    try:
        if watchdog is not None:
            watchdog.daemon = True
            watchdog.start()
        assert process.stdout is not None, "standard output is a pipe"
        for message in tool_messages(process.stdout):
            if findings.add(message) and on_progress is not None:
                on_progress(findings.progress)
        return process.wait(), killed.is_set()
    finally:
        if watchdog is not None:
            watchdog.cancel()
        terminate(process)


def terminate(process: "subprocess.Popen[str]") -> None:
    """Terminate and reap a process of Java."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=_TERMINATE_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _outcome_of(
    findings: Findings, options: ModelCheckOptions, seconds: float, killed_late: bool, exit_code: int
) -> Outcome:
    """Return the outcome; TLC itself reports a search stopped by the time limit as a success."""
    limit = options.time_limit_seconds
    if findings.outcome in (Outcome.VIOLATION, Outcome.DEADLOCK, Outcome.ERROR):
        return findings.outcome
    if killed_late:
        return Outcome.TIME_LIMIT
    if not findings.finished:
        signalled = exit_code < 0 or exit_code in _SIGNALLED_EXIT_CODES
        return Outcome.INTERRUPTED if signalled else Outcome.ERROR
    if options.simulation is not None:
        return Outcome.TIME_LIMIT if limit is not None and seconds >= limit else Outcome.OK
    if findings.progress.queue_left > 0:
        return Outcome.TIME_LIMIT
    return findings.outcome or Outcome.ERROR


def _message(findings: Findings, exit_code: int) -> str:
    """Return TLC's error text, including the parser's lines, which it prints outside of messages."""
    routine = ("Parsing file ", "Semantic processing ")
    parser_lines = [line for line in findings.free_text if not line.startswith(routine)]
    if findings.outcome is Outcome.ERROR:
        return "\n".join([*findings.messages, *parser_lines]).strip()
    if not findings.finished:
        return "\n".join([f"TLC ended with exit code {exit_code}", *findings.messages, *parser_lines[-20:]])
    return "\n".join(findings.messages).strip()


def _temporal_names(configuration: Path) -> tuple[str, ...]:
    """Return the names under PROPERTY in a configuration, because TLC does not say which of them is violated."""
    text = re.sub(r"\(\*.*?\*\)", " ", configuration.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: list[str] = []
    inside = False
    for word in re.sub(r"\\\*.*", " ", text).split():
        if _CONFIGURATION_KEYWORDS.fullmatch(word):
            inside = word in ("PROPERTY", "PROPERTIES")
        elif inside:
            names.append(word)
    return tuple(names)

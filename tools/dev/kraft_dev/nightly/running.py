"""Run the items of a night, each in its own process, and write each result as soon as it ends."""

import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from time import monotonic

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.child import child_command
from kraft_dev.nightly.parts import Means, Part
from kraft_dev.nightly.record import Item, Night, read_night, record_path, write_night
from kraft_spec.fingerprint import fingerprint_of

_TABLE = re.compile(r"[─-╿]")
_STOPPED = "stopped by the time limit"
_CUT_SHORT = re.compile(rf"{_STOPPED} with [1-9]")
_LAST_WORDS = 20
"""Number of output lines to keep of a failing command."""
_PACKAGES = (
    "kraft_reference",
    "kraft_simulation",
    "kraft_partitions",
    "kraft_spec",
    "kraft_mutants",
    "kraft_proofs",
    "kraft_traces",
    "kraft_pipeline",
    "kraft_vectors",
    "kraft_conformance",
    "kraft_kafka",
    "kraft_cli",
    "kraft_dev",
)


def fingerprint_of_sources() -> str:
    """Return the SHA-256, in hexadecimal, of everything that a night's results depend on."""
    return fingerprint_of(_PACKAGES, (".py", ".tla", ".cfg", ".toml"))


def fingerprint_of_model() -> str:
    """Return the SHA-256, in hexadecimal, of everything that a TLC checkpoint depends on."""
    return fingerprint_of(("kraft_spec", "kraft_mutants"), (".tla", ".toml"))


def begin(folder: Path, day: str, version: str, sources: str, *, resume: bool) -> Night:
    """Return the night to resume: the day's record if its sources are equal, else an empty night.

    Raises:
        RecordError: The day's record cannot be read.
    """
    path = record_path(folder, day)
    if resume and path.exists():
        night = read_night(path)
        if night.sources == sources:
            return night
    return Night(day, version, sources, complete=False, items=())


def run_item(part: Part, name: str, means: Means) -> Item:
    """Run the command of an item to its end, and record its result."""
    words, began = part.command(name, means), monotonic()
    ended = subprocess.run(child_command(*words), capture_output=True, text=True, errors="replace", check=False)
    seconds, command = round(monotonic() - began, 1), shlex.join(("python", "-m", *words))
    lines = [line for line in ended.stdout.splitlines() if line.strip() and not _TABLE.search(line)]
    reached = next(
        (line.strip() for line in lines if re.search(r"\d", line)), lines[-1].strip() if lines else "nothing"
    )
    if ended.returncode == ExitCode.VIOLATION and name in part.otherwise:
        is_as_known = f": {part.otherwise[name]}" in reached
    else:
        is_stopped = ended.returncode == ExitCode.INCONCLUSIVE and _STOPPED in reached
        is_as_known = (ended.returncode == ExitCode.CONFORMANT or is_stopped) and name not in part.otherwise
    last = (*ended.stdout.splitlines(), *ended.stderr.splitlines())[-_LAST_WORDS:]
    problems = () if is_as_known else (f"exit code {ended.returncode} of {command}", *last)
    decided = ended.returncode in (ExitCode.CONFORMANT, ExitCode.VIOLATION, ExitCode.INCONCLUSIVE)
    return Item(part.name, name, command, reached, seconds, problems, decided and not _CUT_SHORT.search(reached))


def run_night(
    folder: Path,
    night: Night,
    due: Sequence[tuple[Part, str]],
    run: Callable[[Part, str], Item],
    on_item: Callable[[Item, bool], None],
    on_start: Callable[[str, str], None],
    *,
    completes: bool,
    jobs: int = 1,
) -> Night:
    """Run the due items that the night has not finished; the caller decides whether that `completes` the night.

    `run` runs one item, `jobs` in parallel; `on_item` is called with each and with whether it was reused from an
    earlier run of the same night.

    Raises:
        OSError: The record cannot be written.
    """
    lock, stopped = Lock(), Event()

    def run_one(part: Part, name: str) -> None:
        nonlocal night
        with lock:
            if stopped.is_set():
                return
            on_start(part.name, name)
        try:
            item = run(part, name)
        except BaseException:
            stopped.set()
            raise
        with lock:
            # An item that an interruption ended does not count as run.
            if not stopped.is_set():
                night = night.with_item(item)
                write_night(record_path(folder, night.date), night)
                on_item(item, False)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            running = []
            for part, name in due:
                finished_item = night.find(part.name, name)
                if finished_item is not None and finished_item.finished:
                    on_item(finished_item, True)
                else:
                    running.append(pool.submit(run_one, part, name))
            for future in running:
                future.result()
        except BaseException:
            stopped.set()
            raise
    if completes:
        night = Night(night.date, night.version, night.sources, complete=True, items=night.items)
        write_night(record_path(folder, night.date), night)
    return night

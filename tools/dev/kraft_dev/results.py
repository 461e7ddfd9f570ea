"""Recorded results: one format for every result, a file each, with the commit and the code that it describes.

A result is a list of mutants, each with the results of every tool.
`--record` writes it to `build/results`, or to the folder that the environment variable `KRAFT_SPEC_RESULTS` names; the
site reads it from there.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Literal

import msgspec

from kraft_spec.fingerprint import fingerprint_of
from kraft_traces.streams import atomic_file

_CHECKOUT = Path(__file__).parents[3]
FOLDER = Path(os.environ.get("KRAFT_SPEC_RESULTS") or _CHECKOUT / "build" / "results")
SCHEMA: Literal["kraft-mutants/1"] = "kraft-mutants/1"

DESCRIBES = {
    "mutants": (
        "kraft_reference",
        "kraft_simulation",
        "kraft_partitions",
        "kraft_spec",
        "kraft_mutants",
        "kraft_vectors",
        "kraft_conformance.runner",
        "kraft_dev.mutants",
        "kraft_dev.edges",
    ),
    "kafka-bugs": ("kraft_vectors", "kraft_conformance.runner", "kraft_kafka"),
}
"""Results, and the packages whose change makes each outdated."""

_CELL_LENGTH_MAX = 200
_ENDINGS = (".py", ".java", ".tla", ".cfg", ".toml", ".json")

Kind = Literal["seeded", "machine", "foreign"]
"""Origin of a mutant: a catalogue, Cosmic Ray, another implementation of Raft."""


class ResultError(ValueError):
    """A recorded result cannot be read; the message names the file and the field."""


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Result of one detector for one mutant."""

    detector: str
    detects: bool = False
    what: str = ""
    """Detected problem in a few words: the violated property, the differing fields, the exception."""
    where: str = ""
    """Vector, scenario variant, or workload and seed."""
    amount: int = 0
    """Amount of work: events, edges, runs, failing vectors, or states of a counterexample."""
    seconds: float = 0.0
    names: tuple[str, ...] = ()
    """Rules that the detector names."""
    problem: str = ""
    """Reason why the result differs from the stated one; empty if it does not."""
    counterexample: str = ""
    """Text of the file that records TLC's counterexample in the broken model, if any."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mutant and the results of the detectors."""

    name: str
    breaks: tuple[str, ...] = ()
    """Broken rules, the main one first."""
    change: str = ""
    """Description of the fault in a sentence, or as `before -> after`."""
    cells: tuple[Cell, ...] = ()
    reason: str = ""
    """Reason why nothing can detect it."""
    kind: Kind = "seeded"

    def by(self, detector: str) -> Cell | None:
        """Return the cell of this detector; None if it did not run."""
        return next((cell for cell in self.cells if cell.detector == detector), None)


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code that a result was measured on."""

    commit: str
    """Commit, with `-dirty` appended if there were uncommitted changes."""
    sources: str
    """SHA-256, in hexadecimal, of the described packages."""


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A recorded result."""

    schema: Literal["kraft-mutants/1"]
    name: str
    """One of `DESCRIBES`."""
    command: str
    """Command that repeats the measurement."""
    measured: Measured
    how: str = ""
    """Further conditions of the measurement."""
    population: int = 0
    """Number of changes that the sample was drawn from; 0 if there was no sample."""
    rows: tuple[Row, ...] = ()


def result_file(name: str) -> Path:
    """Return the file of a result in `DESCRIBES`."""
    return FOLDER / f"{name}.json"


def load_result(name: str) -> Result | None:
    """Return a recorded result; None if it has not been recorded.

    Raises:
        ResultError: The file is malformed.
    """
    file = result_file(name)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Result) if file.is_file() else None
    except msgspec.DecodeError as error:
        raise ResultError(f"{file.name}: {error}") from error


def record_result(result: Result) -> None:
    """Write the file of a result atomically.

    Raises:
        OSError: It cannot be written.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with atomic_file(result_file(result.name)) as output:
        output.write(result_bytes(result))


def result_bytes(result: Result) -> bytes:
    """Return the file of a result, a line for each row so that diffs are readable."""
    document: dict[str, Any] = msgspec.to_builtins(result)
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in document.pop("rows", ()))
    text = json.dumps(document, indent=1, ensure_ascii=False)[:-2]
    return f'{text},\n "rows": [\n{lines}\n ]\n}}\n'.encode()


def measured_now(name: str) -> Measured:
    """Return the current commit and code, for a new measurement."""
    return Measured(commit_now(), _sources(name))


def commit_now() -> str:
    """Return the current commit, with `-dirty` appended if there are uncommitted changes."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    process = subprocess.run(words, cwd=_CHECKOUT, capture_output=True, text=True, check=False)
    return process.stdout.strip() or "unknown"


def not_recorded(command: str) -> str:
    """Return Markdown that says that the result of a page is missing."""
    return f"No result was recorded in this build: `{command}` records one."


def origin(result: Result) -> str:
    """Return Markdown with the origin of a page's figures, and whether the code has changed since."""
    described = ", ".join(f"`{package}`" for package in DESCRIBES[result.name])
    if result.measured.sources != _sources(result.name):
        return f"**Older than the code:** measured at commit {result.measured.commit}; {described} have changed since."
    return f"Measured at commit {result.measured.commit}; {described} are the same now."


def _sources(name: str) -> str:
    return fingerprint_of(DESCRIBES[name], _ENDINGS)


def single_line(text: str) -> str:
    """Return a text without line breaks, shortened if it is too long for a cell."""
    line = " ".join(text.split())
    return line if len(line) <= _CELL_LENGTH_MAX else f"{line[: _CELL_LENGTH_MAX - 1]}…"

"""What was measured: one format for every result, a file each, with the commit and the code that it is about.

A result is a list of mutants, and for each what every tool says of it.
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
"""Each result, and the packages whose change makes it old."""

_CELL_LENGTH_MAX = 200
_ENDINGS = (".py", ".java", ".tla", ".cfg", ".toml", ".json")

Kind = Literal["seeded", "machine", "foreign"]
"""Where a mutant comes from: a catalogue, Cosmic Ray, another implementation of Raft."""


class ResultError(ValueError):
    """A recorded result cannot be read; the message names the file and the field."""


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one detector says of one mutant."""

    detector: str
    detects: bool = False
    what: str = ""
    """What it finds, in few words: the violated property, the fields that differ, the exception."""
    where: str = ""
    """The vector, the scenario's variant, the workload and its seed."""
    amount: int = 0
    """How much it looked at: events, edges, runs; vectors that fail, states of a counterexample."""
    seconds: float = 0.0
    names: tuple[str, ...] = ()
    """The rules that it names."""
    problem: str = ""
    """Why this is not what is stated of the mutant; empty if it is."""
    counterexample: str = ""
    """The text of the file that records it, where TLC searched the broken model and found one."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mutant, and what the detectors say."""

    name: str
    breaks: tuple[str, ...] = ()
    """Rules, the one that it is about first."""
    change: str = ""
    """What is wrong, in a sentence, or as `before -> after`."""
    cells: tuple[Cell, ...] = ()
    reason: str = ""
    """Why nothing can detect it."""
    kind: Kind = "seeded"

    def by(self, detector: str) -> Cell | None:
        """What this detector says; None if it was not asked."""
        return next((cell for cell in self.cells if cell.detector == detector), None)


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a result was measured at."""

    commit: str
    """With `-dirty` after it if there were changes that are not committed."""
    sources: str
    """SHA-256, in hexadecimal, of the packages that it describes."""


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A result."""

    schema: Literal["kraft-mutants/1"]
    name: str
    """One of `DESCRIBES`."""
    command: str
    """What repeats it."""
    measured: Measured
    how: str = ""
    """What else a reader has to know of how it was measured."""
    population: int = 0
    """From how many changes it was drawn; 0 if none was."""
    rows: tuple[Row, ...] = ()


def result_file(name: str) -> Path:
    """Where the result of a name in `DESCRIBES` is."""
    return FOLDER / f"{name}.json"


def load_result(name: str) -> Result | None:
    """A recorded result; None if it has not been recorded.

    Raises:
        ResultError: The file is malformed.
    """
    file = result_file(name)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Result) if file.is_file() else None
    except msgspec.DecodeError as error:
        raise ResultError(f"{file.name}: {error}") from error


def record_result(result: Result) -> None:
    """Write the file of a result, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with atomic_file(result_file(result.name)) as output:
        output.write(result_bytes(result))


def result_bytes(result: Result) -> bytes:
    """The file of a result, a line for each row, so that a change of one is seen."""
    document: dict[str, Any] = msgspec.to_builtins(result)
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in document.pop("rows", ()))
    text = json.dumps(document, indent=1, ensure_ascii=False)[:-2]
    return f'{text},\n "rows": [\n{lines}\n ]\n}}\n'.encode()


def measured_now(name: str) -> Measured:
    """The commit and the code of this moment, for a result that is measured now."""
    return Measured(commit_now(), _sources(name))


def commit_now() -> str:
    """The commit of this moment, with `-dirty` after it if there are changes that are not committed."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    said = subprocess.run(words, cwd=_CHECKOUT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def not_recorded(command: str) -> str:
    """Say on a page that it lacks its result; Markdown."""
    return f"No result was recorded in this build: `{command}` records one."


def origin(result: Result) -> str:
    """Where the figures of a page come from, and whether the code has changed since; Markdown."""
    described = ", ".join(f"`{package}`" for package in DESCRIBES[result.name])
    if result.measured.sources != _sources(result.name):
        return f"**Older than the code:** measured at commit {result.measured.commit}; {described} have changed since."
    return f"Measured at commit {result.measured.commit}; {described} are the same now."


def _sources(name: str) -> str:
    return fingerprint_of(DESCRIBES[name], _ENDINGS)


def one_line(text: str) -> str:
    """A text without line breaks, cut where it is too long for a cell."""
    line = " ".join(text.split())
    return line if len(line) <= _CELL_LENGTH_MAX else f"{line[: _CELL_LENGTH_MAX - 1]}…"

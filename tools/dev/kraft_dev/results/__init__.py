"""What was measured: one format for every result, a file each, with the commit and the code that it is about.

A result is a matrix: things that are wrong on purpose, and for each what every detector says of it.
"""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from kraft_spec.fingerprint import fingerprint_of
from kraft_traces.streams import whole_file

FOLDER = Path(__file__).parent
SCHEMA: Literal["kraft-matrix/1"] = "kraft-matrix/1"

_CODE = ("kraft_reference", "kraft_simulation", "kraft_partitions", "kraft_spec", "kraft_mutants")
_SUITE = (*_CODE, "kraft_vectors", "kraft_conformance.runner", "kraft_dev.matrix")
DESCRIBES = {
    "mutants": (*_SUITE, "kraft_dev.edges"),
    "grading": _SUITE,
    "naming": _SUITE,
    "kafka-bugs": ("kraft_vectors", "kraft_conformance.runner", "kraft_kafka"),
}
"""Each result, and the packages whose change makes it old."""

_CELL_LENGTH_MAX = 200
_ENDINGS = (".py", ".java", ".tla", ".cfg", ".toml", ".json")


class ResultError(ValueError):
    """A recorded result cannot be read; the message names the file and the field."""


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one detector says of one thing that is wrong."""

    detector: str
    detects: bool = False
    what: str = ""
    """What it finds, in few words: the violated property, the fields that differ, the exception."""
    where: str = ""
    """The vector, the scenario's variant, the workload and its seed."""
    amount: int = 0
    """How much it looked at until then, or in all, in its tool's unit."""
    seconds: float = 0.0
    names: tuple[str, ...] = ()
    """The rules that it names."""
    skipped: str = ""
    """Why it was not asked; empty if it was."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something that is wrong, and what the detectors say."""

    name: str
    breaks: tuple[str, ...] = ()
    """Rules, the one that it is about first."""
    change: str = ""
    """What is wrong, in a sentence, or as `before -> after`."""
    cells: tuple[Cell, ...] = ()
    reason: str = ""
    """Why nothing can detect it."""

    @property
    def first(self) -> Cell | None:
        """The first that detects it, in the order of the matrix; None if none does."""
        return next((cell for cell in self.cells if cell.detects), None)

    def by(self, detector: str) -> Cell | None:
        """What this detector says; None if it was not asked."""
        return next((cell for cell in self.cells if cell.detector == detector), None)

    @property
    def is_detected(self) -> bool:
        """Does any detector detect it?"""
        return any(cell.detects for cell in self.cells)


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a result was measured at."""

    commit: str
    """With `-dirty` after it if there were changes that are not committed."""
    sources: str
    """SHA-256, in hexadecimal, of the packages that it describes."""


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A result."""

    schema: Literal["kraft-matrix/1"]
    name: str
    """One of `DESCRIBES`."""
    command: str
    """What repeats it."""
    how: str = ""
    """What else a reader has to know of how it was measured."""
    measured: Measured | None
    """None if it was recorded before results carried their commit."""
    seed: int = 0
    """Of the sample of machine-made mutants."""
    population: int = 0
    """From how many changes it was drawn; 0 if that is not known."""
    unbroken: tuple[Cell, ...] = ()
    """What the detectors say where nothing is wrong: nothing."""
    rows: tuple[Row, ...] = ()
    drawn: tuple[Row, ...] = ()
    """Machine-made mutants."""


def share(rows: Iterable[Row]) -> float:
    """Of what can be detected, how much is; what nothing detects for a stated reason does not count."""
    there = [row for row in rows if row.is_detected or not row.reason]
    return sum(row.is_detected for row in there) / max(1, len(there))


def undetected(rows: Iterable[Row]) -> tuple[Row, ...]:
    """What no detector detects, and no reason excuses."""
    return tuple(row for row in rows if not (row.is_detected or row.reason))


def result_file(name: str) -> Path:
    """Where the result of a name in `DESCRIBES` is."""
    return FOLDER / f"{name}.json"


def load_result(name: str) -> Matrix | None:
    """A recorded result; None if it has not been measured yet.

    Raises:
        ResultError: The file is malformed.
    """
    file = result_file(name)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Matrix) if file.is_file() else None
    except msgspec.DecodeError as error:
        raise ResultError(f"{file.name}: {error}") from error


def record_result(matrix: Matrix) -> None:
    """Write the file of a result, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    with whole_file(result_file(matrix.name)) as output:
        output.write(result_bytes(matrix))


def result_bytes(matrix: Matrix) -> bytes:
    """The file of a result, a line for each row, so that a change of one is seen."""
    document: dict[str, Any] = msgspec.to_builtins(matrix)
    lists = {name: document.pop(name) for name in ("rows", "drawn") if name in document}
    text = json.dumps(document, indent=1, ensure_ascii=False)[:-2]
    for name, rows in lists.items():
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        text += f',\n "{name}": [\n{lines}\n ]'
    return f"{text}\n}}\n".encode()


def joined(matrices: Iterable[Matrix]) -> tuple[Row, ...]:
    """The seeded rows of several results, one for each name: of each detector the first cell there is."""
    found: dict[str, Row] = {}
    for matrix in matrices:
        for row in matrix.rows:
            known = found.setdefault(row.name, row)
            asked = {cell.detector for cell in known.cells}
            more = tuple(cell for cell in row.cells if cell.detector not in asked)
            found[row.name] = msgspec.structs.replace(
                known, cells=(*known.cells, *more), reason=known.reason or row.reason
            )
    return tuple(found.values())


def measured_now(name: str) -> Measured:
    """The commit and the code of this moment, for a result that is measured now."""
    return Measured(commit_now(), _sources(name))


def commit_now() -> str:
    """The commit of this moment, with `-dirty` after it if there are changes that are not committed."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    said = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def origin(name: str, measured: Measured | None) -> str:
    """Where the figures of a page come from, and whether the code has changed since; Markdown.

    Args:
        name: Of the result.
        measured: None if it is not known.
    """
    described = ", ".join(f"`{package}`" for package in DESCRIBES[name])
    if measured is None:
        return f"**Older than the code:** recorded without a commit, of earlier forms of {described}."
    if measured.sources != _sources(name):
        return f"**Older than the code:** measured at commit {measured.commit}; {described} have changed since."
    return f"Measured at commit {measured.commit}; {described} are the same now."


def _sources(name: str) -> str:
    return fingerprint_of(DESCRIBES[name], _ENDINGS)


def one_line(text: str) -> str:
    """A text without line breaks, cut where it is too long for a cell."""
    line = " ".join(text.split())
    return line if len(line) <= _CELL_LENGTH_MAX else f"{line[: _CELL_LENGTH_MAX - 1]}…"

"""`detected_by.toml`: what detects each mutant of the reference, a line for each."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from kraft_dev.mutants.tools import BY_DETECTOR, SUITE, VECTORS, detections
from kraft_dev.results import Row
from kraft_mutants import MutantError, load_catalogue
from kraft_traces.streams import atomic_file

FILE = Path(__file__).parent / "detected_by.toml"

_HEAD = """\
# What detects each mutant: the lowest level of observability at which a vector does, and a vector that needs no state
# injection; of a mutant that no vector detects, the cheapest tool of the suite that does, and where.
# `python -m kraft_dev mutants` fails where one of these does not detect the mutant any more, and asks every tool about
# a mutant that is not listed.  `--record` writes the lines of the mutants that are asked.
"""

Listed = Mapping[str, Mapping[str, str]]
"""Of a mutant by its name, detectors, each with the vector, the scenario or the run in which it detects it."""


def load_listed() -> Listed:
    """Read the file.

    Raises:
        MutantError: it is malformed, or names what is no detector of the suite.
    """
    try:
        listed = msgspec.toml.decode(FILE.read_bytes(), type=dict[str, dict[str, str]])
    except msgspec.DecodeError as error:
        raise MutantError(f"{FILE.name}: {error}") from error
    for name, detectors in listed.items():
        for detector in detectors:
            if BY_DETECTOR.get(detector) not in SUITE:
                raise MutantError(f"{FILE.name}: {name}: {detector!r} is no detector of the suite")
    return listed


def entry_of(row: Row) -> dict[str, str]:
    """What a mutant is to be listed with, given all that detects it; nothing if nothing does."""
    there = {cell.detector: cell.where for cell in detections(row)}
    cheapest = next(iter(there), "")
    history = VECTORS.detectors[-1]
    return {detector: there[detector] for detector in (cheapest, history) if detector in there}


def line_of_entry(name: str, entry: Mapping[str, str]) -> str:
    """The line of a mutant."""
    cells = ", ".join(f"{detector} = {json.dumps(where, ensure_ascii=False)}" for detector, where in entry.items())
    return f"{name} = {{ {cells} }}\n"


def record_listed(rows: Iterable[Row]) -> None:
    """Write the lines of these mutants of the catalogue, beside those of others.

    Raises:
        OSError: the file cannot be written.
    """
    new = {row.name: entry for row in rows if row.kind == "seeded" and (entry := entry_of(row))}
    entries = {**load_listed(), **new}
    names = [mutant.name for mutant in load_catalogue().mutants if mutant.name in entries]
    with atomic_file(FILE) as output:
        output.write((_HEAD + "\n" + "".join(line_of_entry(name, entries[name]) for name in names)).encode())

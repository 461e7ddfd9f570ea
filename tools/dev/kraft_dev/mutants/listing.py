"""`detected_by.toml`: the detectors of each mutant of the reference, one line each."""

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
# Detectors of each mutant: the lowest observability level at which a vector detects it, and a vector without state
# injection; for a mutant that no vector detects, the cheapest tool of the suite that does, and where.
# `python -m kraft_dev mutants` fails if one of these no longer detects the mutant, and runs every tool on an unlisted
# mutant.  `--record` writes the lines of the selected mutants.
"""

Listed = Mapping[str, Mapping[str, str]]
"""Detectors of a mutant, by its name, each with the vector, scenario or run in which it detects it."""


def load_listed() -> Listed:
    """Read the file.

    Raises:
        MutantError: The file is malformed, or names an unknown detector.
    """
    try:
        listed = msgspec.toml.decode(FILE.read_bytes(), type=dict[str, dict[str, str]])
    except msgspec.DecodeError as error:
        raise MutantError(f"{FILE.name}: {error}") from error
    for name, detectors in listed.items():
        for detector in detectors:
            if BY_DETECTOR.get(detector) not in SUITE:
                raise MutantError(f"{FILE.name}: {name}: {detector!r} is not a detector of the suite")
    return listed


def entry_of(row: Row) -> dict[str, str]:
    """Return the list entry of a mutant from its detections; empty if nothing detects it."""
    there = {cell.detector: cell.where for cell in detections(row)}
    cheapest = next(iter(there), "")
    history = VECTORS.detectors[-1]
    return {detector: there[detector] for detector in (cheapest, history) if detector in there}


def line_of_entry(name: str, entry: Mapping[str, str]) -> str:
    """Return the line of a mutant."""
    cells = ", ".join(f"{detector} = {json.dumps(where, ensure_ascii=False)}" for detector, where in entry.items())
    return f"{name} = {{ {cells} }}\n"


def record_listed(rows: Iterable[Row]) -> None:
    """Write the lines of these mutants, and keep those of others.

    Raises:
        OSError: the file cannot be written.
    """
    new = {row.name: entry for row in rows if row.kind == "seeded" and (entry := entry_of(row))}
    entries = {**load_listed(), **new}
    names = [mutant.name for mutant in load_catalogue().mutants if mutant.name in entries]
    with atomic_file(FILE) as output:
        output.write((_HEAD + "\n" + "".join(line_of_entry(name, entries[name]) for name in names)).encode())

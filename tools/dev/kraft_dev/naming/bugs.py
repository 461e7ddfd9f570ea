"""Bugs of the reference by which the ranking of rules is measured: mutants, machine-made changes, foreign bugs."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

import msgspec

from kraft_dev.matrix import machine_made
from kraft_dev.matrix.subjects import alike, seeded_subjects
from kraft_spec.edits import Edit, ReferenceEdit

_SAMPLE_SEED = 3
"""Of the machine-made mutants."""


class Kind(StrEnum):
    """Where bugs come from."""

    NAMED = "named"
    """Mutants of the catalogue."""
    UNKNOWN = "unknown"
    """The same, measured with a catalogue that lacks them and the mutants that edit the same text."""
    MACHINE = "machine"
    FOREIGN = "foreign"
    """Bugs that other implementations of Raft had; held out."""


class Bug(NamedTuple):
    """A bug of the reference."""

    name: str
    kind: Kind
    edits: tuple[Edit, ...]
    breaks: tuple[str, ...]
    """Rules, the one that it is about first."""
    alike: tuple[str, ...] = ()
    """Mutants of the catalogue that edit the same text."""


class _Foreign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    rules: tuple[str, ...]
    bug: str
    source: str
    edit: tuple[ReferenceEdit, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bug: tuple[_Foreign, ...]


def is_held_out(name: str) -> bool:
    """True for the half of the bugs by which no ranking is chosen."""
    return bool(sha256(f"half\0{name}".encode()).digest()[0] % 2)


def load_bugs(machine: int, share: float = 1.0, seed: int = 1) -> tuple[Bug, ...]:
    """Load the bugs, or a sample of them.

    Args:
        machine: number of machine-made mutants.
        share: fraction of the catalogue's mutants that is taken.
        seed: seed of the sample.
    """
    taken = [one for one in _named() if _draw(one.name, seed) < share]
    return (*taken, *_machine(machine), *foreign_bugs())


def _draw(name: str, seed: int) -> float:
    return int.from_bytes(sha256(f"{seed}\0{name}".encode()).digest()[:8]) / 2**64


def _named() -> Iterator[Bug]:
    for one in seeded_subjects():
        yield Bug(one.name, Kind.NAMED, one.edits, one.breaks, tuple(sorted(alike(one))))


def _machine(number: int) -> Iterator[Bug]:
    for place, one in enumerate(machine_made.sample(number, _SAMPLE_SEED)[0] if number else ()):
        # A change at a place that cites no rule breaks none that could be named.
        if one.breaks:
            yield Bug(f"{one.name} #{place}", Kind.MACHINE, one.edits, one.breaks)


def foreign_bugs() -> Sequence[Bug]:
    """Load the bugs of other implementations."""
    text = (files(__package__) / "foreign.toml").read_text("utf-8")
    bugs = msgspec.toml.decode(text, type=_File).bug
    return [Bug(one.name, Kind.FOREIGN, tuple([edit.as_edit() for edit in one.edit]), one.rules) for one in bugs]

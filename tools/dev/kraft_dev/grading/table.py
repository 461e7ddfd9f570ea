"""What is published: a row for each mutant, and what noticed it."""

import json
from typing import Any, Literal

import msgspec
from msgspec import Struct

from kraft_conformance.protocol.features import LEVELS, Level, Subject
from kraft_dev.results import Measured, result_file

SCHEMA: Literal["kraft-grading/1"] = "kraft-grading/1"
TARGET = 0.9
"""Share of the mutants, equivalent ones left out, that vectors alone must catch."""


class RandomCatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The first random run that noticed."""

    workload: str
    seed: int
    runs: int
    """How many there were until then, this one included."""
    said: str


class Row(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One mutant."""

    mutant: str
    subject: Subject = "replica"
    """Whose vectors it was graded with."""
    rules: tuple[str, ...]
    """Those that it breaks; none of a machine-made one."""
    vectors: int
    """How many notice at the level `state`: with state injection, or without it if none does with it."""
    counted: bool
    """Whether these are all: a mutant may be left alone after the first, or when it dies too often."""
    wire: str | None
    """The first vector that notices what an implementation shows at this level, or None."""
    effects: str | None
    state: str | None
    history: str | None
    """The first that notices at the level `state` without state injection."""
    said: str
    """What the first vector of the lowest level says."""
    random: RandomCatch | None = None
    line: str = ""
    """Of a machine-made one: the line before and after."""
    excluded: str = ""
    """Why nothing can notice it: no behaviour differs, or none that an adapter shows."""

    @property
    def level(self) -> Level | None:
        """The lowest level at which a vector notices."""
        return next((level for level in LEVELS if getattr(self, level) is not None), None)

    @property
    def by_vectors(self) -> bool:
        """Does a vector notice?"""
        return self.level is not None

    @property
    def first(self) -> str | None:
        """The first vector that notices, at the lowest level."""
        return None if self.level is None else str(getattr(self, self.level))

    @property
    def by_failure(self) -> bool:
        """Is what that vector notices that the adapter dies, hangs or cannot answer, and no difference?"""
        return self.by_vectors and not self.said.startswith(("step ", "before the first step"))

    @property
    def caught(self) -> bool:
        """Does anything notice?"""
        return self.by_vectors or self.random is not None


class MachineMadeRows(Struct, frozen=True, forbid_unknown_fields=True):
    """A sample of machine-made mutants."""

    seed: int
    population: int
    rows: tuple[Row, ...]


class Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole grading."""

    schema: Literal["kraft-grading/1"]
    profile: str
    vectors: int
    """How many vectors there were of a replica of the quorum."""
    partition_vectors: int
    """And of controllers of partitions."""
    random: str
    """What the random mode ran for the mutants that no vector notices; empty if it was left out."""
    seeded: tuple[Row, ...]
    machine: MachineMadeRows | None
    measured: Measured | None
    """At what; None if it is not known."""


class TableError(ValueError):
    """The committed table is none."""


def table_bytes(table: Table) -> bytes:
    """The file of a table, one line for each mutant."""
    document: dict[str, Any] = msgspec.to_builtins(table)
    machine = document["machine"]
    rows = _rows(document.pop("seeded"))
    names = ("schema", "profile", "vectors", "partition_vectors", "random", "measured")
    head = json.dumps({name: document[name] for name in names}, indent=1)
    machine_text = "null"
    if machine is not None:
        drawn = f'"seed": {machine["seed"]}, "population": {machine["population"]}'
        machine_text = f'{{{drawn}, "rows": {_rows(machine["rows"])}}}'
    return f'{head[:-2]},\n "seeded": {rows},\n "machine": {machine_text}\n}}\n'.encode()


def _rows(rows: list[dict[str, Any]]) -> str:
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    return f"[\n{lines}\n ]" if rows else "[]"


def load_table() -> Table:
    """The published table.

    Raises:
        TableError: it cannot be read.
    """
    try:
        return msgspec.json.decode(result_file("grading").read_bytes(), type=Table)
    except (OSError, msgspec.DecodeError) as error:
        raise TableError(f"{result_file('grading').name}: {error}") from error


class Score(Struct, frozen=True):
    """How a list of mutants fared, those that nothing can notice left out."""

    mutants: int
    wire: int
    """Noticed by a vector at this level or a lower one."""
    effects: int
    state: int
    vectors: int
    """By a vector at all."""
    history: int
    """By a vector without state injection."""
    failures: int
    """Of those, because the adapter dies, hangs or cannot answer."""
    together: int
    """By vectors or the random mode."""
    excluded: int

    @property
    def share(self) -> float:
        """Of the mutants, how many a vector notices."""
        return self.vectors / max(1, self.mutants)


def score(rows: tuple[Row, ...]) -> Score:
    """Count."""
    there = [row for row in rows if not (row.excluded and not row.caught)]
    at = {
        level: sum(row.level is not None and LEVELS.index(row.level) <= place for row in there)
        for place, level in enumerate(LEVELS)
    }
    return Score(
        mutants=len(there),
        wire=at["wire"],
        effects=at["effects"],
        state=at["state"],
        vectors=sum(row.by_vectors for row in there),
        history=sum(row.history is not None for row in there),
        failures=sum(row.by_failure for row in there),
        together=sum(row.caught for row in there),
        excluded=len(rows) - len(there),
    )

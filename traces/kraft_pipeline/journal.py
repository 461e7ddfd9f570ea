"""What the tasks of a stage are at and what has come of it, on disk as soon as it is known.

A run that is killed goes on with the results that are written down, whatever became of the unit that they belong to.

What ends a process (the system's out-of-memory killer, a crash of Java) leaves no error to report, and Spark tries the
task again, the same piece of work first.
So a task writes down each piece before it begins it; one without a result says that its worker has died.

Each attempt at a unit has a file of its own, in the output folder, which every machine sees.
"""

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from msgspec import Struct
from msgspec.json import Decoder, Encoder
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from kraft_pipeline.failures import SparkError

Row = dict[str, Any]

DEATHS_MAX = 3
"""So often a worker may die over a piece of work."""

_SHOWN_MAX = 5


class Begun(Struct, frozen=True, tag=True, array_like=True):
    """A process begins a piece of work."""

    key: str
    what: str
    """The piece in words, as `giant.jsonl:7`."""
    process: int
    """For those who want to see what it is doing."""


class Done(Struct, frozen=True, tag=True, array_like=True):
    """It has ended."""

    key: str
    row: Row | None
    """Its result; None if it raised an error, which says by itself what is wrong."""


_ENCODER = Encoder()
_DECODER: Decoder[Begun | Done] = Decoder(Begun | Done)


@dataclass(frozen=True)
class Journals:
    """The journals of a stage.

    Attributes:
        folder: where they are; those of earlier runs may be there too.
        run: names this run among them: that another one was killed says nothing about what it was at.
    """

    folder: Path
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def of_unit(self, unit: int) -> "Journals":
        """Those of the attempts at a unit."""
        return replace(self, folder=self.folder / f"{unit:05}")

    @contextmanager
    def opened(self) -> Iterator["Journal"]:
        """A new one, for a task, that knows what the others say."""
        results: dict[str, Row] = {}
        deaths: Counter[str] = Counter()
        for path in self._files("*"):
            begun, done = _read(path)
            results |= {key: row for key, row in done.items() if row is not None}
            if path.name.startswith(self.run):
                deaths.update(begun.keys() - done.keys())
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{self.run}-{uuid.uuid4().hex}").open("ab") as file:
            yield Journal(file, results, deaths)

    def _files(self, pattern: str) -> list[Path]:
        return [path for path in self.folder.rglob(pattern) if path.is_file()]

    def under_way(self) -> list[Begun]:
        """What this run is at; when nothing runs any more, that over which workers have died."""
        journals = map(_read, self._files(f"{self.run}*"))
        return [one for begun, done in journals for key, one in begun.items() if key not in done]

    @contextmanager
    def explained(self) -> Iterator[None]:
        """A job that fails because workers have died within the block says over what.

        Raises:
            SparkError: it is so.
        """
        try:
            yield
        except (PySparkException, Py4JError) as error:
            if not (died := self.described()):
                raise
            raise SparkError(f"a Spark job failed: {died}") from error

    def described(self) -> str:
        """The same in words; empty if there is none."""
        found = sorted({one.what for one in self.under_way()})
        if not found:
            return ""
        more = f" and {len(found) - _SHOWN_MAX} more" if len(found) > _SHOWN_MAX else ""
        return f"workers died while they checked {', '.join(found[:_SHOWN_MAX])}{more}"

    def forget(self) -> None:
        """Remove them, because all results are somewhere else."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Journal:
    """What a task does, written down."""

    def __init__(self, file: IO[bytes], results: dict[str, Row], deaths: Counter[str]) -> None:
        """`results` are known already, `deaths` of workers have happened, both by key."""
        self._file = file
        self._results = results
        self._deaths = deaths

    def row(self, key: str, what: str, make: Callable[[int], Row]) -> Row:
        """The result of a piece of work, made if it is not known.

        Args:
            key: names the piece among those of the stage.
            what: the piece in words.
            make: is told how many workers have died over it; of `DEATHS_MAX` or more it must not try again.
        """
        known = self._results.get(key)
        if known is not None:
            return known
        deaths = self._deaths[key]
        if deaths < DEATHS_MAX:
            self._write(Begun(key, what, os.getpid()))
        row = None
        try:
            row = make(deaths)
        finally:
            self._write(Done(key, row))
        return row

    def _write(self, record: Begun | Done) -> None:
        self._file.write(_ENCODER.encode(record) + b"\n")
        self._file.flush()


def _read(path: Path) -> tuple[dict[str, Begun], dict[str, Row | None]]:
    """What was begun, and what has come of it, by key; a last record that breaks off is none."""
    begun: dict[str, Begun] = {}
    done: dict[str, Row | None] = {}
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        record = _DECODER.decode(line)
        if isinstance(record, Begun):
            begun[record.key] = record
        else:
            done[record.key] = record.row
    return begun, done


def given_up(deaths: int) -> str:
    """Why such a piece of work has no result."""
    return f"the process that checks it has ended {deaths} times without a word: out of memory, or a crash of Java"

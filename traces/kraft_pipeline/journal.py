"""Journals of the tasks of a stage: work in progress and results, written to disk at once.

A resumed run reuses the results in the journals, even if their unit was not finished.

A process that is killed (by the out-of-memory killer, or by a crash of Java) reports no error, and Spark retries the
task.  So a task records each piece of work before it begins it; a piece without a result means that its worker died.

Each attempt at a unit has its own file in the output folder, which every machine can read.
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
"""Maximum number of deaths of workers over a piece of work."""

_SHOWN_MAX = 5


class Begun(Struct, frozen=True, tag=True, array_like=True):
    """Record: a process begins a piece of work."""

    key: str
    what: str
    """Description of the piece, such as `giant.jsonl:7`."""
    process: int
    """Process id, for diagnosis."""


class Done(Struct, frozen=True, tag=True, array_like=True):
    """Record: a piece of work has ended."""

    key: str
    row: Row | None
    """Its result; None if it raised an error, which is reported separately."""


_ENCODER = Encoder()
_DECODER: Decoder[Begun | Done] = Decoder(Begun | Done)


@dataclass(frozen=True)
class Journals:
    """Journals of a stage.

    Attributes:
        folder: their folder, possibly with those of earlier runs.
        run: id of this run, because deaths in an interrupted run do not count.
    """

    folder: Path
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def of_unit(self, unit: int) -> "Journals":
        """Return the journals of the attempts at a unit."""
        return replace(self, folder=self.folder / f"{unit:05}")

    @contextmanager
    def open(self) -> Iterator["Journal"]:
        """Open a new journal for a task, with the results of the others."""
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

    def unfinished(self) -> list[Begun]:
        """Return the unfinished pieces of work of this run; after its end, those whose workers died."""
        journals = map(_read, self._files(f"{self.run}*"))
        return [piece for begun, done in journals for key, piece in begun.items() if key not in done]

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Name the pieces of work in the error of a job that fails because workers died.

        Raises:
            SparkError: the job failed because workers died.
        """
        try:
            yield
        except (PySparkException, Py4JError) as error:
            if not (died := self.describe_deaths()):
                raise
            raise SparkError(f"a Spark job failed: {died}") from error

    def describe_deaths(self) -> str:
        """Return a description of the unfinished pieces of work; empty if there are none."""
        pieces = sorted({piece.what for piece in self.unfinished()})
        if not pieces:
            return ""
        more = f" and {len(pieces) - _SHOWN_MAX} more" if len(pieces) > _SHOWN_MAX else ""
        return f"workers died while they checked {', '.join(pieces[:_SHOWN_MAX])}{more}"

    def forget(self) -> None:
        """Remove the journals, because the unit has all results."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Journal:
    """Journal of a task."""

    def __init__(self, file: IO[bytes], results: dict[str, Row], deaths: Counter[str]) -> None:
        """Continue with earlier `results` and `deaths` of workers, both by key."""
        self._file = file
        self._results = results
        self._deaths = deaths

    def row(self, key: str, what: str, make: Callable[[int], Row]) -> Row:
        """Return the result of a piece of work, which is made if it is missing.

        Args:
            key: key of the piece in the stage.
            what: description of the piece.
            make: function of the number of workers that died over the piece; from `DEATHS_MAX` on it must not try
            again.
        """
        result = self._results.get(key)
        if result is not None:
            return result
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
    """Return the begun pieces and the results by key; an incomplete last record is ignored."""
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


def describe_deaths(deaths: int) -> str:
    """Return why a piece of work has no result."""
    return f"the process that checks it died {deaths} times without an error: out of memory, or a crash of Java"

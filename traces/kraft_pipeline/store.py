"""The output folder: tables that are there whole or not at all, and a run that can be taken up again.

A run works in `OUTPUT.unfinished` and gives it the name OUTPUT at its very end.
Within, a table is made in `.work` and moves to its place when it is complete.
Every machine of a cluster must see the folder under the same name.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from kraft_pipeline.failures import OutputError
from kraft_pipeline.journal import Journals
from kraft_pipeline.progress import Notice
from kraft_pipeline.schemas import TableSchema
from kraft_pipeline.units import make_unit, run_units, unit_file
from kraft_traces.streams import atomic_file

MANIFEST = "pipeline.json"
FORMAT = "kraft-pipeline/1"
_UNFINISHED = ".unfinished"
_WORK = ".work"

Facts = dict[str, Any]


class Workspace:
    """An output folder, finished or not."""

    def __init__(self, output: Path, root: Path) -> None:
        self.output = output
        """The name that the user gave."""
        self.root = root
        """Where the tables are now."""

    @classmethod
    def begin(cls, output: Path, parameters: Mapping[str, Any], *, resume: bool) -> "Workspace":
        """Begin a run, or take up the unfinished one.

        Args:
            output: the folder; it must not exist, or be empty.
            parameters: what decides the tables, as JSON has it; a run is taken up with the same ones only.
            resume: take up an unfinished run if there is one.

        Raises:
            OutputError: the folder holds something; or there is an unfinished run and `resume` is false, or that
                run has other parameters.
        """
        output = Path(os.path.abspath(output))
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            if resume and (output / MANIFEST).is_file():
                raise OutputError(f"{output} is finished: there is nothing to resume")
            raise OutputError(f"{output} is not empty: name another folder")
        if not output.parent.is_dir():
            raise OutputError(f"there is no folder {output.parent} to make {output.name} in")
        workspace = cls(output, output.with_name(output.name + _UNFINISHED))
        wanted: Facts = json.loads(json.dumps(dict(parameters)))
        if workspace.root.exists():
            if not resume:
                raise OutputError(
                    f"{workspace.root} holds an unfinished run: take it up with --resume, or remove that folder"
                )
            workspace._check_parameters(wanted)
        else:
            workspace.root.mkdir()
            workspace.note(parameters=wanted)
        return workspace

    @classmethod
    def finished(cls, output: Path) -> "Workspace":
        """The folder of a run that has ended.

        Raises:
            OutputError: it is not one.
        """
        output = Path(os.path.abspath(output))
        if not (output / MANIFEST).is_file():
            unfinished = output.with_name(output.name + _UNFINISHED)
            hint = f"; {unfinished.name} is an unfinished run" if unfinished.exists() else ""
            raise OutputError(f"{output} is not an output folder of the pipeline: it has no {MANIFEST}{hint}")
        workspace = cls(output, output)
        workspace.facts()
        return workspace

    def _check_parameters(self, wanted: Facts) -> None:
        before: Facts = self.facts().get("parameters", {})
        differing = sorted(name for name in wanted.keys() | before.keys() if wanted.get(name) != before.get(name))
        if "command" in differing:
            raise OutputError(
                f"{self.root} holds an unfinished run of `pipeline {before.get('command')}`, "
                f"not of `pipeline {wanted.get('command')}`"
            )
        if differing:
            first = differing[0]
            raise OutputError(
                f"{self.root} was begun with {first} {json.dumps(before.get(first))}, "
                f"not {json.dumps(wanted.get(first))}: resume it with the same options"
            )

    def facts(self) -> Facts:
        """What the manifest says.

        Raises:
            OutputError: it is not of this format.
        """
        path = self.root / MANIFEST
        try:
            facts: Facts = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise OutputError(f"{path} cannot be read: {error}") from error
        if facts.get("format") != FORMAT:
            raise OutputError(f"{path} has format {facts.get('format')!r}, expected {FORMAT!r}")
        return facts

    def note(self, **more: Any) -> None:
        """Add to the manifest."""
        path = self.root / MANIFEST
        facts = self.facts() if path.is_file() else {"format": FORMAT}
        facts |= more
        with atomic_file(path) as stream:
            stream.write(json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n")

    @property
    def work(self) -> Path:
        """The folder for what only the run itself needs."""
        folder = self.root / _WORK
        folder.mkdir(exist_ok=True)
        return folder

    def path(self, table: TableSchema) -> Path:
        """Where a finished table is."""
        return self.root / table.name

    def has(self, table: TableSchema) -> bool:
        """Is the table there?"""
        return self.path(table).is_dir()

    def read(self, session: Any, table: TableSchema) -> Any:
        """A finished table as a DataFrame.

        Raises:
            OutputError: it is not there.
        """
        if not self.has(table):
            raise OutputError(f"{self.root} has no table {table.name}")
        return read(session, table, self.root)

    def write(self, table: TableSchema, rows: Any) -> None:
        """Write a table, a DataFrame."""
        stage = f"write-{table.name}"
        rows.select(*table.names).write.mode("overwrite").parquet(str(self.stage(stage) / table.name))
        self.finish_tables(stage, (table,))

    def stage(self, name: str) -> Path:
        """The folder in which a stage makes its tables."""
        folder = self.work / name
        folder.mkdir(exist_ok=True)
        return folder

    def make(
        self,
        session: Any,
        stage: str,
        units: Sequence[int],
        tables: Sequence[TableSchema],
        work: Callable[..., None],
        notice: Notice,
    ) -> None:
        """Make the units of these tables that are not there, with `work`, as `make_unit` does.

        The last of the tables says whether a unit is there.

        Raises:
            SparkError: the same few pieces of work have ended their workers again and again.
        """
        last = tables[-1]
        if not self.has(last):
            folder, journals = self.stage(stage), Journals(self.work / "journals" / stage)
            missing = [unit for unit in units if not unit_file(folder, last, unit).exists()]
            make = partial(make_unit, folder=folder, tables=tables, journals=journals, work=work)
            with journals.explained():
                run_units(session, stage, missing, make, notice)

    def finish_tables(self, stage: str, tables: Sequence[TableSchema]) -> None:
        """Move tables of a stage that are complete to their places, as plain folders of Parquet files."""
        for table in tables:
            made = self.stage(stage) / table.name
            if not self.has(table):
                # What killed attempts have left, and Spark's checksums.
                for hidden in made.glob(".*"):
                    hidden.unlink()
                made.rename(self.path(table))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out for the time of the block.

        Raises:
            OutputError: another run works on this folder.
        """
        # The folder itself is locked: it keeps its lock under another name, and nothing more has to be removed.
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            # Where the file system has no such locks, there is none.
            with suppress(OSError):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    detail = "wait until it has ended, or name another folder"
                    raise OutputError(f"another run is at work on {self.root}: {detail}") from error
            yield
        finally:
            os.close(descriptor)

    def forget_if_empty(self) -> None:
        """Remove the folder of a run that has not come as far as to make anything."""
        if not any(self.root.rglob("[0-9]*.parquet")):
            shutil.rmtree(self.root, ignore_errors=True)

    def finish(self) -> None:
        """Give the folder its name."""
        shutil.rmtree(self.root / _WORK, ignore_errors=True)
        self.root.rename(self.output)
        self.root = self.output


def read(session: Any, table: TableSchema, *folders: Path) -> Any:
    """The files of a table below some folders as a DataFrame; where it is not there, it has no rows."""
    there = [str(folder / table.name) for folder in folders if (folder / table.name).is_dir()]
    return session.read.schema(table.spark).parquet(*there) if there else session.createDataFrame([], table.spark)

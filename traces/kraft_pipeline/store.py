"""Output folder of a run: tables are complete or absent, and an interrupted run can be resumed.

A run works in `OUTPUT.unfinished`, which is renamed to OUTPUT at the end.
A table is made in `.work` and moved to its place when it is complete.
Every machine of a cluster must see the folder under the same path.
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
    """Output folder, finished or not."""

    def __init__(self, output: Path, root: Path) -> None:
        self.output = output
        """Folder that the user named."""
        self.root = root
        """Present folder of the tables."""

    @classmethod
    def begin(cls, output: Path, parameters: Mapping[str, Any], *, resume: bool) -> "Workspace":
        """Begin a run, or resume the unfinished one.

        Args:
            output: the folder; it must not exist, or be empty.
            parameters: parameters that determine the tables, for JSON; a run is resumed with the same ones only.
            resume: True to resume an unfinished run if there is one.

        Raises:
            OutputError: the folder is not empty; or there is an unfinished run, and `resume` is False or that run
                has other parameters.
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
        """Return the workspace of a finished run.

        Raises:
            OutputError: the folder is not one of a finished run.
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
        """Return the contents of the manifest.

        Raises:
            OutputError: the manifest has another format.
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
        """Folder for temporary files of the run."""
        folder = self.root / _WORK
        folder.mkdir(exist_ok=True)
        return folder

    def path(self, table: TableSchema) -> Path:
        """Return the folder of a finished table."""
        return self.root / table.name

    def has(self, table: TableSchema) -> bool:
        """True if the table is finished."""
        return self.path(table).is_dir()

    def read(self, session: Any, table: TableSchema) -> Any:
        """Return a finished table as a DataFrame.

        Raises:
            OutputError: the table is not finished.
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
        """Return the folder in which a stage makes its tables."""
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
        """Make the missing units of these tables with `work`; see `make_unit`.

        A unit is finished if the last of the tables has it.

        Raises:
            SparkError: the workers of some pieces of work died repeatedly.
        """
        last = tables[-1]
        if not self.has(last):
            folder, journals = self.stage(stage), Journals(self.work / "journals" / stage)
            missing = [unit for unit in units if not unit_file(folder, last, unit).exists()]
            make = partial(make_unit, folder=folder, tables=tables, journals=journals, work=work)
            with journals.explain_failures():
                run_units(session, stage, missing, make, notice)

    def finish_tables(self, stage: str, tables: Sequence[TableSchema]) -> None:
        """Move tables of a stage that are complete to their places, as plain folders of Parquet files."""
        for table in tables:
            made = self.stage(stage) / table.name
            if not self.has(table):
                # Files of killed attempts, and Spark's checksums.
                for hidden in made.glob(".*"):
                    hidden.unlink()
                made.rename(self.path(table))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other runs.

        Raises:
            OutputError: another run works on this folder.
        """
        # Locking the folder itself survives its renaming, and needs no lock file.
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            # Some file systems have no such locks.
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
        """Remove the folder of a run that has no finished unit."""
        if not any(self.root.rglob("[0-9]*.parquet")):
            shutil.rmtree(self.root, ignore_errors=True)

    def finish(self) -> None:
        """Give the folder its final name."""
        shutil.rmtree(self.root / _WORK, ignore_errors=True)
        self.root.rename(self.output)
        self.root = self.output


def read(session: Any, table: TableSchema, *folders: Path) -> Any:
    """Return a table below some folders as a DataFrame, which is empty if no folder has the table."""
    there = [str(folder / table.name) for folder in folders if (folder / table.name).is_dir()]
    return session.read.schema(table.spark).parquet(*there) if there else session.createDataFrame([], table.spark)

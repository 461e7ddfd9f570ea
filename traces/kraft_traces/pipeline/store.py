"""The output folder: tables that are there whole or not at all, and a run that can be taken up again.

A run works in `OUTPUT.unfinished` and gives it the name OUTPUT at its very end.
Within, a table is written chunk by chunk into `.work`, and moves to its place when its last chunk is there.
A chunk that is there is never written again: that is all that `--resume` needs to know.
Every machine of a cluster must see the folder under the same name.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kraft_traces.pipeline.batches import frame_of
from kraft_traces.pipeline.failures import OutputError
from kraft_traces.pipeline.schemas import INTAKE, SWEPT, TableSchema
from kraft_traces.streams import whole_file

MANIFEST = "pipeline.json"
FORMAT = "kraft-pipeline/1"
_UNFINISHED = ".unfinished"
_WORK = ".work"
_QUICK_COMPRESSION = "snappy"

Facts = dict[str, Any]

_PART = re.compile(r"part-(\d+)-.*-c(\d+)\.")


def _number(name: str) -> str:
    """The number of a file that Spark wrote, which names the task and the file of the task."""
    part = _PART.match(name)
    if part is None:
        raise OutputError(f"Spark wrote a file {name}, which has no number")
    return f"{part[1]}-{part[2]}"


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
        with whole_file(path) as stream:
            stream.write(json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n")

    def path(self, table: TableSchema) -> Path:
        """Where a finished table is."""
        return self.root / table.name

    def has(self, table: TableSchema) -> bool:
        """Is the table there?"""
        return self.path(table).is_dir()

    def work_file(self, name: str) -> Path:
        """A file that only the run itself needs."""
        folder = self.root / _WORK
        folder.mkdir(exist_ok=True)
        return folder / name

    def has_chunk(self, table: TableSchema, chunk: int) -> bool:
        """Is a chunk of a table written?"""
        return self.has(table) or self.chunk_path(table, chunk).is_dir()

    def has_begun(self, table: TableSchema) -> bool:
        """Is a chunk of a table written that is not finished?"""
        return self.chunk_path(table, 0).parent.is_dir()

    def missing_chunks(self, tables: Iterable[TableSchema], chunks: int) -> list[int]:
        """The chunks that any of these tables lacks."""
        wanted = tuple(tables)
        return [chunk for chunk in range(chunks) if not all(self.has_chunk(table, chunk) for table in wanted)]

    def chunk_path(self, table: TableSchema, chunk: int) -> Path:
        """Where a chunk is while its table is not finished."""
        return self.root / _WORK / table.name / f"{chunk:05}"

    def write_chunk(self, table: TableSchema, chunk: int, rows: Any) -> None:
        """Write the rows of a chunk, a DataFrame.  They are there whole or not at all."""
        target = self.chunk_path(table, chunk)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        # A step to other tables is read at once and removed: it is not worth much work.
        compression = _QUICK_COMPRESSION if table in (INTAKE, SWEPT) else None
        rows.select(*table.names).write.parquet(str(partial), compression=compression)
        partial.rename(target)

    def drop_chunk(self, table: TableSchema, chunk: int) -> None:
        """Remove a chunk of a table that was only a step to others."""
        shutil.rmtree(self.chunk_path(table, chunk), ignore_errors=True)

    def finish_tables(self, tables: Iterable[TableSchema], chunks: int) -> None:
        """Move tables whose chunks are all there to their places, as plain folders of Parquet files."""
        for table in tables:
            if self.has(table):
                continue
            gathered = self.root / _WORK / f"{table.name}.gathered"
            gathered.mkdir(parents=True, exist_ok=True)
            for chunk in range(chunks):
                folder = self.chunk_path(table, chunk)
                for file in folder.glob("part-*.parquet"):
                    # By its number in the chunk, so that moving may stop half-way and go on.
                    file.rename(gathered / f"{chunk:05}-{_number(file.name)}.parquet")
            gathered.rename(self.path(table))
            shutil.rmtree(self.root / _WORK / table.name, ignore_errors=True)

    def files(self, table: TableSchema, chunk: int | None = None) -> list[str]:
        """The files of a finished table, or of a chunk of it."""
        pattern = "*.parquet" if chunk is None else f"{chunk:05}-*.parquet"
        return sorted(str(file) for file in self.path(table).glob(pattern))

    def read(self, session: Any, table: TableSchema, chunk: int | None = None) -> Any:
        """A finished table as a DataFrame, or a chunk of it.

        Raises:
            OutputError: it is not there.
        """
        if not self.has(table):
            raise OutputError(f"{self.root} has no table {table.name}")
        files = self.files(table, chunk)
        if not files:
            return frame_of(session, (), table.arrow)
        return session.read.schema(table.ddl).parquet(*files)

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

    def forget_work(self) -> None:
        """Remove what a stage that did not end has begun in a finished folder."""
        shutil.rmtree(self.root / _WORK, ignore_errors=True)

    def forget_if_empty(self) -> None:
        """Remove the folder of a run that has not come as far as to make anything."""
        work = self.root / _WORK
        made = [path for folder in (self.root, work) if folder.is_dir() for path in folder.iterdir() if path.is_dir()]
        if self.root != self.output and not [path for path in made if path != work]:
            shutil.rmtree(self.root, ignore_errors=True)

    def finish(self) -> None:
        """Give the folder its name."""
        shutil.rmtree(self.root / _WORK, ignore_errors=True)
        if self.root != self.output:
            self.root.rename(self.output)
            self.root = self.output

"""Files of the agent below folders, in the order in which each replica writes them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from kraft_kafka.agent.raw import SCHEMA, CheckpointLine, PartLine, RawLine, StartLine
from kraft_traces.errors import FieldError, TraceError, UnreadableFileError
from kraft_traces.watch.growing import GrowingFile, Position

FILES = "*.raw.jsonl"
_DECODER: msgspec.json.Decoder[RawLine] = msgspec.json.Decoder(RawLine)


class Head(Struct, frozen=True):
    """First two lines of a file; heads of a replica are in the order of its files."""

    replica: int
    client: str
    number: int
    path: str
    first: StartLine | CheckpointLine

    @property
    def order(self) -> tuple[str, int]:
        """Place among the files of the replica."""
        return self.client, self.number


class Placed(NamedTuple):
    """Line of a file, and the position behind it."""

    line: RawLine
    position: Position

    @property
    def place(self) -> str:
        """File and number of the line."""
        return f"{self.position.path}:{self.position.lines}"


class AgentFiles:
    """Files of the agent that are in folders, or are named."""

    def __init__(self, sources: Iterable[str]) -> None:
        """Look for files later."""
        self._sources = [Path(source) for source in sources]
        self._known: set[Path] = set()
        self.errors: list[TraceError] = []
        """Errors of files that are none of the agent's."""

    def find(self) -> list[Head]:
        """Return the files that are new and have two lines."""
        heads: list[Head] = []
        for path in self._paths():
            if path in self._known:
                continue
            try:
                head = _head(path)
            except TraceError as error:
                self._known.add(path)
                self.errors.append(error)
                continue
            if head is not None:
                self._known.add(path)
                heads.append(head)
        return heads

    def _paths(self) -> Iterator[Path]:
        for source in self._sources:
            yield from sorted(source.rglob(FILES)) if source.is_dir() else [source]


def has_agent_files(sources: Iterable[str]) -> bool:
    """True if a source is a file of the agent, or a folder with one."""
    paths = [Path(source) for source in sources]
    return any(next(path.rglob(FILES), None) if path.is_dir() else path.match(FILES) for path in paths)


def _head(path: Path) -> Head | None:
    """Return the first lines of a file; None if they are not complete yet.

    Raises:
        TraceError: they are none of the agent's, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            raw = [file.readline(), file.readline()]
    except OSError as error:
        raise UnreadableFileError(error.strerror or str(error), str(path)) from error
    if not raw[1].endswith(b"\n"):
        return None
    part, first = (decoded(text, str(path), number) for number, text in enumerate(raw, 1))
    if not isinstance(part, PartLine) or part.schema != SCHEMA:
        raise FieldError(f'expected a line of kind "part" with schema {SCHEMA}', str(path), 1)
    if not isinstance(first, StartLine | CheckpointLine):
        raise FieldError('expected a line of kind "start" or "checkpoint"', str(path), 2)
    if first.replica < 0:
        raise FieldError("the client has no replica id, expected that of a controller or broker", str(path), 2)
    return Head(first.replica, part.client, part.number, str(path), first)


def decoded(raw: bytes, source: str, number: int) -> RawLine:
    """Return a line of a file.

    Raises:
        FieldError: it is none of the agent's.
    """
    try:
        return _DECODER.decode(raw)
    except msgspec.DecodeError as error:
        raise FieldError(f"{error}, expected a line of {SCHEMA}", source, number) from error


class ReplicaFiles:
    """Files of one replica, of which the newest one grows."""

    def __init__(self) -> None:
        """Begin without files."""
        self.heads: list[Head] = []
        """Files that are not begun, in their order."""
        self.current: Head | None = None
        self._file: GrowingFile | None = None

    @property
    def behind(self) -> int:
        """Number of bytes of the current file that are not read yet."""
        return 0 if self._file is None else self._file.behind

    def add(self, head: Head) -> None:
        """Add a file, unless an earlier watch has read it to its end."""
        if self.current is None or head.order > self.current.order:
            self.heads = sorted([*self.heads, head], key=lambda it: it.order)

    def resume(self, head: Head, position: Position) -> None:
        """Continue in a file at an earlier position."""
        self.current, self._file = head, GrowingFile(head.path, position)

    def read(self) -> tuple[bytes, Position]:
        """Return the next complete lines, with the position before them; no lines if there are none yet.

        Raises:
            UnreadableFileError: the operating system cannot read the file.
        """
        if self._file is None:
            return b"", Position("", None, 0, 0)
        growth = self._file.poll()
        return growth.lines, growth.begin

    def next_file(self) -> Head | None:
        """Begin the next file, and return it; None if there is none yet."""
        if not self.heads:
            return None
        if self._file is not None:
            self._file.close()
        self.current = self.heads.pop(0)
        self._file = GrowingFile(self.current.path)
        return self.current

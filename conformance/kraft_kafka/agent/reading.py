"""Files of the agent: those of a client, one after the other."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.raw import (
    SCHEMA,
    CheckpointLine,
    EndLine,
    PartLine,
    RawLine,
    StartLine,
    StoppedLine,
    WireLine,
)


class Stretch(NamedTuple):
    """Lines that follow each other in one file."""

    first: int
    """Index of its first line among the client's lines."""
    source: str
    number: int
    """Number of its first line in the file."""


class RawFile(Struct, frozen=True):
    """The lines of a client, of one file or several."""

    source: str
    start: StartLine | CheckpointLine
    """The first line; a checkpoint if the agent was attached later, or older files were deleted."""
    lines: tuple[RawLine, ...]
    """The lines after the first."""
    stretches: tuple[Stretch, ...]
    """Places of the lines, by ascending index; the first line has index 0."""

    def place(self, index: int) -> str:
        """Return file and number of a line, as `FILE:NUMBER`: 0 is the first line, 1 the first of `lines`."""
        stretch = next(it for it in reversed(self.stretches) if it.first <= index)
        return f"{stretch.source}:{stretch.number + index - stretch.first}"

    @property
    def is_closed(self) -> bool:
        """True if the client was closed, not killed."""
        return any(isinstance(line, EndLine) for line in self.lines)

    @property
    def wire_ids(self) -> dict[int, int] | None:
        """Correlation ids on the wire, by those of the client; None if it has no wire."""
        ids = {line.correlation_id: line.wire_id for line in self.lines if isinstance(line, WireLine)}
        return ids or None


class _Part(Struct, frozen=True):
    source: str
    head: PartLine
    lines: list[RawLine]
    """A start or a checkpoint, and the lines after it."""


_FIRST = 2
"""Number of the first line after the head of a file."""
_DECODER: msgspec.json.Decoder[RawLine] = msgspec.json.Decoder(RawLine)


def read_raw(paths: Iterable[Path]) -> list[RawFile]:
    """Read the files of clients; an incomplete last line, of a process that was killed, is ignored.

    Raises:
        CommandError: a file cannot be read, or a line is none of the agent's; the message has file, line and field.
    """
    parts = sorted((part for part in map(_read_part, paths) if part is not None), key=_place)
    files = [_joined(list(own)) for _, own in groupby(parts, lambda part: _place(part)[:2])]
    return [file for file in files if file is not None]


def _place(part: _Part) -> tuple[int, str, int]:
    first = part.lines[0]
    assert isinstance(first, StartLine | CheckpointLine), "the reader of a file has checked it"
    return first.replica, part.head.client, part.head.number


def _joined(parts: Sequence[_Part]) -> RawFile | None:
    """Return the lines of a client; None if it was killed before the checkpoint that its large log needs."""
    first = parts[0]
    start = first.lines[0]
    assert isinstance(start, StartLine | CheckpointLine), "the reader of a file has checked it"
    lines = list(first.lines)
    stretches = [Stretch(0, first.source, _FIRST)]
    for before, part in pairwise(parts):
        if part.head.number == before.head.number:
            detail = f"{part.source}: the same file of the same client as {before.source}"
            raise CommandError(detail, ExitCode.BAD_INPUT)
        if part.head.number > before.head.number + 1:
            lines.append(StoppedLine(f"files between {before.source} and {part.source} are missing"))
        stretches.append(Stretch(len(lines), part.source, _FIRST))
        lines += part.lines
    at = 0
    if isinstance(start, StartLine) and start.log is None:
        at = next((at for at, line in enumerate(lines) if isinstance(line, CheckpointLine)), 0)
        if not at:
            return None
        start = lines[at]
        assert isinstance(start, CheckpointLine), "it is one"
    places = tuple(stretch._replace(first=stretch.first - at) for stretch in stretches)
    return RawFile(first.source, start, tuple(lines[at + 1 :]), places)


def _read_part(path: Path) -> _Part | None:
    """Return the content of a file; None if the process was killed within the second line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", ExitCode.NO_INPUT) from error
    lines: list[RawLine] = []
    for number, text in enumerate(content.split(b"\n")[:-1], 1):
        try:
            lines.append(_DECODER.decode(text))
        except msgspec.DecodeError as error:
            raise CommandError(f"{path}:{number}: {error}, expected a line of {SCHEMA}", ExitCode.BAD_INPUT) from error
    head = lines[0] if lines else None
    if not isinstance(head, PartLine) or head.schema != SCHEMA:
        raise CommandError(f'{path}:1: expected a line of kind "part" with schema {SCHEMA}', ExitCode.BAD_INPUT)
    if len(lines) == 1:
        return None
    if not isinstance(lines[1], StartLine | CheckpointLine):
        raise CommandError(f'{path}:2: expected a line of kind "start" or "checkpoint"', ExitCode.BAD_INPUT)
    return _Part(str(path), head, lines[1:])

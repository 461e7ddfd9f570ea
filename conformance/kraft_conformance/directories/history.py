"""The history of a simulated quorum: a trace that is replayed to get the quorum back, and written anew as a whole."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from kraft_conformance.directories.errors import bad_file
from kraft_reference.cluster.occurrence import (
    AnswerUnsupportedVersion,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    Occurrence,
)
from kraft_reference.cluster.schedule import DEFECTS
from kraft_reference.cluster.world import ImpossibleMoveError, World
from kraft_reference.configuration import Configuration
from kraft_reference.events import Receive
from kraft_spec.fingerprint import spec_hash
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.errors import IncompleteLineError
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.own import own_generator
from kraft_traces.reader import open_trace
from kraft_traces.restore import crash_point_of, draw_of, event_of
from kraft_traces.streams import whole_file

WORKLOAD = "quorum"
"""What the header of a history names as its workload."""


@dataclass(frozen=True, slots=True)
class History:
    """Everything that a quorum has done."""

    configuration: Configuration
    seed: int
    lines: tuple[EventLine, ...]

    @property
    def with_a_past(self) -> frozenset[int]:
        """The nodes that something happened to beside not being started."""
        return frozenset(line.replica for line in self.lines if isinstance(line.replica, int) and line.event != "Crash")

    def directory_ids(self, node_id: int) -> frozenset[str]:
        """The directory ids that a node has had."""
        own = self.configuration.replicas[node_id].key.directory_id
        later = {
            line.input.directory_id
            for line in self.lines
            if line.replica == node_id and line.event == "ReplaceDisk" and line.input is not UNSET
        }
        return frozenset(known for known in {own, *later} if isinstance(known, str))

    def replayed(self, configuration: Configuration, on_occurrence: Callable[[Occurrence], None]) -> World:
        """The quorum after the last line, in a larger cluster."""
        world = World(configuration)
        for line in self.lines:
            on_occurrence(_repeat(world, line))
        return world


def read_history(source: Path) -> tuple[History, World]:
    """The history in a file, and the quorum that it leads to.

    Every line is compared with what the reference does, so that an altered history is noticed where it was altered.

    Raises:
        TraceError: the file is no trace.
        CommandError: it is not one of this reference; the message names the line.
    """
    lines: list[EventLine] = []
    with open_trace(source) as reader:
        seed = reader.header.generator.seed
        if reader.header.generator.workload != WORKLOAD or seed is None:
            raise bad_file(source, 1, "$.generator", f"expected the workload {WORKLOAD!r} and a seed")
        configuration = reader.configuration
        world = World(configuration)
        for line in reader:
            try:
                occurrence = _repeat(world, line)
            except (ImpossibleMoveError, ValueError, KeyError, IncompleteLineError, *DEFECTS) as error:
                raise bad_file(source, reader.line_number, None, f"cannot be replayed: {error}") from error
            if encode_line(event_line(occurrence)) != reader.raw_line:
                detail = "is not what the reference does here: the file was altered, or another version wrote it"
                raise bad_file(source, reader.line_number, None, detail)
            lines.append(line)
    return History(configuration, seed, tuple(lines)), world


def write_history(target: Path, history: History) -> None:
    """Write the whole history; the file changes in one step or not at all.

    Raises:
        OSError: the operating system refuses.
    """
    header = header_line(history.configuration, own_generator(history.seed, WORKLOAD), spec_hash=spec_hash())
    with whole_file(target) as stream:
        stream.write(encode_line(header))
        for line in history.lines:
            stream.write(encode_line(line))
        stream.write(encode_line(EndLine(len(history.lines), complete=True)))


def _repeat(world: World, line: EventLine) -> Occurrence:
    """Let the event of a line happen once more.

    Raises:
        IncompleteLineError: the line leaves something out.
        ImpossibleMoveError: it cannot happen here.
    """
    if not isinstance(line.time_ms, int):
        raise IncompleteLineError("$.time_ms")
    world.time_ms = line.time_ms
    event = event_of(line)
    match event:
        case DropMessage(identifier):
            return world.drop(identifier)
        case DuplicateMessage(identifier):
            return world.duplicate(identifier)
        case AnswerUnsupportedVersion(identifier):
            return world.answer_unsupported_version(identifier)
        case CutLink(source, destination):
            return world.cut(source, destination)
        case HealLink(source, destination):
            return world.heal(source, destination)
        case _:
            pass
    crash, draw = crash_point_of(line), draw_of(line)
    if isinstance(event, Receive):
        if line.message is UNSET:
            raise IncompleteLineError("$.message")
        return world.deliver(str(line.message.id), draw, crash)
    if not isinstance(line.replica, int):
        raise IncompleteLineError("$.replica")
    if crash is not None:
        return world.happen_and_crash(line.replica, event, crash.completed, crash.log_end_offset, draw)
    return world.happen(line.replica, event, draw)

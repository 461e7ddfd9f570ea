"""A node's own trace: each line precedes its effects, so that it has everything that other processes see.

Messages have no ids in it, because only the merge of all traces identifies them (`kraft-spec trace merge`).
"""

import time
from pathlib import Path

from msgspec import UNSET
from msgspec.json import decode
from msgspec.structs import replace

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.wire.trace_links import WITHOUT_KAFKA_FIELD
from kraft_reference.configuration import Configuration
from kraft_reference.events import Crash, Event, Receive
from kraft_reference.replica import Step
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedTruncateLog,
    TracedWriteSnapshot,
)
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EventLine, Generator, HeaderLine, Line, TracedCrash
from kraft_traces.message_types import CHANGE_ANSWERS, message_type
from kraft_traces.states import traced_state

GENERATOR = Generator("kraft-spec-node", "1", None, None)


def now_ms() -> int:
    """Return milliseconds of a monotonic clock that all processes of a host share."""
    return time.monotonic_ns() // 1_000_000


class NodeTrace:
    """Appends to a trace file; an existing file is from an earlier process of the node, which was killed."""

    def __init__(self, path: Path, configuration: Configuration, formatted: ReplicaState) -> None:
        """Open the file.

        Args:
            path: path of the file.
            configuration: the configuration for the header.
            formatted: the current state on disk.

        Raises:
            CommandError: the file is no trace of a node.
        """
        self._sequence = 0
        self.is_new = not path.exists()
        """True if the node has never run before."""
        lines = [] if self.is_new else path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            # The process died while it wrote the line, so no other process has seen the event.
            lines.pop()
        header = header_line(configuration, GENERATOR)
        if lines:
            _, *events = self._add_crash(path, lines, formatted)
            lines = [encode_line(_merge_headers(lines[0], header)), *events]
        else:
            lines = [encode_line(header)]
        self._sequence = len(lines) - 1
        # Replaced atomically, because a node may be killed while it starts.
        staged = path.with_name(f"{path.name}.tmp")
        staged.write_bytes(b"".join(lines))
        staged.replace(path)
        self._file = path.open("ab", buffering=0)
        self._id = formatted.key.id

    def _add_crash(self, path: Path, lines: list[bytes], formatted: ReplicaState) -> list[bytes]:
        """Return the lines with a crash; the last line's effects are those that the disk has."""
        try:
            last = decode(lines[-1], type=Line)
        except ValueError as error:
            raise CommandError(f"{path}:{len(lines)}: {error}", ExitCode.BAD_INPUT) from error
        if not isinstance(last, EventLine) or last.state is UNSET or last.effects is UNSET:
            return lines
        if last.replica != formatted.key.id:
            detail = f"tells of replica {last.replica}, expected the trace of node {formatted.key.id} alone"
            raise CommandError(f"{path}:{len(lines)}: {detail}", ExitCode.BAD_INPUT)
        durable = [effect for effect in last.effects if isinstance(effect, _DURABLE)]
        end = formatted.log.end_offset
        completed = len(durable)
        while completed and not _has(durable[completed - 1], formatted):
            completed -= 1
        if last.state.role == "Stopped":
            return lines
        if completed < len(durable):
            shortened = replace(
                last, effects=last.effects[:completed], crash=TracedCrash(completed, end), state=traced_state(formatted)
            )
            return [*lines[:-1], encode_line(shortened)]
        crash = Occurrence(len(lines), now_ms(), Crash(end), formatted.key.id, state=formatted)
        return [*lines, encode_line(event_line(crash))]

    def write(self, event: Event, done: Step) -> None:
        """Write the line of an event, before its effects."""
        self._sequence += 1
        identifier = "0.0" if isinstance(event, Receive) else None
        line = event_line(
            Occurrence(
                self._sequence, now_ms(), event, self._id, identifier, done.effects, done.refusal, None, done.state
            )
        )
        self._file.write(encode_line(_without_ids(line)))

    def close(self) -> None:
        """Close the file; the trace has no last line, since the node may start again."""
        self._file.close()


def _merge_headers(line: bytes, header: HeaderLine) -> HeaderLine:
    """Return the header of an earlier process, with this process's bootstrap servers added."""
    earlier = decode(line, type=HeaderLine)
    servers = {*earlier.bootstrap_servers, *header.bootstrap_servers}
    replicas = {new.id: new for new in header.replicas if new.id in servers} | {old.id: old for old in earlier.replicas}
    return replace(
        earlier,
        replicas=tuple(replicas[number] for number in sorted(replicas)),
        bootstrap_servers=tuple(sorted(servers)),
    )


_DURABLE = (TracedPersistQuorumState, TracedWriteSnapshot, TracedTruncateLog, TracedAppendRecords, TracedFlushLog)


def _has(effect: TracedEffect, disk: ReplicaState) -> bool:
    """True if the disk has a step's durable effect, given that no later effect follows it."""
    match effect:
        case TracedPersistQuorumState(epoch=epoch, leader_id=leader, voted_key=voted):
            # The file of version 0 has no directory id.
            ids = [None if key is None else key.id for key in (voted, disk.voted_key)]
            return (epoch, leader, ids[0]) == (disk.epoch, disk.leader_id, ids[1])
        case TracedAppendRecords(base_offset=base, records=records):
            return disk.log.end_offset >= base + len(records)
        case TracedTruncateLog(end_offset=end):
            return disk.log.end_offset <= end
        case TracedWriteSnapshot(snapshot=snapshot):
            return disk.log.base.end_offset == snapshot.end_offset
        case _:
            return True


def _without_ids(line: EventLine) -> EventLine:
    """Return the line without message ids, which only the merged trace has."""
    if line.message is UNSET:
        return line
    # Kafka's responses to voter changes lack these fields: the node's own values say nothing about the sender.
    name = message_type(line.message)
    missing = WITHOUT_KAFKA_FIELD.get(name, ()) if isinstance(line.message, CHANGE_ANSWERS) else ()
    return replace(line, cause=UNSET, message=replace(line.message, id=UNSET, **dict.fromkeys(missing, UNSET)))

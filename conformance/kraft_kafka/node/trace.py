"""A node's own trace: a line before what it tells of is carried out, so that whatever others see is in it.

Messages have no ids in it: who sent what to whom, only all traces together say (`kraft-spec trace merge`).
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
from kraft_traces.message_types import CHANGE_ANSWERS, type_of
from kraft_traces.states import traced_state

GENERATOR = Generator("kraft-spec-node", "1", None, None)


def now_ms() -> int:
    """Milliseconds of a clock that all processes of a host share and nobody sets."""
    return time.monotonic_ns() // 1_000_000


class NodeTrace:
    """Appends to a file; a file that is there already is that of an earlier process of the node, which was killed."""

    def __init__(self, path: Path, configuration: Configuration, formatted: ReplicaState) -> None:
        """Open it.

        Args:
            path: of the file.
            configuration: for the header.
            formatted: the state that the disk has now.

        Raises:
            CommandError: the file is no trace of a node.
        """
        self._sequence = 0
        self.is_new = not path.exists()
        """Has the node never run before?"""
        lines = [] if self.is_new else path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            # The process died while it wrote the line: nobody has seen anything of that event.
            lines.pop()
        header = header_line(configuration, GENERATOR)
        if lines:
            _, *events = self._after_a_crash(path, lines, formatted)
            lines = [encode_line(_continued(lines[0], header)), *events]
        else:
            lines = [encode_line(header)]
        self._sequence = len(lines) - 1
        # Whole or as it was: a node may be killed while it starts.
        staged = path.with_name(f"{path.name}.tmp")
        staged.write_bytes(b"".join(lines))
        staged.replace(path)
        self._file = path.open("ab", buffering=0)
        self._id = formatted.key.id

    def _after_a_crash(self, path: Path, lines: list[bytes], formatted: ReplicaState) -> list[bytes]:
        """The lines, with what the disk says of the last one, and the crash."""
        try:
            last = decode(lines[-1], type=Line)
        except ValueError as error:
            raise CommandError(f"{path}:{len(lines)}: {error}", ExitCode.BAD_INPUT) from error
        if not isinstance(last, EventLine) or last.state is UNSET or last.effects is UNSET:
            return lines
        if last.replica != formatted.key.id:
            said = f"tells of replica {last.replica}, expected the trace of node {formatted.key.id} alone"
            raise CommandError(f"{path}:{len(lines)}: {said}", ExitCode.BAD_INPUT)
        durable = [one for one in last.effects if isinstance(one, _DURABLE)]
        end = formatted.log.end_offset
        done = len(durable)
        while done and not _has(durable[done - 1], formatted):
            done -= 1
        if last.state.role == "Stopped":
            return lines
        if done < len(durable):
            cut = replace(
                last, effects=last.effects[:done], crash=TracedCrash(done, end), state=traced_state(formatted)
            )
            return [*lines[:-1], encode_line(cut)]
        crash = Occurrence(len(lines), now_ms(), Crash(end), formatted.key.id, state=formatted)
        return [*lines, encode_line(event_line(crash))]

    def write(self, event: Event, done: Step) -> None:
        """The line of an event, before its effects."""
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


def _continued(line: bytes, header: HeaderLine) -> HeaderLine:
    """The header of an earlier process, with the bootstrap servers that this process found as well."""
    earlier = decode(line, type=HeaderLine)
    servers = {*earlier.bootstrap_servers, *header.bootstrap_servers}
    replicas = {one.id: one for one in header.replicas if one.id in servers} | {one.id: one for one in earlier.replicas}
    return replace(
        earlier,
        replicas=tuple(replicas[number] for number in sorted(replicas)),
        bootstrap_servers=tuple(sorted(servers)),
    )


_DURABLE = (TracedPersistQuorumState, TracedWriteSnapshot, TracedTruncateLog, TracedAppendRecords, TracedFlushLog)


def _has(effect: TracedEffect, disk: ReplicaState) -> bool:
    """Is a durable effect of a step, which is not followed by others, on the disk?"""
    match effect:
        case TracedPersistQuorumState(epoch=epoch, leader_id=leader, voted_key=voted):
            # The file of version 0 has no directory id.
            ids = [None if one is None else one.id for one in (voted, disk.voted_key)]
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
    """The line without ids of messages, which only the merged trace can give."""
    if line.message is UNSET:
        return line
    # What the node takes for the fields that Kafka's answers to changes lack says nothing of the sender.
    name = type_of(line.message)
    missing = WITHOUT_KAFKA_FIELD.get(name, ()) if isinstance(line.message, CHANGE_ANSWERS) else ()
    return replace(line, cause=UNSET, message=replace(line.message, id=UNSET, **dict.fromkeys(missing, UNSET)))

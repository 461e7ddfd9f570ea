"""A run of the reference as its processes would have written it: one trace each, without ids of messages."""

from collections.abc import Callable, Collection, Mapping
from itertools import count
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace
from tests.traces.checkpointed import FOREIGN, Checkpointed

from kraft_traces.effects import TracedSend
from kraft_traces.encode import encode_line
from kraft_traces.lines import EventLine
from kraft_traces.merge import merge
from kraft_traces.message_types import TracedMessage, is_request
from kraft_traces.process_trace import read_process_trace
from kraft_traces.vocabulary import STARTS

Processes = Mapping[int, list[EventLine]]
"""The event lines of each replica, numbered from 1."""


def processes_of(run: Checkpointed) -> Processes:
    """The lines of each replica of a run in which no message is doubled."""
    own: dict[int, list[EventLine]] = {}
    for line in run.events:
        assert line.event not in ("DuplicateMessage", "AnswerUnsupportedVersion")
        if line.replica is not UNSET:
            lines = own.setdefault(line.replica, [])
            lines.append(replace(_changed(line, _without_id), sequence=len(lines) + 1, cause=UNSET))
    return own


def with_ids_anew(processes: Processes) -> Processes:
    """The same of software that counts its requests from 1 after each start, and shows no states."""
    ids: dict[tuple[object, object], int] = {}
    for replica, lines in processes.items():
        following = count(1)
        for line in lines:
            if line.event in STARTS:
                following = count(1)
            for effect in line.effects or ():
                if isinstance(effect, TracedSend) and is_request(effect.message):
                    ids[replica, effect.message.correlation_id] = next(following)

    def anew(message: TracedMessage) -> TracedMessage:
        asker = message.source if is_request(message) else message.destination
        return replace(message, correlation_id=ids[asker, message.correlation_id])

    return {
        replica: [replace(_changed(line, anew), state=UNSET) for line in lines] for replica, lines in processes.items()
    }


def _changed(line: EventLine, change: Callable[[TracedMessage], TracedMessage]) -> EventLine:
    if line.message is not UNSET:
        line = replace(line, message=change(line.message))
    if line.effects is not UNSET:
        effects = [
            TracedSend(change(effect.message)) if isinstance(effect, TracedSend) else effect for effect in line.effects
        ]
        line = replace(line, effects=tuple(effects))
    return line


def _without_id(message: TracedMessage) -> TracedMessage:
    return replace(message, id=UNSET)


def write_traces(
    folder: Path, run: Checkpointed, processes: Processes, without: Collection[tuple[int, int]] = ()
) -> list[Path]:
    """Write the trace of each replica, without some lines by replica and sequence."""
    paths = []
    for replica, lines in sorted(processes.items()):
        path = folder / f"{replica}.jsonl"
        kept = [encode_line(line) for line in lines if (replica, line.sequence) not in without]
        path.write_bytes(run.header(FOREIGN) + b"".join(kept))
        paths.append(path)
    return paths


def merged(paths: Collection[Path]) -> bytes:
    """The traces of these files as one."""
    return b"".join(merge([read_process_trace(path) for path in paths]))

"""Correlation ids of a process that begins again with the same ones, told apart.

Kafka counts its requests from the start of a process; in a trace of all processes a request is known by its id.
"""

import dataclasses
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.runner.plain import tag_of
from kraft_traces.effects import TracedSend
from kraft_traces.inference.sightings import Sighting
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.process_trace import ProcessTrace

_LIFE = 1 << 32
"""More requests than a life has."""

Starts = Mapping[int, Sequence[int]]
"""When the processes of a replica that nobody sees into were started, in milliseconds, by its id."""


def passed_by_life(passed: Sequence[Sighting], starts: Starts) -> list[Sighting]:
    """The messages that passed, each at its place, with ids that no two lives of a replica share."""
    made: list[Sighting] = []
    for one in passed:
        if one.request is not None:
            id_ = made[one.request].message.correlation_id
        else:
            id_ = bisect_right(starts.get(one.source, ()), one.time_ms) * _LIFE + int(one.message.correlation_id)
        made.append(one._replace(message=replace(one.message, correlation_id=id_)))
    return made


def trace_by_life(
    trace: ProcessTrace, passed: Sequence[Sighting], made: Sequence[Sighting], starts: Starts
) -> ProcessTrace:
    """The trace of a node with these ids in place of those that it saw.

    A request of this id may have passed in each life of its sender: it is the last that had passed by then.
    """
    passes: dict[tuple[str, int, int, int], list[tuple[int, int]]] = defaultdict(list)
    for old, new in zip(passed, made, strict=True):
        if old.request is None and old.source in starts:
            key = (old.type, old.source, old.destination, int(old.message.correlation_id))
            passes[key].append((old.time_ms, int(new.message.correlation_id)))
    asked: dict[tuple[str, int, int], int] = {}
    events = []
    for number, line in trace.events:
        message = line.message
        if message is not UNSET and message.source in starts and tag_of(message).endswith("Request"):
            key = (tag_of(message), int(message.source), int(message.destination), int(message.correlation_id))
            before = [id_ for time_ms, id_ in passes[key] if line.time_ms is not UNSET and time_ms <= line.time_ms]
            if before:
                asked[_subject(message), int(message.source), int(message.correlation_id)] = before[-1]
                line = replace(line, message=replace(message, correlation_id=before[-1]))
        events.append((number, _answered(line, asked)))
    return dataclasses.replace(trace, events=events)


def _answered(line: EventLine, asked: Mapping[tuple[str, int, int], int]) -> EventLine:
    """The line with the ids of the requests in the answers that it sends."""
    if line.effects is UNSET:
        return line
    effects = []
    for effect in line.effects:
        if isinstance(effect, TracedSend) and tag_of(effect.message).endswith("Response"):
            message = effect.message
            key = (_subject(message), int(message.destination), int(message.correlation_id))
            effect = TracedSend(replace(message, correlation_id=asked.get(key, message.correlation_id)))
        effects.append(effect)
    return replace(line, effects=tuple(effects))


def _subject(message: TracedMessage) -> str:
    return tag_of(message).removesuffix("Request").removesuffix("Response")

"""Unique correlation ids across the restarts of a process.

Kafka numbers its requests from the start of a process, but a trace of all processes identifies a request by its id.
"""

import dataclasses
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.runner.plain import tag_of
from kraft_traces.effects import TracedSend
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.process_trace import ProcessTrace

_LIFE = 1 << 32
"""More than the number of requests between two restarts."""

Starts = Mapping[int, Sequence[int]]
"""Start times of the processes of each opaque replica, in milliseconds, by id."""


def passed_by_life(passed: Sequence[CapturedMessage], starts: Starts) -> list[CapturedMessage]:
    """Return the captured messages, in order, with ids that are unique across a replica's restarts."""
    renumbered: list[CapturedMessage] = []
    for it in passed:
        if it.request is not None:
            id_ = renumbered[it.request].message.correlation_id
        else:
            id_ = bisect_right(starts.get(it.source, ()), it.time_ms) * _LIFE + int(it.message.correlation_id)
        renumbered.append(it._replace(message=replace(it.message, correlation_id=id_)))
    return renumbered


def trace_by_life(
    trace: ProcessTrace, passed: Sequence[CapturedMessage], made: Sequence[CapturedMessage], starts: Starts
) -> ProcessTrace:
    """Return a node's trace with these unique ids instead of the original ones.

    The sender may have sent a request with this id after each restart: it is the last one that had passed by then.
    """
    passes: dict[tuple[str, int, int, int], list[tuple[int, int]]] = defaultdict(list)
    for old, new in zip(passed, made, strict=True):
        if old.request is None and old.source in starts:
            key = (old.type, old.source, old.destination, int(old.message.correlation_id))
            passes[key].append((old.time_ms, int(new.message.correlation_id)))
    requests: dict[tuple[str, int, int], int] = {}
    events = []
    for number, line in trace.events:
        message = line.message
        if message is not UNSET and message.source in starts and tag_of(message).endswith("Request"):
            key = (tag_of(message), int(message.source), int(message.destination), int(message.correlation_id))
            before = [id_ for time_ms, id_ in passes[key] if line.time_ms is not UNSET and time_ms <= line.time_ms]
            if before:
                requests[_subject(message), int(message.source), int(message.correlation_id)] = before[-1]
                line = replace(line, message=replace(message, correlation_id=before[-1]))
        events.append((number, _renumber_responses(line, requests)))
    return dataclasses.replace(trace, events=events)


def _renumber_responses(line: EventLine, requests: Mapping[tuple[str, int, int], int]) -> EventLine:
    """Return the line with the unique ids in the responses that it sends."""
    if line.effects is UNSET:
        return line
    effects = []
    for effect in line.effects:
        if isinstance(effect, TracedSend) and tag_of(effect.message).endswith("Response"):
            message = effect.message
            key = (_subject(message), int(message.destination), int(message.correlation_id))
            effect = TracedSend(replace(message, correlation_id=requests.get(key, message.correlation_id)))
        effects.append(effect)
    return replace(line, effects=tuple(effects))


def _subject(message: TracedMessage) -> str:
    return tag_of(message).removesuffix("Request").removesuffix("Response")

"""Files of the agent as one kraft-trace/1 in causal order: each replica's own order, and sent before received."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.api_versions import add_api_versions
from kraft_kafka.agent.drafts import Begin
from kraft_kafka.agent.events import ReplicaEvents
from kraft_kafka.agent.located import LineError, check_start
from kraft_kafka.agent.opening import (
    configuration_of,
    facts_of,
    first_starts,
    is_fresh,
    opening_checkpoint,
    state_at,
    static_snapshot,
)
from kraft_kafka.agent.peers import Peers, peers_of
from kraft_kafka.agent.raw import CheckpointLine as RawCheckpoint
from kraft_kafka.agent.reading import RawFile
from kraft_reference.configuration import Configuration
from kraft_traces.checkpoint_types import CheckpointLine, own_id
from kraft_traces.checkpoints import checkpoint_line, traced_replica_state
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EndLine, EventLine, Generator, HeaderLine
from kraft_traces.merge import Merging
from kraft_traces.process_trace import MergeError, ProcessTrace

GENERATOR = "kraft-spec-agent"


@dataclass(frozen=True, slots=True)
class Joined:
    """A trace of files of the agent."""

    lines: Sequence[bytes]
    unjudged: str | None
    """Reason why the trace ends before the files do: something that has no event of the model."""
    unnamed_requests: int
    """Number of requests without a replica id, as of a tool, which have no event."""


def join(files: Sequence[RawFile], profile: str | None) -> Iterator[bytes]:
    """Yield the lines of the trace; the events of replicas without a file are missing.

    Args:
        files: the files.
        profile: name of the profile; None for that of the Kafka in the first file.

    Raises:
        CommandError: the files are of different clusters, have bytes that cannot be decoded, or a message is received
            before it is sent; the message has file and field.
    """
    files = sorted(files, key=lambda file: file.start.time_us)
    _check_files(files)
    # A replica that is observed from its middle on was there before, and so may others be.
    has_opaque = any(isinstance(file.start, RawCheckpoint) for file in files)
    peers = peers_of(files)
    replicas = replica_events(files, peers if has_opaque else None)
    for events in replicas.values():
        if events.failure is not None:
            raise CommandError(events.failure, ExitCode.BAD_INPUT)
    add_api_versions(replicas)
    yield from _lines(files, replicas, peers, profile, is_opaque=has_opaque)


def join_with_opaque(files: Sequence[RawFile], profile: str | None) -> Joined:
    """Return the trace in which replicas without a file are declared as not observed.

    Raises:
        As `join`.
    """
    files = sorted(files, key=lambda file: file.start.time_us)
    _check_files(files)
    peers = peers_of(files)
    replicas = replica_events(files, peers)
    add_api_versions(replicas)
    failures = (events.failure for events in replicas.values() if events.failure is not None)
    unnamed = sum(events.unnamed_requests for events in replicas.values())
    return Joined(tuple(_lines(files, replicas, peers, profile, is_opaque=True)), next(failures, None), unnamed)


def _lines(
    files: Sequence[RawFile],
    replicas: Mapping[int, ReplicaEvents],
    peers: Peers,
    profile: str | None,
    *,
    is_opaque: bool,
) -> Iterator[bytes]:
    own = {file.start.replica for file in files}
    sources = {
        draft.message["source"] for events in replicas.values() for draft in events.events if draft.message is not None
    }
    others = (peers.ids | sources) - own
    start_us = files[0].start.time_us
    starts, static = first_starts(files), static_snapshot(file.start for file in files)
    unobserved = {id_: peers.configuration(id_) for id_ in others}
    configuration = configuration_of(starts, static, facts_of(files), unobserved, profile)
    begins = {id_: events.events[0].begin for id_, events in replicas.items() if events.events}
    opening = {id_: begin for id_, begin in begins.items() if begin is not None and begin.line.time_us == start_us}
    later = {id_ for id_, begin in begins.items() if begin is not None and id_ not in opening}
    opaque = (frozenset(configuration.replicas) - own) | later if is_opaque else frozenset()
    checkpoint = opening_checkpoint(starts, configuration, opening, is_needed=is_opaque)
    header = header_of(configuration, files[0].start.kafka, opaque)
    for id_ in opening:
        replicas[id_].events[0].begin = None
    traces = [
        process_trace(id_, events, header, files, configuration, start_us)
        for id_, events in sorted(replicas.items())
        if events.events
    ]
    yield encode_line(header)
    if checkpoint is not None:
        yield encode_line(observed_part(checkpoint_line(checkpoint), opaque))
    count = 0
    try:
        merging = Merging(traces, opaque)
        for line in merging.lines():
            count += isinstance(line, EventLine)
            yield encode_line(line)
    except MergeError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    is_complete = not merging.has_unrecorded and all(trace.is_complete for trace in traces)
    yield encode_line(EndLine(count, is_complete))


def header_of(configuration: Configuration, kafka: str | None, opaque: frozenset[int]) -> HeaderLine:
    """Return the header, which declares the replicas that are not observed."""
    generator = Generator(GENERATOR, kafka or "unknown", None, None)
    header = header_line(configuration, generator, kip_levels={})
    replicas = [replace(it, observed=False) if it.id in opaque else it for it in header.replicas]
    return replace(header, replicas=tuple(replicas), timeouts=UNSET, kip_levels=UNSET)


def observed_part(line: CheckpointLine, opaque: frozenset[int]) -> CheckpointLine:
    """Return a checkpoint without the states of replicas that are not observed, and without its unknown history."""
    if not opaque:
        return line
    observed = tuple(it for it in line.replicas if own_id(it) not in opaque)
    return replace(line, replicas=observed, history=UNSET)


def _check_files(files: Sequence[RawFile]) -> None:
    first = files[0]
    for file in files:
        if file.start.replica < 0:
            detail = (
                f"{file.source}:1: $.replica: the client has no replica id, expected that of a controller or broker"
            )
            raise CommandError(detail, ExitCode.BAD_INPUT)
        if file.start.cluster_id != first.start.cluster_id:
            expected = f"expected {first.start.cluster_id} as in {first.source}"
            detail = f"{file.source}:1: $.cluster_id: {expected}, got {file.start.cluster_id}"
            raise CommandError(detail, ExitCode.BAD_INPUT)
        check_start(file.place(0), file.start)


def replica_events(
    files: Sequence[RawFile], peers: Peers | None, others: Mapping[str, int] | None = None
) -> Mapping[int, ReplicaEvents]:
    """Return the events of each replica with a file.

    Args:
        files: the files, in the order of their starts.
        peers: replicas without a file that are not observed; None if there are none.
        others: ids of replicas that write their own traces, by their endpoints.
    """
    endpoints: dict[str | None, int] = {file.start.endpoint: file.start.replica for file in files}
    endpoints.update(others or {})
    static = static_snapshot(file.start for file in files)
    begins_fresh = peers is None and all(map(is_fresh, first_starts(files).values()))

    def find_replica(node: int, endpoint: str) -> int | None:
        if node < 0 and peers is not None:
            return endpoints.get(endpoint, peers.id_at(endpoint))
        return node if node >= 0 else endpoints.get(endpoint)

    replicas: dict[int, ReplicaEvents] = {}
    for id_, own in groupby(sorted(files, key=lambda file: file.start.replica), lambda file: file.start.replica):
        events = ReplicaEvents(id_, find_replica, static, has_opaque=peers is not None)
        disk: tuple[int, str] | None = None
        for file in own:
            try:
                events.read(file, begins_fresh and disk is None, disk)
            except LineError as error:
                events.fail(str(error))
                break
            disk = (events.log_end_offset, file.start.directory_id)
            events.is_killed = not file.is_closed
        replicas[id_] = events
    return replicas


def process_trace(
    replica: int,
    events: ReplicaEvents,
    header: HeaderLine,
    files: Sequence[RawFile],
    configuration: Configuration,
    start_us: int,
) -> ProcessTrace:
    """Return the events of a replica as a trace of its own, whose time begins at `start_us` of the files' clock."""
    own = [file for file in files if file.start.replica == replica]
    lines: list[tuple[int, EventLine]] = []
    for number, draft in enumerate(events.events, 1):
        try:
            lines.append((number, draft.line(number, replica, start_us)))
        except msgspec.ValidationError as error:
            raise LineError(draft.place, f"{draft.event} has a value that a trace cannot have: {error}") from error
    return ProcessTrace(
        ", ".join(file.source for file in own),
        header,
        lines,
        places=[draft.place for draft in events.events],
        gaps={index: draft.gap for index, draft in enumerate(events.events) if draft.gap is not None},
        is_over=events.gap is None,
        kills=events.kills,
        checkpoints={
            index: begin_checkpoint(draft.begin, configuration, start_us)
            for index, draft in enumerate(events.events)
            if draft.begin is not None
        },
    )


def begin_checkpoint(begin: Begin, configuration: Configuration, start_us: int) -> CheckpointLine:
    """Return the checkpoint from which on a replica is observed; its sequence is set where it is merged."""
    state = traced_replica_state(state_at(begin, configuration))
    time_ms = max(0, begin.line.time_us - start_us) // 1000
    return CheckpointLine(0, time_ms, (state,), (), (), observed=(begin.line.replica,))

"""Controllers with an agent in a quorum whose other replicas write their own traces: one trace of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import UNSET, to_builtins

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent.api_versions import VersionsAnswer, add_api_versions
from kraft_kafka.agent.joining import process_trace, replica_events
from kraft_kafka.agent.opening import agent_profile
from kraft_kafka.agent.reading import RawFile
from kraft_reference.configuration import Configuration
from kraft_traces.deliveries import sends_of
from kraft_traces.lines import EventLine
from kraft_traces.message_types import message_type
from kraft_traces.process_trace import ProcessTrace, merged_header
from kraft_traces.restore import configuration_of


def with_controllers(
    nodes: Sequence[ProcessTrace], files: Sequence[RawFile], clock_offset_us: int
) -> tuple[Configuration, list[ProcessTrace]]:
    """Return the cluster, and the traces of all its replicas.

    Args:
        nodes: traces of the replicas that write them; one was formatted with the voters.
        files: files of the other replicas, all of which are voters.
        clock_offset_us: the files' clock minus that of the traces, in microseconds.

    Raises:
        CommandError: the files have something that has no event.
        MergeError: the nodes' headers contradict each other.
    """
    header = merged_header(nodes)
    cluster = configuration_of(header)
    files = sorted(files, key=lambda file: file.start.time_us)
    cluster = replace(cluster, profile=agent_profile(cluster.profile))
    events = replica_events(files, None, {replica.endpoint: id_ for id_, replica in cluster.replicas.items()})
    for replica in events.values():
        if replica.failure is not None:
            raise CommandError(replica.failure, ExitCode.BAD_INPUT)
    answers = [it for node in nodes for it in _versions_answers(node, clock_offset_us) if it.answer["source"] in events]
    add_api_versions(events, answers)
    controllers = [
        process_trace(id_, it, header, files, cluster, clock_offset_us) for id_, it in sorted(events.items())
    ]
    return cluster, [*nodes, *controllers]


def _versions_answers(node: ProcessTrace, clock_offset_us: int) -> Iterator[VersionsAnswer]:
    """Yield the responses with supported versions that a node has received."""
    sent: dict[tuple[object, object], EventLine] = {}
    for number, line in node.events:
        for _, message in sends_of(line):
            if message_type(message) == "ApiVersionsRequest":
                sent[message.destination, message.correlation_id] = line
        answer = line.message
        if answer is not UNSET and message_type(answer) == "ApiVersionsResponse":
            asking = sent.get((answer.source, answer.correlation_id))
            if asking is not None and asking.time_ms is not UNSET and line.time_ms is not UNSET:
                sent_us, received_us = (it * 1000 + clock_offset_us for it in (asking.time_ms, line.time_ms))
                yield VersionsAnswer(sent_us, received_us, to_builtins(answer), f"{node.source}:{number}")

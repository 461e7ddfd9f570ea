"""Comparison of the nodes' files with the messages that passed before and after they were read.

A replica writes epoch, leader, vote and records before it sends a message that depends on them.
So a file that is read after such a message has at least the state in the message.
"""

from collections.abc import Iterator, Sequence

from kraft_kafka.live.captured import Fault, FileReading
from kraft_kafka.live.start import Start
from kraft_kafka.wire.disk_files import LOG, QUORUM_STATE, on_disk
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.quorum_state import decode_quorum_state
from kraft_reference.messages import Error
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedVoteRequest, TracedVoteResponse

_WRITE = "durable.write-before-act"
_VOTE = "vote.once-per-epoch"
_LOG = "durable.flush-before-fetch"


def disk_faults(readings: Sequence[FileReading], messages: Sequence[CapturedMessage], start: Start) -> Iterator[Fault]:
    """Yield the files that contradict the messages, and unreadable files."""
    files: dict[int, dict[str, bytes]] = {}
    last_log = {reading.node: reading.line for reading in readings if reading.name.endswith(LOG)}
    for reading in readings:
        held = files.setdefault(reading.node, {})
        held[reading.name] = reading.content
        sent = [sighting for sighting in messages[: reading.place] if sighting.source == reading.node]
        try:
            if reading.name == QUORUM_STATE:
                details = [*_check_quorum_state(reading, sent, messages)]
            elif last_log.get(reading.node) == reading.line:
                details = [*_check_log(reading, held, sent, messages, start)]
            else:
                continue
        except WireError as error:
            yield Fault(reading.line, reading.time_ms, reading.node, f"{reading.name}: {error}", is_violation=False)
            continue
        for detail in dict.fromkeys(details):
            text = f"{reading.name}: {detail}"
            yield Fault(reading.line, reading.time_ms, reading.node, text, is_violation=True)


def _check_quorum_state(
    reading: FileReading, sent: Sequence[CapturedMessage], messages: Sequence[CapturedMessage]
) -> Iterator[str]:
    """Yield contradictions between a file quorum-state and the messages of its node before it was read."""
    fields = decode_quorum_state(reading.content.decode(errors="replace"))
    epoch, voted, leader = fields["leaderEpoch"], fields["votedId"], fields["leaderId"]
    newest = max((it.message.epoch for it in sent if isinstance(getattr(it.message, "epoch", None), int)), default=0)
    if epoch < newest:
        yield f"leaderEpoch: expected {newest} or more, actual {epoch} (rule {_WRITE})"
    # A node that knows the leader may have erased its vote: it grants no other vote in the epoch.
    forgotten = () if leader < 0 else (-1,)
    for candidate in _find_votes(reading.node, epoch, messages[: reading.place], messages):
        if voted not in (candidate, *forgotten):
            yield f"votedId: expected {candidate} in epoch {epoch}, actual {voted} (rule {_WRITE})"
    for candidate in _find_votes(reading.node, epoch, messages[reading.place :], messages):
        if voted not in (-1, candidate):
            yield f"votedId: expected {candidate} in epoch {epoch}, actual {voted} (rule {_VOTE})"
    leaders = {message.source for message in messages if _is_from_leader(message) and message.message.epoch == epoch}
    if leader >= 0 and leaders and leader not in leaders:
        yield f"leaderId: expected {min(leaders)} in epoch {epoch}, actual {leader} (rule {_WRITE})"


def _find_votes(
    node: int, epoch: int, among: Sequence[CapturedMessage], messages: Sequence[CapturedMessage]
) -> Iterator[int]:
    """Yield the candidates that a node votes for in an epoch, including itself."""
    for sighting in among:
        message = sighting.message
        if sighting.source != node or getattr(message, "epoch", None) != epoch:
            continue
        if isinstance(message, TracedVoteRequest) and not message.pre_vote:
            yield node
        elif isinstance(message, TracedVoteResponse) and message.granted and sighting.request is not None:
            request = messages[sighting.request]
            if isinstance(request.message, TracedVoteRequest) and not request.message.pre_vote:
                yield request.source


def _is_from_leader(sighting: CapturedMessage) -> bool:
    """True for a message that only the leader of its epoch sends."""
    is_fetch = isinstance(sighting.message, TracedFetchResponse) and sighting.message.error is Error.NONE
    return is_fetch or sighting.type == "BeginQuorumEpochRequest"


def _check_log(
    reading: FileReading,
    files: dict[str, bytes],
    sent: Sequence[CapturedMessage],
    messages: Sequence[CapturedMessage],
    start: Start,
) -> Iterator[str]:
    """Yield contradictions between a log and the newest Fetch of its node before it was read."""
    configuration = start.configuration
    key = configuration.replicas[reading.node].key
    disk = on_disk(key, files, configuration.checkpoint(reading.node))
    if sum(len(it.raw) for it in disk.batches) < sum(len(raw) for name, raw in files.items() if name.endswith(LOG)):
        # The file was read while a batch was written.
        return
    log = disk.state.log
    fetch = next((message for message in reversed(sent) if isinstance(message.message, TracedFetchRequest)), None)
    if fetch is None:
        return
    answers = [response.message for response in messages if response.request == fetch.number]
    if any(getattr(it, "diverging_epoch", -1) != -1 or getattr(it, "snapshot_epoch", -1) != -1 for it in answers):
        # The node truncates or replaces its log.
        return
    offset, last_epoch = fetch.message.fetch_offset, fetch.message.last_epoch
    if log.end_offset < offset:
        yield f"end of the log: expected {offset} or more, actual {log.end_offset} (rule {_LOG})"
    elif log.start_offset < offset and (epoch := log.record(offset - 1).epoch) != last_epoch:
        yield f"epoch at offset {offset - 1}: expected {last_epoch}, actual {epoch} (rule {_LOG})"

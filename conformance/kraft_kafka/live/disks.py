"""Files of the nodes, as they were read while messages passed, compared with these messages.

A replica writes epoch, leader, vote and records before it sends a message that depends on them.
So a file that is read after such a message passed holds at least what the message shows.
"""

from collections.abc import Iterator, Sequence

from kraft_kafka.live.captured import Fault, FileReading
from kraft_kafka.live.start import Start
from kraft_kafka.wire.disk_files import LOG, QUORUM_STATE, on_disk
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.quorum_state import decode_quorum_state
from kraft_reference.messages import Error
from kraft_traces.inference.sightings import Sighting
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedVoteRequest, TracedVoteResponse

_WRITE = "durable.write-before-act"
_VOTE = "vote.once-per-epoch"
_LOG = "durable.flush-before-fetch"


def disk_faults(readings: Sequence[FileReading], seen: Sequence[Sighting], start: Start) -> Iterator[Fault]:
    """Yield the files that contradict the messages, and those that cannot be read."""
    files: dict[int, dict[str, bytes]] = {}
    last_log = {one.node: one.line for one in readings if one.name.endswith(LOG)}
    for reading in readings:
        held = files.setdefault(reading.node, {})
        held[reading.name] = reading.content
        mine = [one for one in seen[: reading.place] if one.source == reading.node]
        try:
            if reading.name == QUORUM_STATE:
                details = [*_of_quorum_state(reading, mine, seen)]
            elif last_log.get(reading.node) == reading.line:
                details = [*_of_log(reading, held, mine, seen, start)]
            else:
                continue
        except WireError as error:
            yield Fault(reading.line, reading.time_ms, reading.node, f"{reading.name}: {error}", is_violation=False)
            continue
        for detail in dict.fromkeys(details):
            said = f"{reading.name}: {detail}"
            yield Fault(reading.line, reading.time_ms, reading.node, said, is_violation=True)


def _of_quorum_state(reading: FileReading, mine: Sequence[Sighting], seen: Sequence[Sighting]) -> Iterator[str]:
    """Yield the contradictions between a file quorum-state and the messages of its node before it was read."""
    said = decode_quorum_state(reading.content.decode(errors="replace"))
    epoch, voted, leader = said["leaderEpoch"], said["votedId"], said["leaderId"]
    shown = max((one.message.epoch for one in mine if isinstance(getattr(one.message, "epoch", None), int)), default=0)
    if epoch < shown:
        yield f"leaderEpoch: expected {shown} or more, actual {epoch} (rule {_WRITE})"
    # A node that knows the leader votes for nobody else, with or without its vote on disk.
    kept = () if leader < 0 else (-1,)
    for candidate in _votes(reading.node, epoch, seen[: reading.place], seen):
        if voted not in (candidate, *kept):
            yield f"votedId: expected {candidate} in epoch {epoch}, actual {voted} (rule {_WRITE})"
    for candidate in _votes(reading.node, epoch, seen[reading.place :], seen):
        if voted not in (-1, candidate):
            yield f"votedId: expected {candidate} in epoch {epoch}, actual {voted} (rule {_VOTE})"
    leaders = {one.source for one in seen if _leads(one) and one.message.epoch == epoch}
    if leader >= 0 and leaders and leader not in leaders:
        yield f"leaderId: expected {min(leaders)} in epoch {epoch}, actual {leader} (rule {_WRITE})"


def _votes(node: int, epoch: int, among: Sequence[Sighting], seen: Sequence[Sighting]) -> Iterator[int]:
    """Yield the candidates for whom a node votes in an epoch, itself included."""
    for one in among:
        message = one.message
        if one.source != node or getattr(message, "epoch", None) != epoch:
            continue
        if isinstance(message, TracedVoteRequest) and not message.pre_vote:
            yield node
        elif isinstance(message, TracedVoteResponse) and message.granted and one.request is not None:
            asked = seen[one.request]
            if isinstance(asked.message, TracedVoteRequest) and not asked.message.pre_vote:
                yield asked.source


def _leads(one: Sighting) -> bool:
    """True for a message that only the leader of its epoch sends."""
    is_fetch = isinstance(one.message, TracedFetchResponse) and one.message.error is Error.NONE
    return is_fetch or one.type == "BeginQuorumEpochRequest"


def _of_log(
    reading: FileReading,
    held: dict[str, bytes],
    mine: Sequence[Sighting],
    seen: Sequence[Sighting],
    start: Start,
) -> Iterator[str]:
    """Yield the contradictions between a log and the newest Fetch of its node before it was read."""
    configuration = start.configuration
    key = configuration.replicas[reading.node].key
    disk = on_disk(key, held, configuration.checkpoint(reading.node))
    if sum(len(one.raw) for one in disk.batches) < sum(len(raw) for name, raw in held.items() if name.endswith(LOG)):
        # The file was read while a batch was written.
        return
    log = disk.state.log
    fetch = next((one for one in reversed(mine) if isinstance(one.message, TracedFetchRequest)), None)
    if fetch is None:
        return
    answers = [one.message for one in seen if one.request == fetch.number]
    if any(getattr(one, "diverging_epoch", -1) != -1 or getattr(one, "snapshot_epoch", -1) != -1 for one in answers):
        # The node truncates its log, or replaces it.
        return
    offset, last_epoch = fetch.message.fetch_offset, fetch.message.last_epoch
    if log.end_offset < offset:
        yield f"end of the log: expected {offset} or more, actual {log.end_offset} (rule {_LOG})"
    elif log.start_offset < offset and (epoch := log.record(offset - 1).epoch) != last_epoch:
        yield f"epoch at offset {offset - 1}: expected {last_epoch}, actual {epoch} (rule {_LOG})"

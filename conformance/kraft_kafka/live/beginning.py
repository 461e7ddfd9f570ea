"""Captures that began after the quorum had elected a leader."""

from collections.abc import Sequence

from kraft_kafka.live.start import Start
from kraft_reference.messages import Error
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.message_types import TracedVoteRequest

_LEADING = frozenset(("BeginQuorumEpochRequest", "FetchResponse"))


def leader_without_election(messages: Sequence[CapturedMessage], start: Start) -> tuple[int, int] | None:
    """Return a leader and its epoch that began before the capture; None if every election is recorded.

    No replica leads an epoch again after a restart.
    An epoch above the epochs on disk at the start began later, whichever replica led it.
    """
    if len(start.configuration.voters) < 2:
        return None
    candidates: set[tuple[int, int]] = set()
    oldest: int | None = None
    for sighting in messages:
        message = sighting.message
        epoch = getattr(message, "epoch", None)
        if not isinstance(epoch, int):
            continue
        oldest = epoch if oldest is None else oldest
        if isinstance(message, TracedVoteRequest) and not message.pre_vote:
            candidates.add((sighting.source, epoch))
        # A restarted leader is Resigned: it names itself as leader and rejects every Fetch.
        is_leader = sighting.type in _LEADING and getattr(message, "error", Error.NONE) is Error.NONE
        start_epoch = oldest if start.checkpoint is None else start.checkpoint.replicas[sighting.source].epoch
        if is_leader and (sighting.source, epoch) not in candidates and epoch <= start_epoch:
            return sighting.source, epoch
    return None

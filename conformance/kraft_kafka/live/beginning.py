"""Captures that began while the quorum ran."""

from collections.abc import Sequence

from kraft_kafka.live.start import Start
from kraft_reference.messages import Error
from kraft_traces.inference.sightings import Sighting
from kraft_traces.message_types import TracedVoteRequest

_LEADING = frozenset(("BeginQuorumEpochRequest", "FetchResponse"))


def leader_without_election(seen: Sequence[Sighting], start: Start) -> tuple[int, int] | None:
    """Return a leader and its epoch that began before the capture; None if every election is recorded.

    No replica leads an epoch again after a restart.
    An epoch that the disks did not know at the start began later, whoever led it.
    """
    if len(start.configuration.voters) < 2:
        return None
    stood: set[tuple[int, int]] = set()
    oldest: int | None = None
    for one in seen:
        message = one.message
        epoch = getattr(message, "epoch", None)
        if not isinstance(epoch, int):
            continue
        oldest = epoch if oldest is None else oldest
        if isinstance(message, TracedVoteRequest) and not message.pre_vote:
            stood.add((one.source, epoch))
        # A leader that was restarted is Resigned: it names itself and refuses every Fetch.
        is_leader = one.type in _LEADING and getattr(message, "error", Error.NONE) is Error.NONE
        known = oldest if start.checkpoint is None else start.checkpoint.replicas[one.source].epoch
        if is_leader and (one.source, epoch) not in stood and epoch <= known:
            return one.source, epoch
    return None

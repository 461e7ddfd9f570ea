"""Earliest time at which a replica's timer can have fired.

A message is recorded after its sender sent it, and before its receiver handles it.
So an event is later than every message that the replica has handled by then, and earlier than every message that it
sends afterwards.
Only lower bounds are checked, because a paused process may handle its timers arbitrarily late.

Rules: state.timers.random, fetch.timer, end-quorum.handle, state.candidate.lost.
"""

from typing import NamedTuple

from kraft_reference.messages import Error
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.vocabulary import HANDLE

TIMERS = frozenset(("ElectionTimeout", "FetchTimeout"))
"""Events that a timer causes.

CheckQuorumTimeout is not among them, because it also represents other reasons to resign, such as a shutdown.
"""
_FETCHED = frozenset(("FetchResponse", "FetchSnapshotResponse"))


class LeastTimeouts(NamedTuple):
    """Shortest durations of a replica's timers."""

    election_ms: float
    fetch_ms: float
    request_ms: float


class Clock(NamedTuple):
    """Lower bounds at a replica, on the recorder's clock."""

    now_ms: float = 0
    """Time of the newest event."""
    fires_ms: float = 0
    """Time of the next election or fetch timeout."""

    def at(self, event: str, handled: CapturedMessage | None) -> "Clock":
        """Return the clock at an event that handles this message."""
        reached = self.fires_ms if event in TIMERS else 0 if handled is None else handled.time_ms
        return self._replace(now_ms=max(self.now_ms, reached))

    def after(
        self, event: str, before: str, after: str, handled: CapturedMessage | None, least: LeastTimeouts
    ) -> "Clock":
        """Return the clock after an event that leads from one role to another.

        A replica may restart a timer more often than assumed here, never less often, so the bound stays a lower one.

        Args:
            event: name of the event.
            before: role before it.
            after: role after it.
            handled: the message that it handled; None if the replica ignored it.
            least: the replica's shortest timeouts.
        """
        fires = self.fires_ms
        message = None if handled is None else handled.message
        if event == "Restart":
            # At the beginning of the capture, the process may have run for a long time.
            started = self.now_ms > 0
            fires = self.now_ms + min(least.election_ms, least.fetch_ms) if started else 0
        elif event == f"{HANDLE}EndQuorumEpochRequest" or after == "Leader":
            fires = 0
        elif after == "Follower":
            is_fetched = (
                handled is not None and handled.type in _FETCHED and getattr(message, "error", None) is Error.NONE
            )
            if before != "Follower" or is_fetched:
                fires = self.now_ms + least.fetch_ms
        elif after == "Candidate" and getattr(message, "granted", None) is False:
            # A Candidate that lost waits for a random backoff.
            fires = 0
        elif after == "Unattached":
            # An inherited timer goes on running.
            fires = self.now_ms + least.election_ms if before == "Leader" else fires
            if before == "Follower":
                fires = min(fires, self.now_ms + least.election_ms)
        elif before != after or event == "ElectionTimeout":
            fires = self.now_ms + least.election_ms
        return self._replace(fires_ms=fires)

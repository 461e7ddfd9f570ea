"""What one replica waits for: its timers, its next poll, its next Fetch."""

from kraft_reference.effects import TIMERS, Timer
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter, other_voters


class Pending:
    """The plans of one replica that still count; all others in the agenda were given up.

    A plan counts while its due time is the one noted here.
    """

    __slots__ = ("asks_from_ms", "fetch_due_ms", "has_fetched", "poll_due_ms", "step_due_ms", "timers")

    def __init__(self) -> None:
        self.timers: dict[Timer, int] = {}
        """When each running timer fires."""
        self.poll_due_ms: int | None = None
        """When the election requests that are due go out."""
        self.fetch_due_ms: int | None = None
        """When the next Fetch goes out."""
        self.step_due_ms: int | None = None
        """When a Leader takes the next step of a reassignment."""
        self.has_fetched = False
        """Has a Fetch gone out since the last request about voters?"""
        self.asks_from_ms = 0
        """Before that time no further request about voters goes out."""

    def stop_timers(self, state: ReplicaState) -> None:
        """Forget the timers that do not run in the role of `state`.  Rule: observer.states."""
        allowed = TIMERS[state.role]
        if state.role is Role.UNATTACHED and not is_voter(state):
            allowed = ()
        for timer in tuple(self.timers):
            if timer not in allowed:
                del self.timers[timer]

    def stop_idle_timers(self, state: ReplicaState) -> None:
        """Forget the timers of a Leader that have nothing to wait for, in place of letting them fire for nothing.

        Rules: check-quorum.sole-voter, add-voter.timeout.
        """
        if state.role is not Role.LEADER:
            return
        if state.pending_change is None:
            self.timers.pop(Timer.VOTER_CHANGE, None)
        if not other_voters(state):
            self.timers.pop(Timer.CHECK_QUORUM, None)
            self.timers.pop(Timer.BEGIN_QUORUM_EPOCH, None)

    def clear(self) -> None:
        """The process ended."""
        self.timers.clear()
        self.poll_due_ms = self.fetch_due_ms = self.step_due_ms = None
        self.has_fetched = False
        self.asks_from_ms = 0

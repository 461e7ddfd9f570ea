"""EventualLeader: if a majority stays connected, eventually there is a Leader it follows.

Owed when the voters that run include a majority, of each set that can decide something, all of whose members are
linked to each other (`Remaining`), and
no other voter can hold office on Fetches whose answers get lost (`Remaining.led_in_vain`).
Kept by any leader that a majority follows and can talk to: it may be another majority, because a voter outside of
the connected one can be linked to enough others to be elected, and whoever cannot reach it is then left out.
"""

from kraft_simulation.liveness.overdue import Overdue, overdue_of
from kraft_simulation.liveness.remaining import Remaining
from kraft_simulation.liveness.standing import Standing

BOUND_TIMEOUTS = 60
"""In election timeouts T.

An election that comes to nothing costs at most 4 T: its own wait of less than 2 T, then a backoff of 1 T and the
wait of whoever is next.
How many do is a matter of chance, because the waits are drawn: what is left of an old epoch costs the first two or
three (a fetch timeout and a check-quorum period each), and 12 further ones in a row do not happen by chance."""


class EventualLeader:
    """Waits for a leader with a majority behind it."""

    def __init__(self, remaining: Remaining, standing: Standing, timeout_ms: int) -> None:
        self._standing = standing
        self._bound_ms = BOUND_TIMEOUTS * timeout_ms
        self._owed_since_ms = 0
        self.owed = False
        """Does the property promise anything here?"""
        self.update(remaining, 0)

    def update(self, remaining: Remaining, now_ms: int) -> None:
        """Take in what remains, at first and after a change of a voters set."""
        owed = remaining.connected_majority() is not None and not remaining.led_in_vain()
        if owed and not self.owed:
            self._owed_since_ms = now_ms
        self.owed = owed

    def is_open(self) -> bool:
        """Is there no such leader now?"""
        return self.owed and self._standing.leadership is None

    def waiting(self, now_ms: int) -> Overdue | None:
        """What is waited for, and for how long by now."""
        if not self.is_open():
            return None
        waited_for = "a leader that a majority follows and can talk to"
        return Overdue(None, waited_for, now_ms - max(self._standing.since_ms, self._owed_since_ms))

    def overdue(self, now_ms: int) -> Overdue | None:
        """Was there no such leader for longer than the bound?"""
        return overdue_of(self.waiting(now_ms), self._bound_ms)

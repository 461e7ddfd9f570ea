"""NoPingPong: two voters that can reach each other and form a majority do not refuse each other's Pre-Votes for ever.

Two voters are a majority of two or three.
Kept as soon as one of the pair grants the other a Pre-Vote, or at least one of them asks no more, because it follows
a leader.
That one refuses the other for ever is allowed: it has the longer log, or a leader that the other cannot reach.
"""

from itertools import combinations, permutations

from kraft_reference.events import Receive
from kraft_reference.messages import VoteResponse
from kraft_simulation.liveness.overdue import Overdue
from kraft_simulation.liveness.remaining import Remaining
from kraft_simulation.occurrence import Occurrence

BOUND_TIMEOUTS = 12
"""In election timeouts T.

Each asks at least once in 4 T: it is Follower for one fetch timeout (2 T) and Prospective for less than 2 T.
After the first such turn nothing that an old leader left behind justifies a refusal, and the voter with the longer
log is granted at the next; one more turn is to spare."""

_Pair = tuple[int, int]


class NoPingPong:
    """Watches the refusals between the voters of each pair that is a connected majority."""

    def __init__(self, remaining: Remaining, timeout_ms: int) -> None:
        self._bound_ms = BOUND_TIMEOUTS * timeout_ms
        self._refusals: dict[_Pair, tuple[int, int]] = {}
        """By who asked and who refused: when first since the last grant between them, and when last."""
        self.update(remaining)

    def update(self, remaining: Remaining) -> None:
        """Take in what remains, at first and after a change of a voters set."""
        self._pairs = [
            pair
            for pair in combinations(sorted(remaining.voters), 2)
            if remaining.is_majority(pair) and remaining.linked(*pair)
        ]
        self._watched = {way for pair in self._pairs for way in permutations(pair)}
        self._refusals = {way: times for way, times in self._refusals.items() if way in self._watched}

    def observe(self, occurrence: Occurrence) -> None:
        """Take in the answer to a Pre-Vote."""
        event = occurrence.event
        if type(event) is not Receive or type(event.message) is not VoteResponse or not event.message.pre_vote:
            return
        answer = event.message
        way = (answer.destination, answer.source)
        if way not in self._watched:
            return
        if answer.granted:
            self._refusals.pop(way, None)
            self._refusals.pop((answer.source, answer.destination), None)
        else:
            first_ms, _ = self._refusals.get(way, (occurrence.time_ms, 0))
            self._refusals[way] = (first_ms, occurrence.time_ms)

    def overdue(self, now_ms: int) -> Overdue | None:
        """Have two voters refused each other for longer than the bound, both until the end of it?"""
        for one, other in self._pairs:
            asked, answered = self._refusals.get((one, other)), self._refusals.get((other, one))
            if asked is None or answered is None:
                continue
            mutual_ms = min(asked[1], answered[1]) - max(asked[0], answered[0])
            if mutual_ms > self._bound_ms:
                waited_for = f"a Pre-Vote granted between the voters {one} and {other}, which refuse each other"
                return Overdue(one, waited_for, mutual_ms)
        return None

"""Checks of durations over a whole run: random, bounded, and ordered.

The checks cover the timers that the replicas of an implementation have shown in a run:

- state.timers.random (SHOULD): election timers do not all have the same length.
- state.candidate.lost: a Candidate that lost waits at most the longest backoff, or the longest election timer that it
  has shown.
- end-quorum.handle: a Follower further behind in the list of preferred candidates waits longer, and one that is not
  listed waits longest.

Growing backoff is not required: KIP-996 calls it unneeded.  Nor is any backoff.
"""

from dataclasses import dataclass

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Effect, StartTimer, Timer
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.identity import ReplicaKey, addresses
from kraft_reference.messages import EndQuorumEpochRequest
from kraft_reference.state import ReplicaState
from kraft_spec.rules import Level
from kraft_traces.effects import TracedEffect, TracedStartTimer

STARTS = 16
"""Starts of election timers that are judged: with four lengths or more, the chance of equal ones is below 10^-9."""


@dataclass(frozen=True, slots=True)
class WrongDurations:
    """Violation of a rule about durations."""

    text: str
    rule: str
    level: Level = "MUST"


class Durations:
    """Observed timers of the replicas of an implementation.

    Attributes:
        waits_ms: waits of Followers whose leader resigns, by the number of preferred candidates and the position
            among them; the position after the last for a Follower that is not listed.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._backoff_max_ms = configuration.timeouts.election_backoff_max_ms
        self._election_ms: list[int] = []
        """Election timers with a newly drawn length."""
        self.waits_ms: dict[tuple[int, int], list[int]] = {}
        self._too_long: WrongDurations | None = None

    def note_step(
        self,
        before: ReplicaState,
        event: Event,
        draw: Draw,
        wanted: tuple[Effect, ...],
        actual: tuple[TracedEffect, ...],
    ) -> None:
        """Record the durations of a step that is otherwise correct."""
        message = event.message if isinstance(event, Receive) else None
        lengths = {effect.timer: effect.duration_ms for effect in actual if isinstance(effect, TracedStartTimer)}
        for effect in wanted:
            if not isinstance(effect, StartTimer) or effect.timer not in lengths:
                continue
            length_ms = lengths[effect.timer]
            if isinstance(message, EndQuorumEpochRequest) and effect.timer is Timer.FETCH:
                candidates = message.preferred_candidates
                self.waits_ms.setdefault((len(candidates), _place(before.key, candidates)), []).append(length_ms)
            elif effect == StartTimer(Timer.ELECTION, draw.election_timeout_ms):
                self._election_ms.append(length_ms)
            elif effect == StartTimer(Timer.ELECTION, draw.election_backoff_ms):
                self._note_backoff(length_ms)

    def _note_backoff(self, length_ms: int) -> None:
        longest_ms = max(self._backoff_max_ms, *self._election_ms, 0)
        if length_ms > longest_ms and self._election_ms and self._too_long is None:
            text = f"a Candidate that lost waits {length_ms} ms, where the longest wait is {longest_ms} ms"
            self._too_long = WrongDurations(text, "state.candidate.lost")

    def find_violation(self) -> WrongDurations | None:
        """Return a violation, of a MUST before a SHOULD; None if there is none."""
        if self._too_long is not None:
            return self._too_long
        return self._wrong_order() or self._wrong_chance()

    def _wrong_order(self) -> WrongDurations | None:
        for (number, place), waits in self.waits_ms.items():
            for (other_number, behind), longer in self.waits_ms.items():
                # The last ones may all wait the longest time, but the second must wait less than they do.
                is_wrong = max(longer) <= min(waits) if place <= 1 else max(longer) < min(waits)
                if other_number == number and behind > place and is_wrong:
                    text = (
                        f"a Follower waits {min(waits)} ms at place {place + 1} of {number} preferred candidates "
                        f"and {max(longer)} ms " + ("at place " + str(behind + 1) if behind < number else "in no place")
                    )
                    return WrongDurations(text, "end-quorum.handle")
        return None

    def _wrong_chance(self) -> WrongDurations | None:
        if len(self._election_ms) < STARTS or len(set(self._election_ms)) > 1:
            return None
        text = f"the election timer was started {len(self._election_ms)} times, each time for {self._election_ms[0]} ms"
        return WrongDurations(text, "state.timers.random", "SHOULD")


def _place(key: ReplicaKey, candidates: tuple[ReplicaKey, ...]) -> int:
    """Return the position from 0; after the last if the key is not listed."""
    return next((place for place, candidate in enumerate(candidates) if addresses(candidate, key)), len(candidates))

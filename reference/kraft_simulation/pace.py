"""How soon a replica repeats what it asks for: the waits between its requests."""

from kraft_reference.configuration import Timeouts
from kraft_reference.events import Receive
from kraft_reference.messages import ChangeResponse, FetchResponse, FetchSnapshotResponse
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.agenda import Chance
from kraft_simulation.occurrence import Occurrence

RETRY_BACKOFF_MS = 100
"""How long a replica waits before it repeats requests after an answer that it could not use."""

CHANGE_BACKOFF_MS = 500
"""How long a follower waits at least between two requests about voters; a Fetch goes out in between, too."""

STEP_WAIT_MS_MAX = 100
"""How long a leader that may take a step of a reassignment thinks about it at most."""

WRITE_MS_MAX = 20
"""How long a follower takes at most to write and sync what it fetched; a crash in between loses some of it."""


def fetch_wait_ms(before: ReplicaState, occurrence: Occurrence, chance: Chance, timeouts: Timeouts) -> int:
    """A new Follower fetches at once, one whose last Fetch brought something as soon as that is written."""
    event, state = occurrence.event, occurrence.state
    assert state is not None, "an event of a replica leaves a state"
    if isinstance(event, Receive):
        if isinstance(event.message, (FetchResponse, FetchSnapshotResponse)):
            if state.log is not before.log:
                return chance.between(0, WRITE_MS_MAX)
            # Rules: fetch.response.common, snapshot.load-resets-history.
            if state.wanted_snapshot is not None and before.wanted_snapshot != state.wanted_snapshot:
                return 0
        # The connection was in use for something else; what a Follower lives on is its Fetch.
        elif isinstance(event.message, ChangeResponse):
            return 0
    follows_anew = state.role is Role.FOLLOWER and (
        before.role is not Role.FOLLOWER or before.epoch != state.epoch or before.leader_id != state.leader_id
    )
    return 0 if follows_anew else timeouts.fetch_interval_ms

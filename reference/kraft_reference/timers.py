"""Event of each timer."""

from kraft_reference.effects import Timer
from kraft_reference.events import (
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ElectionTimeout,
    Event,
    FetchTimeout,
    VoterChangeTimeout,
)

# Separate from `effects`, of which the mutation tests load a second copy.
TIMER_EVENTS: dict[Timer, Event] = {
    Timer.ELECTION: ElectionTimeout(),
    Timer.FETCH: FetchTimeout(),
    Timer.CHECK_QUORUM: CheckQuorumTimeout(),
    Timer.BEGIN_QUORUM_EPOCH: BeginQuorumEpochTimeout(),
    Timer.VOTER_CHANGE: VoterChangeTimeout(),
}

"""What a step leaves open, because the rule behind it says SHOULD or MAY: read off the step itself."""

from collections.abc import Sequence

from msgspec import UNSET

from kraft_reference.effects import Timer
from kraft_reference.roles import Role
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.latitude.values import Latitude
from kraft_traces.message_types import TracedVoteResponse
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import EventName


def latitude_of(
    event: EventName, before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> tuple[Latitude, ...]:
    """The latitude of a step.

    A replica that casts a vote and keeps its role need not restart its election timer.
    A Candidate that cannot win any more may wait out the election timer that it has.
    Rules: vote.grant.resets-timer, state.candidate.lost.
    """
    if changes.role is not UNSET:
        return ()
    if event == "HandleVoteResponse" and before.role == Role.CANDIDATE:
        reason = "state.candidate.lost leaves open how it waits"
    elif any(map(_casts_vote, outputs)):
        reason = "vote.grant.resets-timer says SHOULD"
    else:
        return ()
    return tuple(
        [
            Latitude(f"outputs[{place}]", reason, absent=True)
            for place, output in enumerate(outputs)
            if isinstance(output, TracedStartTimer) and output.timer is Timer.ELECTION
        ]
    )


def _casts_vote(output: TracedEffect) -> bool:
    message = output.message if isinstance(output, TracedSend) else None
    return isinstance(message, TracedVoteResponse) and message.granted is True and message.pre_vote is False

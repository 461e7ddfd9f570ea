"""What a step leaves open, because the rule behind it says SHOULD: read off the step itself."""

from collections.abc import Sequence

from msgspec import UNSET

from kraft_conformance.vectors.format import Latitude
from kraft_reference.effects import Timer
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import TracedState
from kraft_traces.message_types import TracedVoteResponse


def latitude_of(outputs: Sequence[TracedEffect], changes: TracedState) -> tuple[Latitude, ...]:
    """The latitude of a step.

    A replica that casts a vote and keeps its role need not restart its election timer.
    Rule: vote.grant.resets-timer.
    """
    if changes.role is not UNSET or not any(map(_casts_vote, outputs)):
        return ()
    return tuple(
        [
            Latitude(f"outputs[{place}]", "vote.grant.resets-timer says SHOULD", absent=True)
            for place, output in enumerate(outputs)
            if isinstance(output, TracedStartTimer) and output.timer is Timer.ELECTION
        ]
    )


def _casts_vote(output: TracedEffect) -> bool:
    message = output.message if isinstance(output, TracedSend) else None
    return isinstance(message, TracedVoteResponse) and message.granted is True and message.pre_vote is False

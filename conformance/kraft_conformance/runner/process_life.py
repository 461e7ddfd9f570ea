"""What an implementation says of its process: that it has ended, and that its loop turns with nothing to do."""

from msgspec import UNSET, UnsetType

from kraft_conformance.runner.shown import Shown
from kraft_spec.difference import Difference
from kraft_traces.state_types import TracedState


def ended(died: str | UnsetType) -> tuple[Difference, ...]:
    """The difference of a process that has ended by itself."""
    return () if died is UNSET else (Difference("died", "a running process", died),)


def turns_idly(observation: Shown, before: TracedState | UnsetType) -> tuple[Difference, ...]:
    """The difference of a loop that was polled, did nothing, and wants to be polled again at once.

    Nothing has changed, so the next poll does nothing either, and so on until a message comes: a timer that has fired
    is polled again without an event.  Who does not show a state may have changed it: that is not judged.
    """
    if (
        observation.poll_again_ms != 0
        or observation.effects
        or observation.state is UNSET
        or before != observation.state
    ):
        return ()
    return (Difference("poll_again_ms", "more than 0 where nothing is due", "0"),)

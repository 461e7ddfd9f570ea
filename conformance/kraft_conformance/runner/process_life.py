"""Differences in the life of the process: it has ended, or its poll loop spins without work."""

from msgspec import UNSET, UnsetType

from kraft_conformance.runner.shown import Observation
from kraft_spec.difference import Difference
from kraft_traces.state_types import TracedState


def death_differences(died: str | UnsetType) -> tuple[Difference, ...]:
    """Return the difference of a process that has ended by itself."""
    return () if died is UNSET else (Difference("died", "a running process", died),)


def idle_loop_differences(observation: Observation, before: TracedState | UnsetType) -> tuple[Difference, ...]:
    """Return the difference of a loop that was polled, did nothing, and wants to be polled again at once.

    The next poll would do nothing either: the loop spins until a message arrives.  It is judged only if the adapter
    shows its state, which otherwise may have changed.
    """
    if (
        observation.poll_again_ms != 0
        or observation.effects
        or observation.state is UNSET
        or before != observation.state
    ):
        return ()
    return (Difference("poll_again_ms", "more than 0 where nothing is due", "0"),)

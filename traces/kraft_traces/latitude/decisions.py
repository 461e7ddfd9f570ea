"""Open decisions: points at which the rules allow another answer than the profile's, to any replica at any time.

Whatever an implementation answers, the state that it then is in decides what comes later.
So nothing that comes later is loosened: it is judged from that state on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, get_args, get_type_hints

from kraft_reference.configuration import Configuration
from kraft_reference.profile import Profile
from kraft_traces.vocabulary import EventName


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A field of `Profile` whose other answers are right as well."""

    name: str
    reason: str
    """The rule that leaves it open, and what it says of it."""
    events: frozenset[EventName]
    """Those in which a replica may have to answer it."""

    @property
    def answers(self) -> tuple[str, ...]:
        """All that there are."""
        return get_args(get_type_hints(Profile)[self.name])


OPEN_DECISIONS: tuple[OpenDecision, ...] = (
    OpenDecision(
        "end_quorum_fetched_flag",
        "end-quorum.frees-followers says SHOULD",
        frozenset(("HandleEndQuorumEpochRequest",)),
    ),
)
"""Every one.  A decision whose other answer breaks a MUST is not here, whichever profile has it."""


def other_configurations(configuration: Configuration, event: EventName) -> Iterator[Configuration]:
    """The configuration with other answers to the open decisions, every combination that may matter in an event."""
    for profile in _other_profiles(configuration.profile, event):
        yield replace(configuration, profile=profile)


def taken(ours: Profile, theirs: Profile) -> tuple[str, ...]:
    """The open decisions that two profiles answer differently, as `name: answer` of the second."""
    names = [one.name for one in OPEN_DECISIONS]
    return tuple([f"{name}: {getattr(theirs, name)}" for name in names if getattr(ours, name) != getattr(theirs, name)])


def _other_profiles(profile: Profile, event: EventName) -> Iterator[Profile]:
    asked = [one for one in OPEN_DECISIONS if event in one.events]
    for answers in product(*[one.answers for one in asked]):
        chosen: dict[str, Any] = dict(zip([one.name for one in asked], answers, strict=True))
        other = replace(profile, **chosen)
        if other != profile:
            yield other

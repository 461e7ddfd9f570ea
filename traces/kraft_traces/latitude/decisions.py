"""Open decisions: points at which the rules allow another answer than the profile's, to any replica at any time.

Whatever an implementation answers, the state that it then is in decides what comes later.
So nothing that comes later is loosened: it is judged from that state on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple, get_args, get_type_hints

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_reference.profile import Profile
from kraft_traces.vocabulary import EventName

_TYPES = get_type_hints(Profile)


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """A field of `Profile` whose other answers are right as well."""

    name: str
    reason: str
    """The rule that leaves it open, and what it says of it."""
    events: frozenset[EventName]
    """Those in which a replica may have to answer it."""
    shown_by: str = ""
    """The field of the state that shows the answer: where it is hidden the profile's answer counts, because what comes
    later need not tell the answers apart, and a checker would have to follow all of them."""
    effects_show_it: bool = False
    """Whether the effects of the event show the answer as well: what was sent says to whom."""

    @property
    def answers(self) -> tuple[str, ...]:
        """All that there are."""
        return get_args(_TYPES[self.name])


class OpenAnswer(NamedTuple):
    """An answer to an open decision."""

    decision: str
    answer: str
    reason: str
    """That of the decision."""


# Votes make a leader; a sole voter is one as soon as it stands, for whatever reason.
_LEADS: tuple[EventName, ...] = ("ElectionTimeout", "FetchTimeout", "HandleVoteRequest", "HandleVoteResponse")
_RESIGNS: tuple[EventName, ...] = ("AdvanceReassignment", "CheckQuorumTimeout", "HandleFetchRequest", "Shutdown")

OPEN_DECISIONS: tuple[OpenDecision, ...] = (
    OpenDecision(
        "announced_to",
        "begin-quorum.resend says to whom at least",
        frozenset(("Poll",)),
        shown_by="awaiting",
        effects_show_it=True,
    ),
    OpenDecision("announcement_again", "begin-quorum.resend gives no period", frozenset(("RequestTimeout",))),
    OpenDecision(
        "diverging_cut",
        "fetch.diverging.truncate: nothing beyond that end agrees, and what stays of it goes at the next Fetch",
        frozenset(("HandleFetchResponse",)),
    ),
    OpenDecision(
        "end_quorum_fetched_flag",
        "end-quorum.frees-followers says SHOULD",
        frozenset(("HandleEndQuorumEpochRequest",)),
    ),
    OpenDecision(
        "leader_high_watermark",
        "hw.own-epoch lets a leader publish nothing until then; what it knows, and a Resigned, is left open",
        frozenset(("Restart", *_LEADS, *_RESIGNS)),
    ),
    OpenDecision(
        "own_vote_at_restart",
        "durable.restart.voted-self allows Candidate, Prospective and Unattached",
        frozenset(("Restart",)),
    ),
    OpenDecision(
        "unanswered_fetch",
        "KIP-853 says whom to ask while no leader is known, and nothing of a leader that does not answer",
        frozenset(("RequestTimeout",)),
        shown_by="searching",
    ),
    OpenDecision("voted_directory_at_version_0", "durable.vote.v0-uuid-in-memory says MAY", frozenset(("Restart",))),
    OpenDecision("vote_of_lost_file", "durable.restart.log-epoch says SHOULD", frozenset(("Restart",))),
)
"""Every one.  A decision whose other answer breaks a MUST is not here, whichever profile has it."""


_OPEN_EVENTS = frozenset[EventName]().union(*[one.events for one in OPEN_DECISIONS])

ROLES_THAT_ASK: Mapping[EventName, str] = {
    **dict.fromkeys((*_LEADS, "Poll"), "Leader"),
    **dict.fromkeys(_RESIGNS, "Resigned"),
}
"""Some events ask only a replica that has this role after them."""


def is_open(event: EventName, message: object, state: object = UNSET) -> bool:
    """May an event ask for an answer to any of them?  A Fetch response only where it diverges, or shows nothing of it.

    Args:
        event: its name.
        message: the reference's or a traced one that arrives in it; anything else without one.
        state: the reference's or a traced one after it, as far as it is known.
    """
    role = getattr(state, "role", UNSET)
    return (
        event in _OPEN_EVENTS
        and getattr(message, "diverging_epoch", UNSET) != -1
        and (role is UNSET or ROLES_THAT_ASK.get(event, role) == role)
    )


def other_configurations(
    configuration: Configuration, event: EventName, message: object, state: object = UNSET, effects: object = UNSET
) -> Iterator[Configuration]:
    """The configuration with other answers to the open decisions that an event may ask for.

    Every combination, those first that differ least.  Event, message and state are those of `is_open`; `effects` are
    those of the event, if they are known.
    """
    if not is_open(event, message, state):
        return
    for profile in _other_profiles(configuration.profile, _asked(event, state, effects)):
        yield replace(configuration, profile=profile)


@cache
def every_open_answer(profile: Profile) -> frozenset[OpenAnswer]:
    """The answers to open decisions that a profile does not have."""
    every = [OpenAnswer(one.name, answer, one.reason) for one in OPEN_DECISIONS for answer in one.answers]
    return frozenset([one for one in every if getattr(profile, one.decision) != one.answer])


@cache
def open_answers(ours: Profile, theirs: Profile) -> frozenset[OpenAnswer]:
    """The answers of the second profile to the open decisions that the first answers otherwise."""
    return frozenset([one for one in every_open_answer(ours) if getattr(theirs, one.decision) == one.answer])


def _asked(event: EventName, state: object, effects: object) -> tuple[OpenDecision, ...]:
    def is_shown(one: OpenDecision) -> bool:
        return getattr(state, one.shown_by, UNSET) is not UNSET or (one.effects_show_it and effects is not UNSET)

    return tuple([one for one in OPEN_DECISIONS if event in one.events and (not one.shown_by or is_shown(one))])


@cache
def _other_profiles(profile: Profile, asked: tuple[OpenDecision, ...]) -> tuple[Profile, ...]:
    chosen: list[dict[str, Any]] = [
        dict(zip([one.name for one in asked], answers, strict=True))
        for answers in product(*[one.answers for one in asked])
    ]
    others = [replace(profile, **answers) for answers in chosen]
    return tuple(
        sorted([other for other in others if other != profile], key=lambda other: len(open_answers(profile, other)))
    )

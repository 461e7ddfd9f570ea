"""Open decisions: settings that the rules leave to each replica at any time, whatever the profile.

The later behavior of an implementation is checked from the state that its choice leads to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_reference.profile import DECISIONS, Profile, settings, with_settings
from kraft_traces.vocabulary import EventName


@dataclass(frozen=True, slots=True)
class OpenDecision:
    """Field of `Profile` or `Latitude` whose other settings are allowed as well."""

    name: str
    reason: str
    """Rule that leaves the decision open, with the reason."""
    events: frozenset[EventName]
    """Events at which a replica may choose a setting."""
    shown_by: str = ""
    """Field of the state that reveals the setting.  If it is missing, the profile's setting counts, because later lines
    may not reveal it either, and the checker would have to follow every setting."""
    closed_under: str = ""
    """Setting whose profile leaves no choice, and that no other profile may choose; empty if there is none."""
    effects_show_it: bool = False
    """True if the effects of the event reveal the setting as well, because sent messages have a receiver."""

    def answers(self, profile: Profile) -> tuple[str, ...]:
        """Return the settings that a replica may choose under a profile, the profile's own among them."""
        own = settings(profile)[self.name]
        return (
            (own,) if own == self.closed_under else tuple(it for it in DECISIONS[self.name] if it != self.closed_under)
        )


class OpenAnswer(NamedTuple):
    """Setting of an open decision."""

    decision: str
    answer: str
    reason: str
    """Reason of the decision."""


# Votes make a leader; a sole voter becomes one as soon as it is a Candidate.
_LEADS: tuple[EventName, ...] = ("ElectionTimeout", "FetchTimeout", "HandleVoteRequest", "HandleVoteResponse")
_CHANGE_RESPONSES: tuple[EventName, ...] = (
    "HandleAddVoterResponse",
    "HandleRemoveVoterResponse",
    "HandleUpdateVoterResponse",
)
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
        "lagging_voter",
        "add-voter.catch-up-first: Kafka's leader asks its clock, which no trace has",
        frozenset(("HandleApiVersionsResponse",)),
        closed_under="awaited",
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
        frozenset(("RequestTimeout", *_CHANGE_RESPONSES)),
        shown_by="searching",
    ),
    OpenDecision("voted_directory_at_version_0", "durable.vote.v0-uuid-in-memory says MAY", frozenset(("Restart",))),
    OpenDecision("vote_of_lost_file", "durable.restart.log-epoch says SHOULD", frozenset(("Restart",))),
)
"""All open decisions.  A decision whose other setting breaks a MUST is not open, even if a profile has it.

`lagging_voter` is open for Kafka alone: only a profile that breaks that MUST has the choice."""


_OPEN_EVENTS = frozenset[EventName]().union(*[decision.events for decision in OPEN_DECISIONS])

ROLES_WITH_CHOICE: Mapping[EventName, str] = {
    **dict.fromkeys((*_LEADS, "Poll"), "Leader"),
    **dict.fromkeys(_RESIGNS, "Resigned"),
}
"""Role after an event that a replica must have to choose a setting at this event."""


def is_open(event: EventName, message: object, state: object = UNSET) -> bool:
    """True if a replica may choose a setting of an open decision at an event.

        At a Fetch response it may choose only if the response has a diverging epoch, or that field is missing.


    Args:
        event: name of the event.
        message: delivered message, the reference's or a traced one; any other value if there is none.
        state: state after it, the reference's or a traced one, as far as it is known.
    """
    role = getattr(state, "role", UNSET)
    return (
        event in _OPEN_EVENTS
        and getattr(message, "diverging_epoch", UNSET) != -1
        and (role is UNSET or ROLES_WITH_CHOICE.get(event, role) == role)
    )


def other_configurations(
    configuration: Configuration, event: EventName, message: object, state: object = UNSET, effects: object = UNSET
) -> Iterator[Configuration]:
    """Yield the configuration with other settings of the open decisions at an event.

    All combinations, those with the fewest differences first.  Event, message and state are as for `is_open`; `effects`
    are those of the event, if they are known.
    """
    if not is_open(event, message, state):
        return
    for profile in _other_profiles(configuration.profile, _decisions_at(event, state, effects)):
        yield replace(configuration, profile=profile)


@cache
def every_open_answer(profile: Profile) -> frozenset[OpenAnswer]:
    """Return the settings of open decisions that a profile does not have."""
    every = [OpenAnswer(it.name, answer, it.reason) for it in OPEN_DECISIONS for answer in it.answers(profile)]
    ours = settings(profile)
    return frozenset([setting for setting in every if ours[setting.decision] != setting.answer])


@cache
def open_answers(ours: Profile, theirs: Profile) -> frozenset[OpenAnswer]:
    """Return the settings of open decisions in the second profile that differ from the first."""
    chosen = settings(theirs)
    return frozenset([it for it in every_open_answer(ours) if chosen[it.decision] == it.answer])


def _decisions_at(event: EventName, state: object, effects: object) -> tuple[OpenDecision, ...]:
    def is_shown(decision: OpenDecision) -> bool:
        return getattr(state, decision.shown_by, UNSET) is not UNSET or (
            decision.effects_show_it and effects is not UNSET
        )

    return tuple(
        [
            decision
            for decision in OPEN_DECISIONS
            if event in decision.events and (not decision.shown_by or is_shown(decision))
        ]
    )


@cache
def _other_profiles(profile: Profile, decisions: tuple[OpenDecision, ...]) -> tuple[Profile, ...]:
    chosen: list[dict[str, str]] = [
        dict(zip([decision.name for decision in decisions], answers, strict=True))
        for answers in product(*[decision.answers(profile) for decision in decisions])
    ]
    profiles = [with_settings(profile, **answers) for answers in chosen]
    return tuple(
        sorted([other for other in profiles if other != profile], key=lambda other: len(open_answers(profile, other)))
    )

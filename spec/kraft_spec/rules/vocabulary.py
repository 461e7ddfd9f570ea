"""Closed vocabularies of the catalogue's fields, and words that resemble an entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Level = Literal["MUST", "SHOULD", "MAY"]
Status = Literal["active", "superseded", "retired"]
PropertyKind = Literal["safety", "stability", "liveness"]

LEVELS: tuple[Level, ...] = get_args(Level)
STATUSES: tuple[Status, ...] = get_args(Status)

ROLES: tuple[str, ...] = (
    "Unattached",
    "Prospective",
    "Candidate",
    "Leader",
    "Resigned",
    "Follower",
    "Observer",
)
"""Valid `states`: the six roles, and the observer overlay (rule state.roles)."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property that a model checker checks and that `breaks` of a rule may name.

    Attributes:
        name: as in the TLA+ model.
        kind: safety (nothing bad happens), stability (nothing needless happens), liveness (something good happens).
        description: one sentence.
    """

    name: str
    kind: PropertyKind
    description: str


def _table(*properties: Property) -> Mapping[str, Property]:
    return MappingProxyType({each.name: each for each in properties})


PROPERTIES: Mapping[str, Property] = _table(
    Property("ElectionSafety", "safety", "At most one replica is ever Leader of an epoch."),
    Property(
        "VoteOncePerEpoch",
        "safety",
        "A replica grants standard votes to at most one (id, directory id) per epoch.",
    ),
    Property("EpochMonotonic", "safety", "The durable epoch of a replica never decreases."),
    Property("LeaderCompleteness", "safety", "The log of a new Leader contains every committed record."),
    Property(
        "CommittedNeverLost",
        "safety",
        "A record below some high watermark is in the log of every later Leader, also across restarts.",
    ),
    Property("LogMatching", "safety", "Logs with an equal (offset, epoch) agree up to that offset."),
    Property(
        "OffsetEpochUnique",
        "safety",
        "No two different records are ever written with the same (offset, epoch).",
    ),
    Property("StateMachineSafety", "safety", "No two replicas expose different records at one offset."),
    Property(
        "HwMonotonic",
        "safety",
        "The high watermark a replica publishes never decreases between restarts; a restart forgets it.",
    ),
    Property(
        "ConfigFollowsLog",
        "safety",
        "The voters set of a replica is the newest VotersRecord in its log or snapshot.",
    ),
    Property(
        "ConfigAgreement",
        "safety",
        "Replicas with the same log prefix and no later record have the same voters set.",
    ),
    Property(
        "ConfigOverlap",
        "safety",
        "Any two voters sets that can both decide something have no disjoint majorities.",
    ),
    Property("OnePendingChange", "safety", "A leader's log holds at most one uncommitted membership change."),
    Property("IdentityBinding", "safety", "Votes and offsets are counted only for the exact (id, directory id)."),
    Property("NotFollowerOfSelf", "safety", "No replica is Follower of its own id."),
    Property("PreVoteIsPure", "safety", "Handling a Pre-Vote of the own epoch changes no variable of the receiver."),
    Property("TypeOk", "safety", "Variables stay in their ranges."),
    Property(
        "NoNeedlessElection",
        "stability",
        "While a Leader keeps a majority fetching, all voters support Pre-Vote and no replica already has a "
        "larger epoch, no replica raises its epoch.",
    ),
    Property(
        "NoPingPong",
        "liveness",
        "Two voters that reach each other and form a majority do not refuse each other's Pre-Votes for ever.",
    ),
    Property(
        "EventualLeader",
        "liveness",
        "If a majority stays connected, eventually there is a Leader it follows.",
    ),
    Property(
        "EventuallyFetching",
        "liveness",
        "A replica that can reach the leader and a bootstrap server eventually fetches.",
    ),
    Property("CommitProgress", "liveness", "With a stable majority, appended records eventually commit."),
    # membership.toml lists the next two without a definition; these are this project's interpretations.
    Property("EventualCommit", "liveness", "Appended records eventually commit: membership.toml's CommitProgress."),
    Property("EventualChange", "liveness", "With a stable majority, a requested voter change eventually completes."),
    Property("EverybodyIsAsked", "liveness", "Whomever a replica has to ask, it asks again and again."),
    Property("ZombieBounded", "liveness", "A Leader without a majority fetching from it stops being Leader."),
)
"""Every property that `breaks` may name: the lists at the head of election.toml and membership.toml."""

PROTOCOL_WORDS: frozenset[str] = frozenset({"AddVoter", "CurrentVoters", "VotersRecord"})
"""Words in the free text of `breaks` that are spelled like a property but are not one."""

LOOK_ALIKES: frozenset[str] = frozenset({"bootstrap.servers", "bootstrap.quorum.voters"})
"""Configuration properties in KIP-642 that start like a rule id."""

"""Observable and hidden violations of each property in a trace inferred from messages and files."""

from collections.abc import Mapping
from typing import NamedTuple


class Visible(NamedTuple):
    """Violations of a property that a verdict on an inferred trace detects and misses."""

    seen: str
    """Violations that messages and files show."""
    unseen: str
    """Violations that stay hidden."""


_NO_CHANGES = "every violation: voter changes that clients ask for are not inferred"
VISIBLE: Mapping[str, Visible] = {
    "TypeOk": Visible("nothing", "every violation: no message shows the state"),
    "ElectionSafety": Visible(
        "two replicas that announce themselves, or serve Fetches, in one epoch", "a leader that sends nothing"
    ),
    "VoteOncePerEpoch": Visible(
        "two votes of one epoch in messages, or in quorum-state and a message", "a vote that no message or file shows"
    ),
    "NotFollowerOfSelf": Visible("a Fetch to itself, or a wrong leader id", "a leader id that no response carries"),
    "OffsetEpochUnique": Visible("two records of one offset and epoch in responses", "a record that nobody fetches"),
    "EpochMonotonic": Visible(
        "an epoch that falls on one connection, along correlation ids, or in quorum-state",
        "an epoch that falls between two connections without common correlation ids",
    ),
    "HwMonotonic": Visible("the high watermarks in the responses of a leader", "those of followers"),
    "RoleChange": Visible(
        "a role that no step leads to, or a timer that fired too early",
        "a role without messages, and a timer that fires late: a leader may stay alone for a minute",
    ),
    "LogMatching": Visible("records and log ends in Fetch requests and responses", "records that nobody fetches"),
    "LeaderCompleteness": Visible("a leader whose responses lack a committed record", "a leader that nobody reads"),
    "CommittedNeverLost": Visible(
        "a fetch offset that falls, or a log file that is too short", "a loss before a restart that no Fetch follows"
    ),
    "PreVoteIsPure": Visible("an epoch, vote or log that later messages show changed", "a change that is undone"),
    "ConfigOverlap": Visible("nothing", _NO_CHANGES),
    "OnePendingChange": Visible("nothing", _NO_CHANGES),
    "ConfigFollowsLog": Visible("requests to replicas outside the voter set", _NO_CHANGES),
    "IdentityBinding": Visible("a wrong replica key in a message", "an identity that no message carries"),
    "StateMachineSafety": Visible("committed records that differ in responses", "what a state machine applies"),
    "ConfigAgreement": Visible("nothing", _NO_CHANGES),
}
"""By property, for every profile."""

"""Who a replica is.

A replica is the pair of its id and its directory id, so that a replica that lost its disk and came back
empty is somebody else (KIP-853, Motivation).
A directory id of `None` is one that is not known: static voters at kraft.version 0 have none, and old
versions of the requests do not carry one.
"""

from typing import NamedTuple


class ReplicaKey(NamedTuple):
    """A replica id (>= 0) and the directory id of its metadata log directory."""

    id: int
    directory_id: str | None = None

    def __str__(self) -> str:
        return f"{self.id}" if self.directory_id is None else f"{self.id}-{self.directory_id}"


VoterSet = frozenset[ReplicaKey]

Target = frozenset[int] | None
"""The ids of the voters that a reassignment shall end with (TargetVoters); None while none is under way.

Rule: reassign.assignment-record."""


class VoterDetails(NamedTuple):
    """What a voters set says of one of its voters beside who it is.  Rule: voters.endpoints-are-part-of-the-set."""

    id: int
    endpoint: str
    """Where its default controller listener is."""
    min_version: int
    """Lowest kraft.version that its software supports."""
    max_version: int
    """Highest one; 0 for a voter that has not reported any.  Rule: kraft-version.levels."""

    def supports(self, kraft_version: int) -> bool:
        """Is this level in the range?  Rule: kraft-version.upgrade-needs-all-voters."""
        return self.min_version <= kraft_version <= self.max_version


def names(entry: ReplicaKey, key: ReplicaKey) -> bool:
    """Does a voter entry or a stored vote name this replica?

    An entry without a directory id matches any directory id of that replica id; an entry with one matches
    nothing else.
    Rules: fetch.replica-key, state.voters-set.fallback-static, vote.decision-order,
    identity.unknown-directory-matches-id, identity.replica-key.
    """
    return entry.id == key.id and (entry.directory_id is None or entry.directory_id == key.directory_id)


def addresses(addressed: ReplicaKey | None, own: ReplicaKey) -> bool:
    """Is a request that names its receiver meant for the replica `own`?

    What the request leaves out is not checked.
    Rules: vote.voter-key, begin-quorum.voter-key, end-quorum.candidate-key, identity.addressed-to-key.
    """
    if addressed is None:
        return True
    return addressed.id == own.id and addressed.directory_id in (None, own.directory_id)

"""Identity of a replica: its id and its directory id.

A replica that lost its disk comes back with another directory id, and so as another replica (KIP-853, Motivation).
A directory id of None is unknown: static voters at kraft.version 0 have none, and old request versions carry none.
"""

from typing import NamedTuple

ReplicaId = int
"""Id of a replica, 0 or larger."""

DirectoryId = str
"""Id of a metadata log directory, written when the directory is formatted."""

Epoch = int
"""Number of a leader's term, 0 before the first election."""

Offset = int
"""Place of a record in the log, from 0.  An end offset is exclusive: the offset after the last record."""


class ReplicaKey(NamedTuple):
    """A replica id and the directory id of its metadata log directory."""

    id: ReplicaId
    directory_id: DirectoryId | None = None

    def __str__(self) -> str:
        return f"{self.id}" if self.directory_id is None else f"{self.id}-{self.directory_id}"


VoterSet = frozenset[ReplicaKey]

Target = frozenset[ReplicaId] | None
"""Voter ids that a reassignment ends with (TargetVoters), None without one.  Rule: reassign.assignment-record."""


class VoterDetails(NamedTuple):
    """Endpoint and supported kraft.version range of a voter.  Rule: voters.endpoints-are-part-of-the-set."""

    id: ReplicaId
    endpoint: str
    """Endpoint of its default controller listener."""
    min_version: int
    """Lowest kraft.version that its software supports."""
    max_version: int
    """Highest one; 0 for a voter that has not reported any.  Rule: kraft-version.levels."""

    def supports(self, kraft_version: int) -> bool:
        """Return True if the level is in the range.  Rule: kraft-version.upgrade-needs-all-voters."""
        return self.min_version <= kraft_version <= self.max_version


def names(entry: ReplicaKey, key: ReplicaKey) -> bool:
    """Return True if a voter entry or a stored vote names the replica `key`.

    An entry without a directory id names every replica of its id; one with a directory id names that replica only.
    Otherwise replica 2, back with an empty disk, would count for the acknowledgements that its old disk gave.
    """
    # Rules: identity.replica-key, identity.unknown-directory-matches-id, state.voters-set.fallback-static,
    # fetch.replica-key, vote.decision-order.
    return entry.id == key.id and (entry.directory_id is None or entry.directory_id == key.directory_id)


def addresses(addressed: ReplicaKey | None, own: ReplicaKey) -> bool:
    """Return True if a request that names `addressed` as its receiver is meant for the replica `own`.

    Fields that the request leaves out are not checked.
    """
    # Rules: identity.addressed-to-key, vote.voter-key, begin-quorum.voter-key, end-quorum.candidate-key.
    if addressed is None:
        return True
    return addressed.id == own.id and addressed.directory_id in (None, own.directory_id)

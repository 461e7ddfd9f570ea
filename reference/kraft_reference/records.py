"""Records of the metadata log, as far as elections and voters need them."""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import Target, VoterDetails, VoterSet


class RecordKind(StrEnum):
    """What a record is.  All but DATA are control records."""

    DATA = "Data"
    LEADER_CHANGE = "LeaderChange"
    KRAFT_VERSION = "KRaftVersion"
    VOTERS = "Voters"
    VOTER_ASSIGNMENT = "VoterAssignment"
    """KIP-642: a voters set, and the one that is wanted in the end.  Rule: reassign.assignment-record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record with the epoch of the leader that wrote it.

    `value` is the leader id of a LeaderChange, the level of a KRaftVersion, the payload of a Data record and
    0 for a VotersRecord and a VoterAssignment, whose content is `voters`, `details` and `target`.
    """

    epoch: int
    kind: RecordKind
    value: int
    voters: VoterSet = frozenset()
    details: tuple[VoterDetails, ...] = ()
    """Of the voters, by ascending id.  Rules: voters.record-replaces-set, wire.voters-record."""
    target: Target = None
    """Of a VoterAssignment; None there when no reassignment is under way, and for every other record."""


SET_KINDS = (RecordKind.VOTERS, RecordKind.VOTER_ASSIGNMENT)
"""The records that hold a whole voters set."""

"""Records of the metadata log, as far as elections and voters need them."""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import Epoch, Target, VoterDetails, VoterSet


class RecordKind(StrEnum):
    """Kind of a record.  All but DATA are control records."""

    DATA = "Data"
    LEADER_CHANGE = "LeaderChange"
    KRAFT_VERSION = "KRaftVersion"
    VOTERS = "Voters"
    VOTER_ASSIGNMENT = "VoterAssignment"
    """KIP-642: a voter set and the target of the reassignment.  Rule: reassign.assignment-record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record with the epoch of the leader that wrote it.

    `value` is the leader id of a LeaderChange, the level of a KRaftVersion, the payload of a Data record, and 0 for a
    VotersRecord and a VoterAssignment, which hold `voters`, `details` and `target`.
    """

    epoch: Epoch
    kind: RecordKind
    value: int
    voters: VoterSet = frozenset()
    details: tuple[VoterDetails, ...] = ()
    """Details of the voters, by ascending id.  Rules: voters.record-replaces-set, wire.voters-record."""
    target: Target = None
    """Target of a VoterAssignment; None without a reassignment, and for every other record."""


SET_KINDS = (RecordKind.VOTERS, RecordKind.VOTER_ASSIGNMENT)
"""Kinds of records that hold a whole voter set."""

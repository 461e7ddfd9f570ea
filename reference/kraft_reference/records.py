"""Records of the metadata log, as far as elections and voters need them."""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import VoterDetails, VoterSet


class RecordKind(StrEnum):
    """What a record is.  All but DATA are control records."""

    DATA = "Data"
    LEADER_CHANGE = "LeaderChange"
    KRAFT_VERSION = "KRaftVersion"
    VOTERS = "Voters"


@dataclass(frozen=True, slots=True)
class Record:
    """A record with the epoch of the leader that wrote it.

    `value` is the leader id of a LeaderChange, the level of a KRaftVersion, the payload of a Data record and
    0 for a VotersRecord, whose content is `voters` and `details`.
    """

    epoch: int
    kind: RecordKind
    value: int = 0
    voters: VoterSet = frozenset()
    details: tuple[VoterDetails, ...] = ()
    """Of the voters, by ascending id.  Rules: voters.record-replaces-set, wire.voters-record."""

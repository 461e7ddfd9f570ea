"""For `test_bad_requests`: states with what a reader of the rules sees in them, and requests wrong in every field."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from hypothesis import strategies as st
from tests.reference.builders import (
    candidate,
    catching_up,
    cluster,
    committing,
    data,
    endpoint,
    follower,
    key,
    learning,
    log_of,
    prospective,
    resigned,
    stopped,
    unattached,
    version_record,
    voters_record,
)

from kraft_reference.changes import ChangeKind, PendingChange, Report
from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import append, flush
from kraft_reference.messages import (
    AddVoterRequest,
    RemoveVoterRequest,
    UpdateVoterRequest,
)
from kraft_reference.profile import KAFKA_4, KIP
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

EPOCH = 4
INCOMPLETE: VoterSet = frozenset({key(1), key(2), ReplicaKey(3)})
"""{1,2,3}, in which the directory id of 3 is not known."""

# ---------------------------------------------------------------------------------------------------------
# The states, and what a reader of the rules sees in them.
# ---------------------------------------------------------------------------------------------------------

LOGS: dict[str, tuple[Record, ...]] = {
    "nothing": (),
    "data": data(EPOCH),
    "a set": (voters_record(EPOCH, 1, 2, 3),),
    "a removal": (voters_record(EPOCH, 1, 2),),
    "the own removal": (voters_record(EPOCH, 2, 3),),
    "an incomplete set": (Record(EPOCH, RecordKind.VOTERS, 0, INCOMPLETE),),
    "an upgrade": (version_record(EPOCH), voters_record(EPOCH, 1, 2, 3)),
}
"""What comes after the LeaderChange of the epoch."""

PENDING: dict[str, PendingChange | None] = {
    "no change": None,
    "an addition that asks for versions": learning(),
    "an addition that catches up": catching_up(),
    "a removal": committing(ChangeKind.REMOVE, key(2), 1),
    "an upgrade": committing(ChangeKind.UPGRADE, None, 1),
}
REPORTS = (Report(key(2), endpoint(2), 0, 1), Report(key(3), endpoint(3), 0, 1))


@dataclass(frozen=True, slots=True)
class Situation:
    """A state as a choice of its parts."""

    role: Role
    level: int
    """Of the bootstrap checkpoint."""
    log: str
    pending: str
    high_watermark: int
    reported: bool
    at_append: bool
    """Is the profile one in which a level acts on append?"""

    @property
    def configuration(self) -> Configuration:
        """A cluster of three voters and two observers."""
        return replace(cluster(3, observers=2, kraft_version=self.level), profile=KAFKA_4 if self.at_append else KIP)

    @property
    def records(self) -> tuple[Record, ...]:
        """The log: the LeaderChange of the epoch, and what comes after it."""
        return (Record(EPOCH, RecordKind.LEADER_CHANGE, 1), *LOGS[self.log])

    @property
    def state(self) -> ReplicaState:
        """The state of replica 1."""
        log = flush(append(log_of(voters=self.configuration.voters), self.records))
        if self.role is Role.LEADER:
            leading = resigned(EPOCH, log=log)._replace(role=Role.LEADER, high_watermark=self.high_watermark)
            reports = REPORTS if self.reported else ()
            return leading._replace(pending_change=PENDING[self.pending], reports=reports)
        makers = {
            Role.UNATTACHED: unattached(EPOCH, log=log),
            Role.PROSPECTIVE: prospective(EPOCH, log=log),
            Role.CANDIDATE: candidate(EPOCH, log=log),
            Role.FOLLOWER: follower(EPOCH, 2, log=log),
            Role.RESIGNED: resigned(EPOCH, log=log),
            Role.STOPPED: stopped(EPOCH, log=log),
        }
        return makers[self.role]._replace(high_watermark=self.high_watermark)

    # What the rules ask.

    @property
    def leader_id(self) -> int | None:
        """The leader that replica 1 knows."""
        return {Role.LEADER: 1, Role.RESIGNED: 1, Role.FOLLOWER: 2}.get(self.role)

    @property
    def epoch_is_committed(self) -> bool:
        """Is the LeaderChange, at offset 0, below the high watermark?"""
        return self.high_watermark >= 1

    @property
    def set_is_committed(self) -> bool:
        """Is the last VotersRecord, if there is one, below the high watermark?"""
        places = [place for place, record in enumerate(self.records) if record.kind is RecordKind.VOTERS]
        return not places or self.high_watermark >= places[-1] + 1

    @property
    def voters(self) -> VoterSet:
        """The set in the last VotersRecord, else the one of the checkpoint."""
        sets = [record.voters for record in self.records if record.kind is RecordKind.VOTERS]
        return sets[-1] if sets else self.configuration.voters

    @property
    def newest_level(self) -> int:
        """The level of the last KRaftVersionRecord, else the one of the checkpoint."""
        return 1 if version_record(EPOCH) in self.records else self.level

    @property
    def finalized_level(self) -> int:
        """The same, of what is committed, or of everything where a level acts on append."""
        read = len(self.records) if self.at_append else max(self.high_watermark, 0)
        return 1 if version_record(EPOCH) in self.records[:read] else self.level


def _makes_sense(situation: Situation) -> bool:
    """Sets are written at level 1 only, and an upgrade at level 0."""
    sets = [record for record in situation.records if record.kind is RecordKind.VOTERS]
    upgrade = situation.log == "an upgrade"
    return not sets or (upgrade == (situation.level == 0))


SITUATIONS = st.builds(
    Situation,
    st.sampled_from([Role.LEADER] * 6 + [role for role in Role if role is not Role.LEADER]),
    st.sampled_from([0, 1]),
    st.sampled_from(sorted(LOGS)),
    st.sampled_from(["no change"] * 3 + sorted(PENDING)),
    st.integers(-1, 3),
    st.booleans(),
    st.booleans(),
).filter(_makes_sense)

# ---------------------------------------------------------------------------------------------------------
# The requests, right and wrong in every field.
# ---------------------------------------------------------------------------------------------------------

KEYS = [
    ReplicaKey(replica_id, directory_id)
    for replica_id, directory_id in product((-1, 1, 3, 4, 9), ("U1", "U3", "U3'", "U4", "", None))
]
ENDPOINTS = ("replica-4:9093", "", None)
CLUSTERS = (None, "kraft-spec", "X")
RANGES = list(product((-1, 0, 1, 2), repeat=2))


def add_voters() -> Iterator[AddVoter | AddVoterRequest]:
    """AddVoter of a client, and of replica 5."""
    for voter, listens, cluster_id in product(KEYS, ENDPOINTS, CLUSTERS):
        yield AddVoter(5, voter, listens, 1_000, cluster_id=cluster_id)
        yield AddVoterRequest(5, 1, 8, voter, listens, 1_000, False, cluster_id)


def remove_voters() -> Iterator[RemoveVoter | RemoveVoterRequest]:
    """RemoveVoter of a client, and of replica 5."""
    for voter, cluster_id in product(KEYS, CLUSTERS):
        yield RemoveVoter(5, voter, cluster_id)
        yield RemoveVoterRequest(5, 1, 8, voter, cluster_id)


def update_voters() -> Iterator[UpdateVoterRequest]:
    """UpdateVoter of replica 5, which may speak for anybody."""
    for voter, listens, cluster_id in product(KEYS, ENDPOINTS, CLUSTERS):
        yield UpdateVoterRequest(5, 1, 8, EPOCH, voter, listens, 0, 1, cluster_id)
    for epoch, (lowest, highest), voter in product((-1, 3, 4, 5), RANGES, (key(3), key(9))):
        yield UpdateVoterRequest(5, 1, 8, epoch, voter, "replica-3:9093", lowest, highest)


def update_features() -> Iterator[UpdateFeatures]:
    """UpdateFeatures of a client."""
    for level, brokers in product((-1, 0, 1, 2), RANGES):
        yield UpdateFeatures(5, level, *brokers)


Request = AddVoter | AddVoterRequest | RemoveVoter | RemoveVoterRequest | UpdateVoterRequest | UpdateFeatures

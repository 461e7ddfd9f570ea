"""Bad input: every request about voters with every wrong field, in every state of a replica.

The error is worked out here from the order of checks in the rules, over a plain list of records, and not asked of the
code: the first check that fails names it.
Whatever fails, nothing changes, and exactly one answer goes to whoever asked.
Rules: add-voter.check-order, remove-voter.check-order, update-voter.check-order, kraft-version.no-downgrade.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.builders import (
    DRAW,
    adding,
    candidate,
    cluster,
    committing,
    data,
    endpoint,
    follower,
    key,
    log_of,
    prospective,
    resigned,
    stopped,
    unattached,
    version_record,
    voters_record,
    where,
)
from tests.reference.wire import reply

from kraft_reference.changes import ChangeKind, ChangePhase, PendingChange, Report
from kraft_reference.configuration import Configuration
from kraft_reference.durability import effects_of
from kraft_reference.effects import Answer, Send
from kraft_reference.events import AddVoter, Event, Receive, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import append, flush
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    Error,
    Message,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.profile import KAFKA_4, KIP
from kraft_reference.records import Record, RecordKind
from kraft_reference.replica import handle
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
    "an addition that asks for versions": adding(ChangePhase.LEARN_VERSIONS),
    "an addition that catches up": adding(ChangePhase.CATCH_UP),
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

# ---------------------------------------------------------------------------------------------------------
# The order of the checks.
# ---------------------------------------------------------------------------------------------------------


def _first(*checks: tuple[bool, Error]) -> Error:
    """The error of the first check that fails."""
    return next((error for fails, error in checks if fails), Error.NONE)


def _is_nameless(voter: ReplicaKey) -> bool:
    return voter.id < 0 or voter.directory_id in (None, "")


def expected_error(situation: Situation, request: Request) -> Error:
    """What the rules say, in their order."""
    foreign = getattr(request, "cluster_id", None) not in (None, "kraft-spec")
    not_leader = (situation.role is not Role.LEADER, Error.NOT_LEADER_OR_FOLLOWER)
    busy = (situation.pending != "no change", Error.REQUEST_TIMED_OUT)
    epoch_open = (not situation.epoch_is_committed, Error.REQUEST_TIMED_OUT)
    set_open = (not situation.set_is_committed, Error.REQUEST_TIMED_OUT)
    level_0 = (situation.finalized_level < 1, Error.UNSUPPORTED_VERSION)
    before = (foreign, Error.INCONSISTENT_CLUSTER_ID)
    match request:
        case AddVoter() | AddVoterRequest():
            malformed = (_is_nameless(request.voter) or not request.endpoint, Error.INVALID_REQUEST)
            known = (request.voter.id in [voter.id for voter in situation.voters], Error.DUPLICATE_VOTER)
            return _first(before, not_leader, malformed, busy, epoch_open, level_0, set_open, known)
        case RemoveVoter() | RemoveVoterRequest():
            malformed = (_is_nameless(request.voter), Error.INVALID_REQUEST)
            missing = (request.voter not in situation.voters, Error.VOTER_NOT_FOUND)
            return _first(before, not_leader, malformed, busy, epoch_open, level_0, set_open, missing)
        case UpdateVoterRequest():
            lowest, highest = request.min_version, request.max_version
            shapeless = _is_nameless(request.voter) or not request.endpoint or lowest < 0 or lowest > highest
            unsupported = not lowest <= situation.finalized_level <= highest
            entries = [voter for voter in situation.voters if voter.id == request.voter.id]
            matching = [voter for voter in entries if voter.directory_id in (None, request.voter.directory_id)]
            return _first(
                before,
                (request.epoch < EPOCH, Error.FENCED_LEADER_EPOCH),
                (request.epoch > EPOCH, Error.UNKNOWN_LEADER_EPOCH),
                not_leader,
                (shapeless, Error.INVALID_REQUEST),
                busy,
                epoch_open,
                set_open,
                (unsupported, Error.INVALID_REQUEST),
                (not matching, Error.VOTER_NOT_FOUND),
            )
        case UpdateFeatures():
            if _first(not_leader, busy, epoch_open, set_open) is not Error.NONE:
                return _first(not_leader, busy, epoch_open, set_open)
            if request.kraft_version == situation.newest_level:
                return Error.NONE
            upwards = (situation.newest_level, request.kraft_version) == (0, 1)
            brokers = request.brokers_min <= request.kraft_version <= request.brokers_max
            possible = upwards and brokers and situation.reported
            return Error.NONE if possible else Error.INVALID_UPDATE_VERSION


def expected_answer(situation: Situation, request: Request, error: Error) -> Message | Reply:
    """To whom the error goes, and with which leader."""
    leader_id = situation.leader_id
    if isinstance(request, AddVoter | RemoveVoter | UpdateFeatures):
        return reply(5, EPOCH, leader_id, error)
    told = (1, 5, 8, error, EPOCH, leader_id, where(leader_id))
    match request:
        case AddVoterRequest():
            return AddVoterResponse(*told)
        case RemoveVoterRequest():
            return RemoveVoterResponse(*told)
        case UpdateVoterRequest():
            return UpdateVoterResponse(*told)


def check(situation: Situation, request: Request, state: ReplicaState, configuration: Configuration) -> Error | None:
    """One request in one state; the error that it was answered with, None for a replica that does not run."""
    event: Event = request if isinstance(request, AddVoter | RemoveVoter | UpdateFeatures) else Receive(request)
    done = handle(state, configuration, event, DRAW)
    if situation.role is Role.STOPPED:
        assert done == Outcome(state, refusal=Refusal.NOT_RUNNING)
        return None
    error = expected_error(situation, request)
    if error is Error.NONE:
        # Accepted: an answer, if there is one yet, is no error; what follows the rules of each request say.
        assert done.refusal is None
        assert {getattr(sent, "error", Error.NONE) for sent in done.sends} <= {Error.NONE}
        return error
    answer = expected_answer(situation, request, error)
    assert done._replace(refusal=None) == Outcome(state, (answer,)), (situation, request)
    assert done.refusal is not None
    assert effects_of(state, done) == ((Answer(answer),) if isinstance(answer, Reply) else (Send(answer),))
    return error


# ---------------------------------------------------------------------------------------------------------
# The tests.
# ---------------------------------------------------------------------------------------------------------

REQUESTS = {
    "AddVoter": add_voters,
    "RemoveVoter": remove_voters,
    "UpdateVoter": update_voters,
    "UpdateFeatures": update_features,
}


@pytest.mark.parametrize("kind", list(REQUESTS))
@given(SITUATIONS)
def test_every_wrong_field_in_any_state(kind: str, situation: Situation) -> None:
    state, configuration = situation.state, situation.configuration
    for request in REQUESTS[kind]():
        check(situation, request, state, configuration)


COMMON = {
    Error.NONE,
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.REQUEST_TIMED_OUT,
}
CODES = {
    "AddVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.INVALID_REQUEST,
        Error.UNSUPPORTED_VERSION,
        Error.DUPLICATE_VOTER,
    },
    "RemoveVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.INVALID_REQUEST,
        Error.UNSUPPORTED_VERSION,
        Error.VOTER_NOT_FOUND,
    },
    "UpdateVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.FENCED_LEADER_EPOCH,
        Error.UNKNOWN_LEADER_EPOCH,
        Error.INVALID_REQUEST,
        Error.VOTER_NOT_FOUND,
    },
    "UpdateFeatures": COMMON | {Error.INVALID_UPDATE_VERSION},
}


@pytest.mark.parametrize("kind", list(REQUESTS))
def test_every_error_is_reached(kind: str) -> None:
    """A fixed set of states, so that no check above is an empty one."""
    reached: Counter[Error | None] = Counter()
    plain = [
        Situation(role, level, "data", "no change", 1, True, False)
        for role, level in product((Role.LEADER, Role.FOLLOWER), (0, 1))
    ]
    for situation in (
        *plain,
        replace(plain[1], high_watermark=0),
        replace(plain[1], log="a set", high_watermark=1),
        replace(plain[1], pending="a removal"),
        replace(plain[0], log="an upgrade", high_watermark=2),
    ):
        state, configuration = situation.state, situation.configuration
        reached.update(check(situation, request, state, configuration) for request in REQUESTS[kind]())
    assert set(reached) == CODES[kind]

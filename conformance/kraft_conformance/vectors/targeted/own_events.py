"""What a replica takes no notice of: its own events out of their role, and what its state machine asks in vain."""

from kraft_conformance.vectors.staging import RecordingDirector
from kraft_conformance.vectors.target import OBSERVED, THREE, Target
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ElectionTimeout,
    Event,
    FetchTimeout,
    TakeSnapshot,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Refusal
from kraft_reference.scenarios.opening import nominate, start
from kraft_reference.scenarios.scenario import voter_set

_OF_LEADERS: tuple[Event, ...] = (CheckQuorumTimeout(), BeginQuorumEpochTimeout())


def _out_of_role(d: RecordingDirector, replica_id: int, *events: Event) -> None:
    d.step("timers that do not run in this role")
    for event in events:
        d.refuses(replica_id, event, Refusal.NOT_IN_ROLE)


def _unattached(d: RecordingDirector) -> None:
    nominate(d, 1, 1)
    d.vote(1, 2, "granted")
    _out_of_role(d, 2, FetchTimeout(), *_OF_LEADERS)


def _prospective(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    _out_of_role(d, 2, FetchTimeout(), *_OF_LEADERS)


def _candidate(d: RecordingDirector) -> None:
    nominate(d, 1, 1)
    _out_of_role(d, 1, FetchTimeout(), *_OF_LEADERS)


def _follower(d: RecordingDirector) -> None:
    start(d, 1, 1)
    _out_of_role(d, 2, ElectionTimeout(), *_OF_LEADERS)


def _leader(d: RecordingDirector) -> None:
    start(d, 1, 1)
    _out_of_role(d, 1, ElectionTimeout(), FetchTimeout())


def _resigned(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.shutdown(1)
    _out_of_role(d, 1, FetchTimeout(), *_OF_LEADERS)


def _snapshots_out_of_range(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=6)
    d.take_snapshot(1, 5)
    d.append(1)
    d.step("before the newest one, at it, and beyond what is committed")
    for end_offset in (4, 5, 7):
        d.refuses(1, TakeSnapshot(end_offset), Refusal.SNAPSHOT_OUT_OF_RANGE)


def _snapshot_before_a_set(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=5)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    for _ in range(2):
        d.fetch(2, 1)
        d.fetch(4, 1)
        d.fetch(3, 1)
    d.step("a snapshot that ends before a record of voters, which no level stands before")
    d.take_snapshot(1, 5)


def _names_twice(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("a set with two voters of one id")
    d.refuses(1, AppendVoters(voter_set(1, 2, 3) | {ReplicaKey(3, "U9")}), Refusal.CHANGE_NOT_ALLOWED)


_TIMERS = ("state.follower.fetch-timeout", "check-quorum.resign")

TARGETS = (
    Target(
        "idle.unattached",
        "An Unattached replica has an election timer alone",
        _TIMERS,
        2,
        _unattached,
    ),
    Target(
        "idle.prospective",
        "A Prospective has an election timer alone",
        _TIMERS,
        2,
        _prospective,
    ),
    Target("idle.candidate", "A Candidate has an election timer alone", _TIMERS, 1, _candidate),
    Target("idle.follower", "A Follower has a fetch timer alone", _TIMERS, 2, _follower),
    Target("idle.leader", "A Leader has neither election nor fetch timer", _TIMERS, 1, _leader),
    Target("idle.resigned", "A Resigned replica has an election timer alone", _TIMERS, 1, _resigned),
    Target(
        "snapshot.out-of-range",
        "A snapshot ends after the newest one, and not beyond what is committed",
        ("snapshot.trim-keeps-last",),
        1,
        _snapshots_out_of_range,
        THREE,
    ),
    Target(
        "snapshot.before-a-set",
        "A snapshot may end before a record of voters",
        ("snapshot.set-at-its-end-offset",),
        1,
        _snapshot_before_a_set,
        OBSERVED,
    ),
    Target(
        "change.names-twice",
        "A voters set has each id once",
        ("add-voter.duplicate-id",),
        1,
        _names_twice,
        OBSERVED,
    ),
)

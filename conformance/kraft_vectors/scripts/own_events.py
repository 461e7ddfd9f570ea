"""Ignored events: a replica's own events in the wrong role, and invalid requests of its state machine."""

from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ElectionTimeout,
    Event,
    FetchTimeout,
    PollFetch,
    TakeSnapshot,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Refusal
from kraft_simulation.scenarios.opening import nominate, start
from kraft_simulation.scenarios.scenario import cluster, voter_set
from kraft_vectors.openings import fetch_in_turn
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets()
_TIMERS = ("state.follower.fetch-timeout", "check-quorum.resign")

_OF_LEADERS: tuple[Event, ...] = (CheckQuorumTimeout(), BeginQuorumEpochTimeout())


def _out_of_role(d: RecordingDirector, replica_id: int, *events: Event) -> None:
    d.step("timers that do not run in this role")
    for event in events:
        d.refuses(replica_id, event, Refusal.NOT_IN_ROLE)


@TARGETS.vector("idle.unattached", 2, *_TIMERS)
def _unattached(d: RecordingDirector) -> None:
    """An Unattached replica has only an election timer."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted")
    _out_of_role(d, 2, FetchTimeout(), *_OF_LEADERS)


@TARGETS.vector("idle.prospective", 2, *_TIMERS)
def _prospective(d: RecordingDirector) -> None:
    """A Prospective has only an election timer."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    _out_of_role(d, 2, FetchTimeout(), *_OF_LEADERS)


@TARGETS.vector("idle.candidate", 1, *_TIMERS)
def _candidate(d: RecordingDirector) -> None:
    """A Candidate has only an election timer."""
    nominate(d, 1, 1)
    _out_of_role(d, 1, FetchTimeout(), *_OF_LEADERS)


@TARGETS.vector("idle.follower", 2, *_TIMERS)
def _follower(d: RecordingDirector) -> None:
    """A Follower has only a fetch timer."""
    start(d, 1, 1)
    _out_of_role(d, 2, ElectionTimeout(), *_OF_LEADERS)


@TARGETS.vector("idle.leader", 1, *_TIMERS)
def _leader(d: RecordingDirector) -> None:
    """A Leader has neither election nor fetch timer."""
    start(d, 1, 1)
    _out_of_role(d, 1, ElectionTimeout(), FetchTimeout())


@TARGETS.vector("idle.unattached-observer", 4, "observer.states", configuration=OBSERVED, level="state")
def _unattached_observer(d: RecordingDirector) -> None:
    """An Unattached observer waits for the response to its Fetch, and for no timer."""
    d.step("no timer of 4 runs; it asks a server, which does not answer, and waits")
    d.refuses(4, ElectionTimeout(), Refusal.NOT_IN_ROLE)
    d.happen(4, PollFetch(2))
    d.refuses(4, PollFetch(2))


@TARGETS.vector("idle.searching-observer", 4, "observer.fetch-timeout", configuration=OBSERVED, level="state")
def _searching_observer(d: RecordingDirector) -> None:
    """An observer whose fetch timer has fired waits for the response to its Fetch."""
    start(d, 1, 1)
    d.step("ft(4), and whoever 4 asks does not answer")
    d.fetch_timeout(4)
    d.happen(4, PollFetch(1))
    d.refuses(4, PollFetch(1))


@TARGETS.vector("idle.sole-voter", 1, "check-quorum.sole-voter", configuration=cluster(2, (1,)))
def _sole_voter(d: RecordingDirector) -> None:
    """A sole voter never loses its quorum."""
    d.election_timeout(1)
    d.roles("L(1)", "U(0)")
    _out_of_role(d, 1, *_OF_LEADERS)


@TARGETS.vector("idle.resigned", 1, *_TIMERS)
def _resigned(d: RecordingDirector) -> None:
    """A Resigned replica has only an election timer."""
    start(d, 1, 1)
    d.shutdown(1)
    _out_of_role(d, 1, FetchTimeout(), *_OF_LEADERS)


@TARGETS.vector("snapshot.out-of-range", 1, "snapshot.trim-keeps-last")
def _snapshots_out_of_range(d: RecordingDirector) -> None:
    """A snapshot ends after the newest one, and at most at the high watermark."""
    start(d, 1, 1, end_offset=6)
    d.take_snapshot(1, 5)
    d.append(1)
    d.step("before the newest one, at it, and beyond what is committed")
    for end_offset in (4, 5, 7):
        d.refuses(1, TakeSnapshot(end_offset), Refusal.SNAPSHOT_OUT_OF_RANGE)


@TARGETS.vector("snapshot.before-a-set", 1, "snapshot.set-at-its-end-offset", configuration=OBSERVED)
def _snapshot_before_a_set(d: RecordingDirector) -> None:
    """A snapshot may end before a record of voters."""
    start(d, 1, 1, end_offset=5)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    fetch_in_turn(d, 1, 2, 4, 3)
    d.step("a snapshot that ends before a record of voters, which no level stands before")
    d.take_snapshot(1, 5)


@TARGETS.vector("change.names-twice", 1, "add-voter.duplicate-id", configuration=OBSERVED)
def _names_twice(d: RecordingDirector) -> None:
    """A voter set has each id once."""
    start(d, 1, 1, end_offset=4)
    d.step("a set with two voters of one id")
    d.refuses(1, AppendVoters(voter_set(1, 2, 3) | {ReplicaKey(3, "U9")}), Refusal.CHANGE_NOT_ALLOWED)


@TARGETS.vector(
    "change.set-at-version-0", 1, "kraft-version.record-gate", configuration=cluster(4, (1, 2, 3), static=True)
)
def _set_at_version_0(d: RecordingDirector) -> None:
    """At kraft.version 0 no voter set is appended."""
    start(d, 1, 1, end_offset=4)
    d.step("a set of four voters, at a level that has no record of voters")
    d.refuses(1, AppendVoters(d.state(1).voters | {ReplicaKey(4)}), Refusal.CHANGE_NOT_ALLOWED)

"""DescribeQuorum: a leader's description of voters, observers and a target."""

import pytest
from tests.reference.builders import (
    OBSERVED,
    SIX,
    THREE,
    cluster,
    details,
    endpoint,
    established,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    old_software,
    reassigning,
    role_name,
    step,
    version_record,
    voters_record,
    where,
)

from kraft_reference.describe import (
    FetchTime,
    QuorumDescription,
    ReplicaProgress,
    describe_quorum,
)
from kraft_reference.events import RemoveVoter
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.messages import Error
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState


def listening(*replica_ids: int) -> tuple[tuple[int, str], ...]:
    """Return the nodes of a description."""
    return tuple((replica_id, endpoint(replica_id)) for replica_id in replica_ids)


def test_a_leader_describes_voters_and_observers() -> None:
    """Rule: wire.describe-quorum-2."""
    state = established(5, log=log_of(*[4] * 200), fetch_offsets={key(2): 200, key(4): 180, key(3, "U3'"): 7})
    times = {key(2): FetchTime(900, 800, 201), key(4): FetchTime(950, -1, 201)}
    assert describe_quorum(state, OBSERVED, times, 1_000) == QuorumDescription(
        error=Error.NONE,
        leader_id=1,
        leader_endpoint=endpoint(1),
        leader_epoch=5,
        high_watermark=201,
        voters=(
            ReplicaProgress(key(1), 201, 0, 1_000, 1_000),
            ReplicaProgress(key(2), 200, 1, 900, 800),
            ReplicaProgress(key(3), -1, -1, -1, -1),
        ),
        observers=(
            ReplicaProgress(key(3, "U3'"), 7, 194, -1, -1),
            ReplicaProgress(key(4), 180, 21, 950, -1),
        ),
        nodes=listening(1, 2, 3),
    )


@pytest.mark.parametrize("state", [s for s in in_every_role(4) if s.role is not Role.LEADER], ids=role_name)
def test_only_a_leader_describes_the_quorum(state: ReplicaState) -> None:
    """Rule: wire.describe-quorum-2."""
    expected = QuorumDescription(Error.NOT_LEADER_OR_FOLLOWER, state.leader_id, where(state.leader_id), 4)
    assert describe_quorum(state, THREE, {}, 0) == expected
    unknown = describe_quorum(state, old_software(THREE, 1), {}, 0)
    assert unknown == QuorumDescription(Error.NOT_LEADER_OR_FOLLOWER, state.leader_id, None, 4)


def test_unknown_values_are_described_as_unknown() -> None:
    """Rule: wire.describe-quorum-2."""
    fresh = leader(5, log=log_of(4, 4), high_watermark=2)
    described = describe_quorum(fresh, THREE, {}, 9)
    assert (described.high_watermark, described.max_follower_lag, described.max_follower_lag_ms) == (-1, -1, -1)
    # The high watermark of earlier epochs does not show that a record of its own epoch is committed.
    earlier = leader(5, log=log_of(4, 4), high_watermark=1)
    assert describe_quorum(earlier, THREE, {}, 9).high_watermark == -1
    alone = describe_quorum(established(5, log=log_of(voters=keys(1))), THREE, {}, 9)
    assert (alone.max_follower_lag, alone.max_follower_lag_ms) == (0, 0)
    nobody = describe_quorum(step(established(4), RemoveVoter(9, key(1))).state, THREE, {}, 9)
    assert (nobody.max_follower_lag, [voter.key for voter in nobody.voters]) == (-1, [key(2), key(3)])


def test_the_lag_is_that_of_the_slowest_voter() -> None:
    """Rule: wire.describe-quorum-2."""
    state = established(5, log=log_of(*[4] * 9), fetch_offsets={key(2): 4, key(3): 10, key(4): 0})
    times = {key(2): FetchTime(80, 30, 10), key(3): FetchTime(90, 90, 10), key(4): FetchTime(95, 1, 10)}
    described = describe_quorum(state, OBSERVED, times, 100)
    assert (described.max_follower_lag, described.max_follower_lag_ms) == (6, 70)
    # A fetcher whose log is longer than the Leader's has no lag.
    longer = established(5, fetch_offsets={key(2): 9})
    assert describe_quorum(longer, THREE, {}, 100).voters[1] == ReplicaProgress(key(2), 9, 0, -1, -1)


def test_a_static_voter_is_shown_once_after_an_upgrade() -> None:
    """Rule: wire.describe-quorum-2."""
    static = cluster(3, kraft_version=0)
    low = established(4, log=log_of(voters=static.voters), fetch_offsets={ReplicaKey(2): 1, ReplicaKey(10): 1})
    assert [voter.key for voter in describe_quorum(low, static, {}, 0).voters] == [
        key(1),
        ReplicaKey(2),
        ReplicaKey(3),
    ]
    batch = (version_record(4), voters_record(4, 1, 2, 3))
    high = established(5, log=log_of(voters=static.voters, more=batch), fetch_offsets=low.fetch_offsets)
    described = describe_quorum(high, static, {}, 0)
    assert [voter.key for voter in described.voters] == [key(1), key(2), key(3)]
    assert [observer.key for observer in described.observers] == [ReplicaKey(10)]


def test_of_several_entries_of_one_id_the_latest_is_listed() -> None:
    """Rule: wire.describe-quorum-2."""
    listed = (*details(1, 2), VoterDetails(2, "latest:1", 0, 1))
    record = Record(4, RecordKind.VOTERS, 0, keys(1, 2) | {key(2, "U2'")}, listed)
    state = established(5, log=log_of(4, more=(record,)))
    assert describe_quorum(state, THREE, {}, 0).nodes == ((1, endpoint(1)), (2, "latest:1"))


def test_the_target_is_described_beside_voters_and_observers() -> None:
    """Rules: reassign.describe-quorum, reassign.progress-only-during."""
    state = reassigning(1, 2, 4, fetch_offsets={key(2): 1, key(4): 2, key(5): 0, key(3): 2})
    times = {key(4): FetchTime(90, 80, 2), key(5): FetchTime(95, -1, 2)}
    fourth = ReplicaProgress(key(4), 2, 0, 90, 80)
    fifth = ReplicaProgress(key(5), 0, 2, 95, -1)
    assert describe_quorum(state, SIX, times, 100) == QuorumDescription(
        error=Error.NONE,
        leader_id=1,
        leader_endpoint=endpoint(1),
        leader_epoch=4,
        high_watermark=2,
        voters=(ReplicaProgress(key(1), 2, 0, 100, 100), ReplicaProgress(key(2), 1, 1, -1, -1), fourth),
        observers=(ReplicaProgress(key(3), 2, 0, -1, -1), fifth),
        nodes=((1, endpoint(1)), (2, endpoint(2)), (4, endpoint(4))),
        target=(fourth, fifth, ReplicaProgress(ReplicaKey(6), -1, -1, -1, -1)),
    )


def test_of_several_disks_the_voter_or_the_most_advanced_is_listed() -> None:
    """Rule: reassign.describe-quorum."""
    disks = {key(5): 1, key(5, "U5'"): 2, key(2, "U2'"): 2, key(2): 1}
    described = describe_quorum(reassigning(1, 2, 3, target=(2, 5), fetch_offsets=disks), SIX, {}, 0)
    assert described.target is not None
    assert [progress.key for progress in described.target] == [key(2), key(5, "U5'")]

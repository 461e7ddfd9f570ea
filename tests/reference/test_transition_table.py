"""The transition table, and every event in every role: no step raises, and each is safe to be cut short."""

from itertools import product

import pytest
from tests.reference.builders import (
    DRAW,
    OBSERVED,
    THREE,
    checkpoint,
    data,
    endpoint,
    follower,
    in_every_role,
    key,
    keys,
    log_of,
    role_name,
    stopped,
    unattached,
    voters_record,
    where,
)
from tests.reference.checked_step import check_step
from tests.reference.wire import (
    bqe,
    bqe_reply,
    eqe,
    eqe_reply,
    fetch,
    fetch_reply,
    pre_vote,
    pre_vote_reply,
    vote,
    vote_reply,
)

from kraft_reference.events import (
    AddVoter,
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    RemoveVoter,
    RequestTimeout,
    Restart,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
    VoterChangeTimeout,
)
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Error,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Message,
    RemoveVoterRequest,
    RemoveVoterResponse,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Refusal
from kraft_reference.replica import handle
from kraft_reference.roles import TRANSITION, TRANSITIONS, Cause, IllegalTransitionError, Role
from kraft_reference.state import ReplicaState, new_replica
from kraft_reference.transitions import enter
from kraft_spec.rules import load_registry

# ---------------------------------------------------------------------------------------------------------
# The table.
# ---------------------------------------------------------------------------------------------------------


def test_every_row_is_one_of_a_kind_and_names_a_rule() -> None:
    registry = load_registry()
    assert len(TRANSITION) == len(TRANSITIONS)
    assert [rule_id for row in TRANSITIONS for rule_id in row.rules if rule_id not in registry] == []
    assert all(row.rules for row in TRANSITIONS)
    assert {row.cause for row in TRANSITIONS} == set(Cause)


@pytest.mark.parametrize("state", [*in_every_role(4), stopped(4)], ids=role_name)
def test_what_the_table_does_not_list_is_refused(state: ReplicaState) -> None:
    for cause, target in product(Cause, Role):
        if (state.role, cause, target) in TRANSITION:
            moved = enter(state, target, cause, epoch=9, leader_id=2, requester=key(3))
            assert (moved.role, moved.awaiting, moved.granted) == (target, {}, frozenset())
        else:
            with pytest.raises(IllegalTransitionError):
                enter(state, target, cause, epoch=9)


def _messages(own: int, epoch: int) -> list[Event]:
    """Messages of every type for a replica, sensible and not."""
    requests = [make(source, own, epoch) for make in (vote, pre_vote, bqe, eqe) for source in (2, 3)]
    fetches = [fetch(2, own, epoch, offset, last) for offset, last in product((0, 1, 9), (0, 3, epoch))]
    votes = [
        make(2, own, epoch, granted, leader=leader)
        for make, granted, leader in product((vote_reply, pre_vote_reply), (True, False), (None, 2, own))
    ]
    announced = [make(2, own, epoch, leader) for make, leader in product((bqe_reply, eqe_reply), (None, 2, own))]
    fetched = [
        fetch_reply(2, own, epoch, leader, records, diverging=diverging, high_watermark=1)
        for leader, records, diverging in product(
            (None, 2, own), ((), data(1), (voters_record(4, 2, 3),)), ((-1, -1), (0, 0), (3, 1))
        )
    ]
    return [Receive(message) for message in (*requests, *fetches, *votes, *announced, *fetched)]


def _admin_requests() -> list[Event]:
    """What admin clients ask, and the end of their time."""
    return [
        AddVoter(1, key(4), endpoint(4)),
        RemoveVoter(2, key(1)),
        RemoveVoter(3, key(2)),
        UpdateFeatures(4, 1),
        VoterChangeTimeout(),
    ]


def _messages_of_changes(own: int, epoch: int) -> list[Event]:
    """Messages of voter changes and snapshots, sensible and not."""
    messages: list[Message] = [
        AddVoterRequest(4, own, 7, key(4), endpoint(4), 30_000, False),
        RemoveVoterRequest(2, own, 7, key(2)),
        UpdateVoterRequest(2, own, 7, epoch, key(2), "elsewhere:1", 0, 1),
        ApiVersionsRequest(2, own, 7),
        ApiVersionsResponse(2, own, 7, 0, 1),
        FetchSnapshotRequest(2, own, 7, epoch, key(2), 2, 3),
        FetchSnapshotResponse(2, own, 7, Error.NONE, epoch, 2, endpoint(2), checkpoint(keys(1, 2), 5, 3)),
        fetch_reply(2, own, epoch, 2, snapshot_end_offset=5, snapshot_epoch=3),
    ]
    for error, leader_id in product((Error.NONE, Error.NOT_LEADER_OR_FOLLOWER), (None, 2, own)):
        answer = (2, own, 7, error, epoch, leader_id, where(leader_id))
        messages += [AddVoterResponse(*answer), RemoveVoterResponse(*answer), UpdateVoterResponse(*answer)]
    return [Receive(message) for message in messages]


@pytest.mark.parametrize("state", [*in_every_role(4), stopped(4)], ids=role_name)
@pytest.mark.parametrize("epoch", [3, 4, 6])
@pytest.mark.parametrize("membership", [(1, 2, 3), (2, 3), (1,)])
def test_every_role_takes_every_event(state: ReplicaState, epoch: int, membership: tuple[int, ...]) -> None:
    timers: list[Event] = [ElectionTimeout(), FetchTimeout(), CheckQuorumTimeout(), BeginQuorumEpochTimeout()]
    driven: list[Event] = [RequestTimeout(2), Poll(), PollFetch(2), Shutdown(), Restart()]
    clients: list[Event] = [ClientAppend(1), AppendVoters(voters_record(1, 2).voters), TakeSnapshot(1)]
    events = [*timers, *driven, *clients, *_admin_requests(), *_messages(1, epoch), *_messages_of_changes(1, epoch)]
    log = log_of(3, more=(voters_record(3, *membership),))
    if state.role in (Role.PROSPECTIVE, Role.CANDIDATE) and 1 not in membership:
        return  # observers do not nominate themselves
    for awaiting, high_watermark in (({}, -1), ({2: 7}, -1), ({}, 2), ({2: 7}, 2)):
        before = state._replace(log=log, awaiting=awaiting if state.role is not Role.STOPPED else {})
        if state.role is not Role.STOPPED:
            before = before._replace(high_watermark=high_watermark)
        for event in events:
            after = check_step(before, THREE, event, DRAW)
            assert after.epoch >= before.epoch


def test_a_stopped_replica_refuses_everything_but_a_start() -> None:
    down = new_replica(key(1), THREE.checkpoint(1))
    for event in (Poll(), ElectionTimeout(), Receive(vote(2, 1, 5)), Shutdown()):
        assert handle(down, THREE, event, DRAW).refusal is Refusal.NOT_RUNNING
    assert handle(down, THREE, Restart(), DRAW).state == unattached(0)
    assert handle(follower(4, 2), OBSERVED, Restart(), DRAW).refusal is Refusal.RUNNING

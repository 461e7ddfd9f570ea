"""Partition rules that no vector covers: brokers and controllers that come and go, wrong leaders, the old znode."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import handle
from kraft_partitions.effects import (
    AlterPartitionAnswer,
    AlterReassignmentsAnswer,
    LeaderAndIsr,
    ListReassignmentsAnswer,
    StorePartitions,
    StoreReassignPartitions,
)
from kraft_partitions.errors import ERROR_CODES, Error
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    ControllerFailover,
    DeleteTopic,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.partition import Assignment, Partition, TopicPartition
from kraft_partitions.state import ControllerState, initial_state

A0 = TopicPartition("A", 0)
B0 = TopicPartition("B", 0)
FIVE = PartitionConfiguration(frozenset(range(1, 7)), {A0: (1, 2, 3), B0: (2, 1)}, (1, 2))
IDLE = Partition((1, 2, 3), frozenset({1, 2, 3}), leader=1)
B_IDLE = Partition((2, 1), frozenset({1, 2}), leader=2)
MOVING = Partition((1, 2, 3, 4, 5), frozenset({1, 2, 3, 4}), (4, 5), (1, 2), 1, 0, 2)
"""S26 at step 2."""


def state_of(partition: Partition) -> ControllerState:
    """Return the state in which the first node is controller, all brokers are alive, and A-0 is as given."""
    partitions = {A0: partition, B0: B_IDLE}
    return initial_state(FIVE)._replace(memory={1: partitions}, stored=partitions)


def after(partition: Partition, event: Event) -> Outcome:
    return handle(state_of(partition), event, FIVE)


def alter(*target: int) -> AlterPartitionReassignments:
    return AlterPartitionReassignments(1, ((A0, target),))


CANCEL = AlterPartitionReassignments(1, ((A0, None),))


def _fields(partition: Partition) -> tuple[int | None, int, int, frozenset[int], Assignment, Assignment, Assignment]:
    epochs = (partition.leader, partition.leader_epoch, partition.partition_epoch)
    return (*epochs, partition.in_sync, partition.replicas, partition.adding, partition.removing)


def test_a_topic_that_is_being_deleted_is_unknown() -> None:
    """Rule: partition-reassign.unknown-partition."""
    deleting = after(MOVING, DeleteTopic("A"))
    assert deleting == Outcome(state_of(MOVING)._replace(deleting=frozenset({"A"})))
    answer = AlterReassignmentsAnswer(Error.NONE, ((A0, Error.UNKNOWN_TOPIC_OR_PARTITION),))
    assert handle(deleting.state, CANCEL, FIVE) == Outcome(deleting.state, (answer,), Refusal.REQUEST_REFUSED)
    listed = handle(deleting.state, ListPartitionReassignments(1), FIVE)
    assert listed.effects == (ListReassignmentsAnswer(Error.NONE),)
    sync = AlterPartition(1, 1, A0, 0, 2, frozenset({1}))
    assert handle(deleting.state, sync, FIVE).effects == (AlterPartitionAnswer(Error.UNKNOWN_TOPIC_OR_PARTITION),)
    assert handle(deleting.state, DeleteTopic("A"), FIVE).refusal is Refusal.ALREADY_SO
    assert handle(deleting.state, DeleteTopic("C"), FIVE).refusal is Refusal.UNKNOWN_ID


@pytest.mark.parametrize("timeout_ms", [-1, 0, 1, 60_000])
def test_the_time_that_a_client_waits_changes_nothing(timeout_ms: int) -> None:
    """Rule: partition-reassign.timeout-ignored."""
    assert after(IDLE, replace(alter(4, 3, 2), timeout_ms=timeout_ms)) == after(IDLE, alter(4, 3, 2))
    listing = ListPartitionReassignments(1)
    assert after(MOVING, replace(listing, timeout_ms=timeout_ms)) == after(MOVING, listing)


def test_no_target_cancels_and_an_empty_one_is_no_target() -> None:
    """Rule: partition-reassign.admin-api."""
    assert after(MOVING, CANCEL).state.partitions[A0].is_reassigned is False
    answer = AlterReassignmentsAnswer(Error.NONE, ((A0, Error.INVALID_REPLICA_ASSIGNMENT),))
    assert after(MOVING, alter()) == Outcome(state_of(MOVING), (answer,), Refusal.REQUEST_REFUSED)


def test_a_new_controller_reads_the_store_and_notifies_all_brokers() -> None:
    """Rule: partition-reassign.persisted."""
    outcome = after(MOVING, ControllerFailover(2))
    partitions = {A0: MOVING, B0: B_IDLE}
    messages = [LeaderAndIsr(broker, A0, *_fields(MOVING)) for broker in MOVING.replicas]
    messages += [LeaderAndIsr(broker, B0, *_fields(B_IDLE)) for broker in B_IDLE.replicas]
    assert outcome == Outcome(state_of(MOVING)._replace(controller=2, memory={2: partitions}), tuple(messages))
    assert after(MOVING, ControllerFailover(1)).refusal is Refusal.ALREADY_SO
    assert after(MOVING, ControllerFailover(7)).refusal is Refusal.UNKNOWN_ID


ZNODE = {A0: (1, 4), B0: (3,)}
BOTH_MOVE: Mapping[TopicPartition, Partition] = {
    A0: Partition((2, 3, 1, 4), frozenset({1, 2, 3}), (4,), (2, 3), 1, 0, 1),
    B0: Partition((2, 1, 3), frozenset({1, 2}), (3,), (2, 1), 2, 0, 1),
}


def test_the_old_znode_is_acted_on_only_when_it_was_empty() -> None:
    """Rule: partition-reassign.legacy-znode."""
    outcome = after(IDLE, WriteReassignPartitions(tuple(ZNODE.items())))
    assert outcome.state == state_of(IDLE)._replace(memory={1: BOTH_MOVE}, stored=BOTH_MOVE, legacy=ZNODE)
    again = handle(outcome.state, WriteReassignPartitions(((A0, (5,)),)), FIVE)
    assert again == Outcome(outcome.state, refusal=Refusal.ZNODE_NOT_EMPTY)
    bad = after(IDLE, WriteReassignPartitions(((A0, (99,)), (TopicPartition("A", 9), (1,)))))
    assert bad == Outcome(state_of(IDLE), (StoreReassignPartitions(()),))


@pytest.mark.parametrize(
    ("alter_partition", "error"),
    [
        (AlterPartition(1, 1, TopicPartition("A", 9), 0, 2, frozenset({1})), Error.UNKNOWN_TOPIC_OR_PARTITION),
        (AlterPartition(1, 9, A0, 1, 0, frozenset()), Error.NOT_CONTROLLER),
        (AlterPartition(1, 9, A0, -1, 3, frozenset()), Error.NOT_CONTROLLER),
        (AlterPartition(1, 9, A0, -1, 0, frozenset()), Error.FENCED_LEADER_EPOCH),
        (AlterPartition(1, 2, A0, 0, 0, frozenset()), Error.INVALID_REQUEST),
        (AlterPartition(1, 1, A0, 0, 1, frozenset()), Error.INVALID_UPDATE_VERSION),
        (AlterPartition(1, 1, A0, 0, 2, frozenset({2})), Error.INVALID_REQUEST),
        (AlterPartition(1, 1, A0, 0, 2, frozenset({1, 6})), Error.INVALID_REQUEST),
        (AlterPartition(1, 1, A0, 0, 2, frozenset({1, 5})), Error.INELIGIBLE_REPLICA),
    ],
)
def test_a_leader_with_wrong_knowledge_changes_nothing(alter_partition: AlterPartition, error: Error) -> None:
    state = state_of(MOVING)._replace(alive=frozenset({1, 2, 3, 4, 6}))
    assert handle(state, alter_partition, FIVE) == Outcome(
        state, (AlterPartitionAnswer(error),), Refusal.REQUEST_REFUSED
    )


def test_a_leader_gets_a_response_and_its_replicas_nothing() -> None:
    now = MOVING._replace(in_sync=frozenset({1, 5}), partition_epoch=3)
    outcome = after(MOVING, AlterPartition(1, 1, A0, 0, 2, frozenset({1, 5})))
    effects = (StorePartitions(((A0, now),)), AlterPartitionAnswer(Error.NONE, 3))
    assert outcome == Outcome(state_of(now), effects)


def test_a_broker_that_fails_leads_nothing_and_comes_back_behind() -> None:
    failed = after(MOVING, BrokerFails(1))
    now = MOVING._replace(in_sync=frozenset({2, 3, 4}), leader=2, leader_epoch=1, partition_epoch=3)
    b_now = B_IDLE._replace(in_sync=frozenset({2}), partition_epoch=1)
    assert dict(failed.state.partitions) == {A0: now, B0: b_now}
    assert [e.broker for e in failed.effects if isinstance(e, LeaderAndIsr)] == [2, 3, 4, 5, 2]
    back = handle(failed.state, BrokerStarts(1), FIVE)
    messages = (LeaderAndIsr(1, A0, *_fields(now)), LeaderAndIsr(1, B0, *_fields(b_now)))
    assert back == Outcome(failed.state._replace(alive=FIVE.brokers), messages)
    assert handle(failed.state, BrokerFails(1), FIVE).refusal is Refusal.ALREADY_SO
    assert handle(failed.state, BrokerFails(9), FIVE).refusal is Refusal.UNKNOWN_ID
    assert handle(back.state, BrokerStarts(1), FIVE).refusal is Refusal.ALREADY_SO
    assert handle(back.state, BrokerStarts(9), FIVE).refusal is Refusal.UNKNOWN_ID


def test_error_codes_are_those_of_the_wire() -> None:
    assert set(ERROR_CODES) == set(Error)
    assert len(set(ERROR_CODES.values())) == len(ERROR_CODES)

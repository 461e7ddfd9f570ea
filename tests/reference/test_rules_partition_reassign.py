"""partition-reassign.*: whole states and whole effects of single events; the tables are in the scenarios."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.reference.builders import states

from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.controller import due, handle
from kraft_reference.partitions.decisions import KAFKA_4, KIP, ReassignmentProfile
from kraft_reference.partitions.effects import (
    AlterPartitionAnswer,
    AlterReassignmentsAnswer,
    LeaderAndIsr,
    ListReassignmentsAnswer,
    Reassignment,
    StopReplica,
    StorePartitions,
    StoreReassignPartitions,
)
from kraft_reference.partitions.errors import ERROR_CODES, Error
from kraft_reference.partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    DeleteTopic,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_reference.partitions.outcome import Outcome, Refusal
from kraft_reference.partitions.partition import Assignment, Partition, TopicPartition
from kraft_reference.partitions.state import ControllerState, initial_state

A0 = TopicPartition("A", 0)
B0 = TopicPartition("B", 0)
FIVE = PartitionConfiguration(frozenset(range(1, 7)), {A0: (1, 2, 3), B0: (2, 1)}, (1, 2))
IDLE = Partition((1, 2, 3), frozenset({1, 2, 3}), leader=1)
B_IDLE = Partition((2, 1), frozenset({1, 2}), leader=2)
MOVING = Partition((1, 2, 3, 4, 5), frozenset({1, 2, 3, 4}), (4, 5), (1, 2), 1, 0, 2)
"""S26 at step 2."""


def state_of(partition: Partition, configuration: PartitionConfiguration = FIVE) -> ControllerState:
    """The first node is controller, everybody is alive, and A-0 is as given."""
    partitions = {A0: partition, B0: B_IDLE}
    return initial_state(configuration)._replace(memory={1: partitions}, stored=partitions)


def after(partition: Partition, event: Event, configuration: PartitionConfiguration = FIVE) -> Outcome:
    return handle(state_of(partition, configuration), event, configuration)


def alter(*target: int, node: int = 1) -> AlterPartitionReassignments:
    return AlterPartitionReassignments(node, ((A0, target),))


CANCEL = AlterPartitionReassignments(1, ((A0, None),))


def changed(before: Partition, now: Partition, told: Assignment, stopped: Assignment = ()) -> Outcome:
    """Only A-0 changes: stored, then told to those that stay, then those that go are stopped."""
    partitions = {A0: now, B0: B_IDLE}
    tell = [LeaderAndIsr(broker, A0, *_fields(now)) for broker in told]
    stop = [StopReplica(broker, A0) for broker in stopped]
    state = state_of(before)._replace(memory={1: partitions}, stored=partitions)
    return Outcome(state, (StorePartitions(((A0, now),)), *tell, *stop))


def _fields(one: Partition) -> tuple[int | None, int, int, frozenset[int], Assignment, Assignment, Assignment]:
    epochs = (one.leader, one.leader_epoch, one.partition_epoch)
    return (*epochs, one.in_sync, one.replicas, one.adding, one.removing)


def answered(outcome: Outcome, *errors: Error) -> Outcome:
    """The same, and the results of A-0."""
    answer = AlterReassignmentsAnswer(Error.NONE, tuple([(A0, error) for error in errors]))
    return outcome._replace(effects=(*outcome.effects, answer))


def refused(partition: Partition, error: Error) -> Outcome:
    """Nothing changes, and the one result says why."""
    answer = AlterReassignmentsAnswer(Error.NONE, ((A0, error),))
    return Outcome(state_of(partition), (answer,), Refusal.REQUEST_REFUSED)


# ---------------------------------------------------------------------------------------------------------
# Requests as wholes.
# ---------------------------------------------------------------------------------------------------------


@states("partition-reassign.controller-only")
def test_only_the_controller_answers() -> None:
    state = state_of(IDLE)
    refusal = Refusal.REQUEST_REFUSED
    error = Error.NOT_CONTROLLER
    assert handle(state, alter(2, node=2), FIVE) == Outcome(state, (AlterReassignmentsAnswer(error),), refusal)
    asked = ListPartitionReassignments(2)
    assert handle(state, asked, FIVE) == Outcome(state, (ListReassignmentsAnswer(error),), refusal)
    sync = AlterPartition(2, 1, A0, 0, 0, frozenset({1}))
    assert handle(state, sync, FIVE) == Outcome(state, (AlterPartitionAnswer(error),), refusal)
    assert set(handle(state, ControllerFailover(2), FIVE).state.memory) == {2}


@states("partition-reassign.authorization", "partition-reassign.error-order")
def test_permission_is_looked_at_first() -> None:
    state = state_of(IDLE)
    asked = replace(alter(99, node=2), may_alter=False)
    error = Error.CLUSTER_AUTHORIZATION_FAILED
    answer = AlterReassignmentsAnswer(error)
    assert handle(state, asked, FIVE) == Outcome(state, (answer,), Refusal.REQUEST_REFUSED)
    listing = ListPartitionReassignments(2, may_describe=False)
    assert handle(state, listing, FIVE) == Outcome(state, (ListReassignmentsAnswer(error),), Refusal.REQUEST_REFUSED)


@states("partition-reassign.error-order", "partition-reassign.unknown-partition")
@pytest.mark.parametrize("target", [None, (), (1, 99), (1,)])
@pytest.mark.parametrize("name", [TopicPartition("A", 99), TopicPartition("C", 0)])
def test_existence_is_looked_at_before_the_target(name: TopicPartition, target: Assignment | None) -> None:
    outcome = after(IDLE, AlterPartitionReassignments(1, ((name, target),)))
    answer = AlterReassignmentsAnswer(Error.NONE, ((name, Error.UNKNOWN_TOPIC_OR_PARTITION),))
    assert outcome == Outcome(state_of(IDLE), (answer,), Refusal.REQUEST_REFUSED)


@states("partition-reassign.unknown-partition")
def test_a_topic_that_is_being_deleted_is_unknown() -> None:
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


@states("partition-reassign.timeout-ignored")
@pytest.mark.parametrize("timeout_ms", [-1, 0, 1, 60_000])
def test_the_time_that_a_client_waits_changes_nothing(timeout_ms: int) -> None:
    assert after(IDLE, replace(alter(4, 3, 2), timeout_ms=timeout_ms)) == after(IDLE, alter(4, 3, 2))
    listing = ListPartitionReassignments(1)
    assert after(MOVING, replace(listing, timeout_ms=timeout_ms)) == after(MOVING, listing)


@states("partition-reassign.per-partition")
def test_each_partition_has_its_own_result() -> None:
    asked = AlterPartitionReassignments(1, ((A0, (4, 3, 2)), (B0, None)))
    alone, both = after(IDLE, alter(4, 3, 2)), after(IDLE, asked)
    assert both.state == alone.state
    assert both.effects[:-1] == alone.effects[:-1]
    results = ((A0, Error.NONE), (B0, Error.NO_REASSIGNMENT_IN_PROGRESS))
    assert both.effects[-1] == AlterReassignmentsAnswer(Error.NONE, results)
    stored = after(IDLE, AlterPartitionReassignments(1, ((B0, (1,)), (A0, (4,))))).effects[0]
    assert isinstance(stored, StorePartitions)
    assert [name for name, _ in stored.partitions] == [A0, B0]


@states("partition-reassign.per-partition")
def test_the_last_accepted_request_about_a_partition_counts() -> None:
    asked = AlterPartitionReassignments(1, ((A0, (6,)), (A0, (4, 3, 2)), (A0, ())))
    outcome = after(IDLE, asked)
    assert outcome.state == after(IDLE, alter(4, 3, 2)).state
    results = ((A0, Error.NONE), (A0, Error.NONE), (A0, Error.INVALID_REPLICA_ASSIGNMENT))
    assert outcome.effects[-1] == AlterReassignmentsAnswer(Error.NONE, results)


@states("partition-reassign.admin-api")
def test_no_target_cancels_and_an_empty_one_is_no_target() -> None:
    assert after(MOVING, CANCEL).state.partitions[A0].is_reassigned is False
    assert after(MOVING, alter()) == refused(MOVING, Error.INVALID_REPLICA_ASSIGNMENT)


@states("partition-reassign.invalid-assignment")
@pytest.mark.parametrize("target", [(), (1, -2), (1, 99), (1, 1), (-1,)])
@pytest.mark.parametrize("partition", [IDLE, MOVING])
def test_a_list_that_is_no_assignment_is_refused(partition: Partition, target: Assignment) -> None:
    assert after(partition, alter(*target)) == refused(partition, Error.INVALID_REPLICA_ASSIGNMENT)


# ---------------------------------------------------------------------------------------------------------
# Start, complete, cancel, replace.
# ---------------------------------------------------------------------------------------------------------


@states("partition-reassign.start", "partition-reassign.leader-and-isr-fields", "partition-reassign.mixed-versions")
def test_a_start_widens_the_replicas_and_tells_all_of_them() -> None:
    wide = IDLE._replace(replicas=(1, 4, 3, 2), adding=(4,), removing=(1,), partition_epoch=1)
    assert after(IDLE, alter(4, 3, 2)) == answered(changed(IDLE, wide, (1, 4, 3, 2)), Error.NONE)
    assert all(e.version == 3 for e in after(IDLE, alter(4, 3, 2)).effects if isinstance(e, LeaderAndIsr))


@states("partition-reassign.start")
@pytest.mark.parametrize(
    ("order", "replicas", "adding", "removing"),
    [(KIP, (3, 1, 5, 2, 4), (5, 4), (3, 1)), (KAFKA_4, (5, 2, 4, 1, 3), (4, 5), (1, 3))],
)
def test_the_order_of_the_widened_replicas(
    order: ReassignmentProfile, replicas: Assignment, adding: Assignment, removing: Assignment
) -> None:
    profile = replace(KIP, replicas_order=order.replicas_order)
    outcome = after(IDLE._replace(replicas=(3, 1, 2)), alter(5, 2, 4), replace(FIVE, profile=profile))
    now = outcome.state.partitions[A0]
    assert (now.replicas, now.adding, now.removing) == (replicas, adding, removing)


@states("partition-reassign.no-op-target")
def test_a_new_order_is_complete_at_once() -> None:
    reordered = IDLE._replace(replicas=(3, 1, 2), partition_epoch=1)
    assert after(IDLE, alter(3, 1, 2)) == answered(changed(IDLE, reordered, (3, 1, 2)), Error.NONE)
    assert after(IDLE, alter(1, 2, 3)) == answered(Outcome(state_of(IDLE)), Error.NONE)


@states("partition-reassign.add-before-remove", "partition-reassign.complete-in-one-step")
@pytest.mark.parametrize(("in_sync", "ready"), [({1, 4}, False), ({4, 5}, True), ({1, 2, 3, 4, 5}, True)])
def test_nobody_goes_before_all_who_come_are_in_sync(in_sync: set[int], ready: bool) -> None:
    partition = MOVING._replace(in_sync=frozenset(in_sync), leader=4)
    assert due(state_of(partition), FIVE) == ((A0,) if ready else ())
    assert (after(partition, CompleteReassignment(A0)).refusal is Refusal.NOTHING_DUE) is not ready
    whole = replace(FIVE, profile=replace(KIP, completes_with="target"))
    assert due(state_of(partition), whole) == ((A0,) if {3, 4, 5} <= in_sync else ())


@states("partition-reassign.complete-in-one-step", "partition-reassign.leader-in-removing")
def test_a_completion_is_one_change_and_moves_the_leader() -> None:
    ready = MOVING._replace(in_sync=frozenset({1, 2, 4, 5}))
    done = Partition((3, 4, 5), frozenset({4, 5}), leader=4, leader_epoch=1, partition_epoch=3)
    assert after(ready, CompleteReassignment(A0)) == changed(ready, done, (3, 4, 5), (1, 2))
    assert after(done, CompleteReassignment(A0)).refusal is Refusal.NOTHING_DUE
    assert after(done, CompleteReassignment(TopicPartition("A", 9))).refusal is Refusal.NOTHING_DUE


@states("partition-reassign.leader-in-removing")
def test_in_kafka_the_leader_learns_from_the_answer_that_it_leads_no_more() -> None:
    kafka = replace(FIVE, profile=KAFKA_4)
    moving = MOVING._replace(replicas=(3, 4, 5, 1, 2))
    outcome = after(moving, AlterPartition(1, 1, A0, 0, 2, frozenset({1, 2, 3, 4, 5})), kafka)
    assert outcome.state.partitions[A0] == Partition((3, 4, 5), frozenset({3, 4, 5}), (), (), 3, 1, 3)
    assert outcome.effects[-1] == AlterPartitionAnswer(Error.NEW_LEADER_ELECTED, 3)


@states("partition-reassign.isr-never-empty")
def test_somebody_in_sync_is_left() -> None:
    shrinking = Partition((1, 2, 3), frozenset({1}), (), (1,), 1, 0, 2)
    assert due(state_of(shrinking), FIVE) == ()
    only_four = MOVING._replace(in_sync=frozenset({4}), leader=4)
    assert after(only_four, CANCEL) == refused(only_four, Error.INVALID_REPLICA_ASSIGNMENT)
    only_five = MOVING._replace(in_sync=frozenset({5}), leader=5)
    assert after(only_five, alter(1, 4, 6)) == refused(only_five, Error.INVALID_REPLICA_ASSIGNMENT)
    unclean = replace(FIVE, unclean_topics=frozenset({"A"}))
    assert due(state_of(shrinking), unclean) == ()
    now = after(only_four, CANCEL, unclean).state.partitions[A0]
    assert now == Partition((1, 2, 3), frozenset({1}), (), (), 1, 1, 3)


@states("partition-reassign.isr-never-empty")
def test_unclean_election_never_takes_one_that_has_just_been_added() -> None:
    """The one in sync is dead, not gone: found by the model, see PartitionReassignment.tla, Altered."""
    unclean = replace(FIVE, unclean_topics=frozenset({"A"}))
    offline = Partition((1,), frozenset({1}), leader=None, leader_epoch=1)
    dead = state_of(offline, unclean)._replace(alive=frozenset({2, 3, 4, 5, 6}))
    now = handle(dead, alter(4), unclean).state.partitions[A0]
    assert now == Partition((1, 4), frozenset({1}), (4,), (1,), None, 1, 1)


@states("partition-reassign.cancel")
def test_a_cancellation_restores_replicas_and_in_sync_replicas() -> None:
    restored = Partition((1, 2, 3), frozenset({1, 2, 3}), leader=1, partition_epoch=3)
    assert after(MOVING, CANCEL) == answered(changed(MOVING, restored, (1, 2, 3), (4, 5)), Error.NONE)


@states("partition-reassign.cancel-nothing")
def test_nothing_to_cancel() -> None:
    assert after(IDLE, CANCEL) == refused(IDLE, Error.NO_REASSIGNMENT_IN_PROGRESS)


@states("partition-reassign.override")
def test_a_replacement_starts_from_the_original_replicas() -> None:
    replaced = MOVING._replace(replicas=(2, 3, 1, 4, 6), adding=(4, 6), removing=(2, 3), partition_epoch=3)
    assert after(MOVING, alter(1, 4, 6)) == answered(changed(MOVING, replaced, (2, 3, 1, 4, 6), (5,)), Error.NONE)
    kafka = replace(FIVE, profile=KAFKA_4)
    now = after(MOVING, alter(1, 4, 6), kafka).state.partitions[A0]
    assert (now.replicas, now.adding, now.removing) == ((1, 4, 6, 2, 3, 5), (6,), (2, 3, 5))


# ---------------------------------------------------------------------------------------------------------
# List.
# ---------------------------------------------------------------------------------------------------------


@states("partition-reassign.list")
@pytest.mark.parametrize(
    ("asked", "profile", "listed"),
    [
        (None, KIP, (A0,)),
        (None, KAFKA_4, (A0,)),
        ((B0, A0, TopicPartition("A", 9)), KIP, (B0, A0)),
        ((B0, A0, TopicPartition("A", 9)), KAFKA_4, (A0,)),
        ((), KIP, ()),
    ],
)
def test_list(asked: tuple[TopicPartition, ...] | None, profile: object, listed: tuple[TopicPartition, ...]) -> None:
    configuration = replace(FIVE, profile=KIP if profile is KIP else KAFKA_4)
    lists = {A0: Reassignment(A0, (1, 2, 3, 4, 5), (4, 5), (1, 2)), B0: Reassignment(B0, (2, 1), (), ())}
    answer = ListReassignmentsAnswer(Error.NONE, tuple([lists[name] for name in listed]))
    outcome = after(MOVING, ListPartitionReassignments(1, asked), configuration)
    assert outcome == Outcome(state_of(MOVING, configuration), (answer,))


# ---------------------------------------------------------------------------------------------------------
# What is stored; the old znode.
# ---------------------------------------------------------------------------------------------------------


@states("partition-reassign.persisted")
def test_a_new_controller_has_what_was_stored_and_tells_everybody() -> None:
    outcome = after(MOVING, ControllerFailover(2))
    partitions = {A0: MOVING, B0: B_IDLE}
    told = [LeaderAndIsr(broker, A0, *_fields(MOVING)) for broker in MOVING.replicas]
    told += [LeaderAndIsr(broker, B0, *_fields(B_IDLE)) for broker in B_IDLE.replicas]
    assert outcome == Outcome(state_of(MOVING)._replace(controller=2, memory={2: partitions}), tuple(told))
    assert after(MOVING, ControllerFailover(1)).refusal is Refusal.ALREADY_SO
    assert after(MOVING, ControllerFailover(7)).refusal is Refusal.UNKNOWN_ID


ZNODE = {A0: (1, 4), B0: (3,)}
BOTH_MOVE: Mapping[TopicPartition, Partition] = {
    A0: Partition((2, 3, 1, 4), frozenset({1, 2, 3}), (4,), (2, 3), 1, 0, 1),
    B0: Partition((2, 1, 3), frozenset({1, 2}), (3,), (2, 1), 2, 0, 1),
}


@states("partition-reassign.legacy-znode")
def test_the_old_znode_is_acted_on_only_when_it_was_empty() -> None:
    outcome = after(IDLE, WriteReassignPartitions(tuple(ZNODE.items())))
    assert outcome.state == state_of(IDLE)._replace(memory={1: BOTH_MOVE}, stored=BOTH_MOVE, legacy=ZNODE)
    again = handle(outcome.state, WriteReassignPartitions(((A0, (5,)),)), FIVE)
    assert again == Outcome(outcome.state, refusal=Refusal.ZNODE_NOT_EMPTY)
    bad = after(IDLE, WriteReassignPartitions(((A0, (99,)), (TopicPartition("A", 9), (1,)))))
    assert bad == Outcome(state_of(IDLE), (StoreReassignPartitions(()),))


@states("partition-reassign.legacy-znode")
def test_what_is_refused_is_gone_from_the_old_znode_although_its_partition_moves() -> None:
    """Else a failover would try it again, when it may be accepted, against a request that came later."""
    only_four = MOVING._replace(in_sync=frozenset({4}), leader=4)
    for refused in ((99,), (1, 2, 3)):
        outcome = after(only_four, WriteReassignPartitions(((A0, refused), (B0, (1,)))))
        assert outcome.state.partitions[A0] == only_four
        assert outcome.state.legacy == {B0: (1,)}
        assert StoreReassignPartitions(((B0, (1,)),)) in outcome.effects
    caught_up = handle(outcome.state, AlterPartition(1, 4, A0, 0, 2, frozenset({3, 4})), FIVE).state
    assert handle(caught_up, ControllerFailover(2), FIVE).state.partitions[A0] == caught_up.partitions[A0]


@states("partition-reassign.legacy-znode-precedence")
def test_what_a_new_controller_refuses_of_the_old_znode_is_gone_too() -> None:
    only_five = Partition((1, 5, 6), frozenset({5}), (5,), (1,), 5, 0, 2)
    state = state_of(only_five)._replace(legacy={A0: (1,)})
    outcome = handle(state, ControllerFailover(2), FIVE)
    assert (outcome.state.partitions[A0], outcome.state.legacy) == (only_five, {})
    assert StoreReassignPartitions(()) in outcome.effects


@states("partition-reassign.legacy-znode-precedence")
def test_the_old_znode_wins_on_failover() -> None:
    written = after(IDLE, WriteReassignPartitions(tuple(ZNODE.items()))).state
    replaced = handle(written, alter(5, 6), FIVE).state
    assert replaced.legacy == ZNODE
    now = handle(replaced, ControllerFailover(2), FIVE)
    assert now.state.partitions[A0] == BOTH_MOVE[A0]._replace(partition_epoch=3)
    assert StopReplica(5, A0) in now.effects
    assert now.state.partitions[B0] == BOTH_MOVE[B0]


# ---------------------------------------------------------------------------------------------------------
# In-sync replicas and brokers: what reassignment rests on.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error"),
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
def test_a_leader_that_knows_something_wrongly_changes_nothing(asked: AlterPartition, error: Error) -> None:
    state = state_of(MOVING)._replace(alive=frozenset({1, 2, 3, 4, 6}))
    assert handle(state, asked, FIVE) == Outcome(state, (AlterPartitionAnswer(error),), Refusal.REQUEST_REFUSED)


def test_a_leader_is_answered_and_its_replicas_are_not_told() -> None:
    now = MOVING._replace(in_sync=frozenset({1, 5}), partition_epoch=3)
    outcome = after(MOVING, AlterPartition(1, 1, A0, 0, 2, frozenset({1, 5})))
    expected = changed(MOVING, now, ())
    assert outcome == expected._replace(effects=(*expected.effects, AlterPartitionAnswer(Error.NONE, 3)))


def test_a_broker_that_fails_leads_nothing_and_comes_back_behind() -> None:
    failed = after(MOVING, BrokerFails(1))
    now = MOVING._replace(in_sync=frozenset({2, 3, 4}), leader=2, leader_epoch=1, partition_epoch=3)
    b_now = B_IDLE._replace(in_sync=frozenset({2}), partition_epoch=1)
    assert dict(failed.state.partitions) == {A0: now, B0: b_now}
    assert [e.broker for e in failed.effects if isinstance(e, LeaderAndIsr)] == [2, 3, 4, 5, 2]
    back = handle(failed.state, BrokerStarts(1), FIVE)
    told = (LeaderAndIsr(1, A0, *_fields(now)), LeaderAndIsr(1, B0, *_fields(b_now)))
    assert back == Outcome(failed.state._replace(alive=FIVE.brokers), told)
    assert handle(failed.state, BrokerFails(1), FIVE).refusal is Refusal.ALREADY_SO
    assert handle(failed.state, BrokerFails(9), FIVE).refusal is Refusal.UNKNOWN_ID
    assert handle(back.state, BrokerStarts(1), FIVE).refusal is Refusal.ALREADY_SO
    assert handle(back.state, BrokerStarts(9), FIVE).refusal is Refusal.UNKNOWN_ID


def test_the_last_replica_in_sync_stays_so_and_leads_again() -> None:
    alone = Partition((1, 2), frozenset({1}), leader=1)
    failed = after(alone, BrokerFails(1)).state
    assert failed.partitions[A0] == Partition((1, 2), frozenset({1}), (), (), None, 1, 1)
    assert handle(failed, BrokerStarts(1), FIVE).state.partitions[A0] == Partition(
        (1, 2), frozenset({1}), (), (), 1, 2, 2
    )
    unclean = replace(FIVE, unclean_topics=frozenset({"A"}))
    assert after(alone, BrokerFails(1), unclean).state.partitions[A0] == Partition(
        (1, 2), frozenset({2}), (), (), 2, 1, 1
    )


def test_error_codes_are_those_of_the_wire() -> None:
    assert set(ERROR_CODES) == set(Error)
    assert len(set(ERROR_CODES.values())) == len(ERROR_CODES)

"""Any sequence of events against expectations of their own: sets of replicas, and errors worked out from the KIP.

Nothing here calls the reference's predicates: what a request should be answered is told from the sets that were asked
for, and from who is in sync and alive.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.effects import (
    AlterReassignmentsAnswer,
    Effect,
    LeaderAndIsr,
    ListReassignmentsAnswer,
    StopReplica,
    StorePartitions,
)
from kraft_reference.partitions.errors import Error
from kraft_reference.partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    Event,
    ListPartitionReassignments,
)
from kraft_reference.partitions.occurrence import happen
from kraft_reference.partitions.partition import Partition, TopicPartition
from kraft_reference.partitions.properties import PartitionWatch
from kraft_reference.partitions.state import initial_state

A0 = TopicPartition("A", 0)
NAMES = (A0, TopicPartition("A", 7))
BROKERS = range(1, 6)
TARGETS = st.lists(st.sampled_from([*BROKERS] * 4 + [-1, 9]), max_size=3).map(tuple)


class Reassignment(RuleBasedStateMachine):
    """One partition of a clean topic under the profile of KIP-455."""

    profile = PROFILES["kip"]

    def __init__(self) -> None:
        super().__init__()
        self.configuration = PartitionConfiguration(frozenset(BROKERS), {A0: (1, 2, 3)}, (1, 2), profile=self.profile)
        self.state = initial_state(self.configuration)
        self.watch = PartitionWatch(self.configuration)
        self.original = {1, 2, 3}
        self.target = {1, 2, 3}
        self.sequence = 0

    @property
    def now(self) -> Partition:
        return self.state.partitions[A0]

    def let(self, event: Event) -> tuple[Effect, ...]:
        self.sequence += 1
        before, occurrence = self.state, happen(self.sequence, self.state, event, self.configuration)
        self.watch.observe(occurrence)
        self.state = occurrence.state
        if occurrence.refusal is not None:
            assert self.state == before
            assert not [e for e in occurrence.effects if isinstance(e, StorePartitions | LeaderAndIsr | StopReplica)]
        stopped = {e.broker for e in occurrence.effects if isinstance(e, StopReplica)}
        assert stopped == (set(before.partitions[A0].replicas) - set(self.now.replicas)) & self.state.alive
        return occurrence.effects

    # ---- requests ----

    def expected(self, name: TopicPartition, target: tuple[int, ...] | None) -> Error:
        """The error that the KIP's texts give."""
        if name != A0:
            return Error.UNKNOWN_TOPIC_OR_PARTITION
        if target is None and self.original == self.target:
            return Error.NO_REASSIGNMENT_IN_PROGRESS
        if target is not None and (not target or len(set(target)) < len(target) or not set(target) <= set(BROKERS)):
            return Error.INVALID_REPLICA_ASSIGNMENT
        stays = self.original | set(target or ())
        return Error.NONE if self.now.in_sync & stays else Error.INVALID_REPLICA_ASSIGNMENT

    @rule(name=st.sampled_from([A0, A0, A0, NAMES[1]]), wanted=st.one_of(st.none(), TARGETS, TARGETS))
    def alter(self, name: TopicPartition, wanted: tuple[int, ...] | None) -> None:
        error = self.expected(name, wanted)
        in_sync = self.now.in_sync
        effects = self.let(AlterPartitionReassignments(self.state.controller, ((name, wanted),)))
        assert effects[-1:] == (AlterReassignmentsAnswer(Error.NONE, ((name, error),)),)
        if error is Error.NONE:
            self.target = self.original if wanted is None else set(wanted)
            assert self.now.in_sync == in_sync & (self.original | self.target)

    @rule(may_alter=st.booleans(), wanted=TARGETS)
    def alter_elsewhere(self, may_alter: bool, wanted: tuple[int, ...]) -> None:
        asked = AlterPartitionReassignments(3 - self.state.controller, ((A0, wanted),), may_alter)
        error = Error.NOT_CONTROLLER if may_alter else Error.CLUSTER_AUTHORIZATION_FAILED
        assert self.let(asked) == (AlterReassignmentsAnswer(error),)

    @rule()
    def list_all(self) -> None:
        (answer,) = self.let(ListPartitionReassignments(self.state.controller))
        assert isinstance(answer, ListReassignmentsAnswer)
        rows = [(set(one.replicas), set(one.adding), set(one.removing)) for one in answer.reassignments]
        joining, leaving = self.target - self.original, self.original - self.target
        moving = bool(joining or leaving)
        assert rows == ([(self.original | self.target, joining, leaving)] if moving else [])

    # ---- what happens meanwhile ----

    @rule(broker=st.sampled_from(BROKERS), catches_up=st.booleans())
    def in_sync(self, broker: int, catches_up: bool) -> None:
        now = self.now
        if now.leader is None or broker == now.leader or broker not in now.replicas or broker not in self.state.alive:
            return
        in_sync = now.in_sync | {broker} if catches_up else now.in_sync - {broker}
        epochs = (now.leader_epoch, now.partition_epoch)
        self.let(AlterPartition(self.state.controller, now.leader, A0, *epochs, in_sync))
        assert self.now.in_sync == in_sync

    @rule()
    def complete(self) -> None:
        joining = self.target - self.original
        moving = self.target != self.original
        ready = moving and joining <= self.now.in_sync and bool(self.now.in_sync & self.target)
        in_sync, alive = self.now.in_sync, self.state.alive
        effects = self.let(CompleteReassignment(A0))
        assert bool(effects) == ready
        if ready:
            self.original = self.target
            assert self.now.in_sync == in_sync & self.target
            assert self.now.leader in alive or not alive & self.now.in_sync

    @rule(broker=st.sampled_from(BROKERS))
    def fails(self, broker: int) -> None:
        in_sync = self.now.in_sync - {broker}
        expected = in_sync if in_sync and broker in self.state.alive else self.now.in_sync
        self.let(BrokerFails(broker))
        assert broker not in self.state.alive
        assert self.now.in_sync == expected

    @precondition(lambda self: len(self.state.alive) < len(BROKERS))
    @rule(broker=st.sampled_from(BROKERS))
    def starts(self, broker: int) -> None:
        in_sync = self.now.in_sync
        self.let(BrokerStarts(broker))
        assert broker in self.state.alive
        assert self.now.in_sync == in_sync

    @rule()
    def fails_over(self) -> None:
        partitions, node = self.state.partitions, 3 - self.state.controller
        self.let(ControllerFailover(node))
        assert (self.state.controller, dict(self.state.memory)) == (node, {node: partitions})

    # ---- what is always so ----

    @invariant()
    def replicas_are_those_asked_for(self) -> None:
        now = self.now
        assert set(now.replicas) == self.original | self.target
        assert set(now.adding) == self.target - self.original
        assert set(now.removing) == self.original - self.target
        lists = (now.replicas, now.adding, now.removing)
        assert [len(set(one)) for one in lists] == [len(one) for one in lists]

    @invariant()
    def what_is_stored_is_what_is_known(self) -> None:
        assert dict(self.state.stored) == dict(self.state.partitions)

    @invariant()
    def all_properties_hold(self) -> None:
        assert self.watch.violated == {}


TestReassignment = Reassignment.TestCase

"""A cluster under arbitrary moves: no step raises, and each is safe to be cut short.

The machine does what a network, clocks, clients, operators and faults may do, in any order and as often as they like.
It judges with its own definitions: leaders by epoch, votes by replica and epoch, committed records by offset, what is
on disk after each effect.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.reference.builders import (
    THREE,
    cluster,
    endpoint,
)
from tests.reference.checked_step import check_step

from kraft_reference.cluster.world import World
from kraft_reference.configuration import Configuration
from kraft_reference.events import (
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
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
from kraft_reference.identity import ReplicaKey
from kraft_reference.profile import KIP, PROFILES
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.records import Record
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState


def _with_joining(configuration: Configuration, voters: int, joining: bool) -> Configuration:
    """The cluster whose observers were formatted without a list and join it."""
    replicas = {
        replica_id: replace(replica, auto_join=joining, initial_voters=frozenset() if replica_id > voters else None)
        for replica_id, replica in configuration.replicas.items()
    }
    return replace(configuration, replicas=replicas) if joining else configuration


_PROFILES = [*PROFILES.values(), replace(KIP, name="kip-642-votes", vote_of_non_voter="refuse-and-campaign")]

CONFIGURATIONS = st.builds(
    lambda voters, observers, version, profile, support, most, joining: _with_joining(
        replace(
            cluster(voters, observers, support, kraft_version=version),
            profile=profile,
            fetch_max_records=most,
        ),
        voters,
        joining,
    ),
    st.sampled_from([1, 3, 3, 3, 4, 5]),
    st.integers(0, 1),
    st.sampled_from([0, 1]),
    st.sampled_from(_PROFILES),
    st.fixed_dictionaries({2: st.sampled_from(["supported", "supported", "unsupported", "ignored"])}),
    st.sampled_from([0, 1]),
    st.booleans(),
)
INDEX = st.integers(0, 10**6)


class ClusterMachine(RuleBasedStateMachine):
    """Moves of a cluster and what must hold after each."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(THREE)
        self.leaders: dict[int, ReplicaKey] = {}
        self.votes: dict[tuple[ReplicaKey, int], ReplicaKey] = {}
        self.epochs: dict[ReplicaKey, int] = {}
        self.committed: dict[int, Record] = {}
        self.sets_change = False
        self.disks = 0

    @initialize(configuration=CONFIGURATIONS, sets_change=st.booleans())
    def begin(self, configuration: Configuration, sets_change: bool) -> None:
        self.world = World(configuration)
        self.sets_change = sets_change

    def _replica(self, index: int) -> int:
        ids = sorted(self.world.replicas)
        return ids[index % len(ids)]

    def _happen(self, replica_id: int, event: Event) -> None:
        world = self.world
        draw = world.draw(1500, 400)
        expected = check_step(world.state(replica_id), world.configuration, event, draw)
        assert world.happen(replica_id, event, draw).state == expected

    def _message(self, index: int) -> str | None:
        waiting = [identifier for identifier, _ in self.world.messages()]
        return waiting[index % len(waiting)] if waiting else None

    @rule(index=INDEX)
    def timers_fire(self, index: int) -> None:
        replica_id = self._replica(index)
        due: dict[Role, Event] = {Role.LEADER: CheckQuorumTimeout(), Role.FOLLOWER: FetchTimeout()}
        self._happen(replica_id, due.get(self.world.state(replica_id).role, ElectionTimeout()))

    @rule(index=INDEX)
    def requests_are_sent(self, index: int) -> None:
        replica_id = self._replica(index)
        events: list[Event] = [Poll(), PollFetch(self._replica(index // 7))]
        # A replica that joins has always something to ask, and only one connection to ask on.
        for event in events if index // 13 % 2 else reversed(events):
            self._happen(replica_id, event)

    @rule(index=INDEX, count=st.integers(1, 12))
    def messages_arrive(self, index: int, count: int) -> None:
        world = self.world
        for _ in range(count):
            identifier = self._message(index)
            if identifier is None:
                return
            message = world.in_flight[identifier].message
            if world.cannot_be_encoded(message):
                world.answer_unsupported_version(identifier)
                continue
            draw = world.draw(1500, 400)
            expected = check_step(world.state(message.destination), world.configuration, Receive(message), draw)
            assert world.deliver(identifier, draw).state == expected
            self.holds()

    @rule(index=INDEX, lost=st.booleans())
    def messages_go_astray(self, index: int, lost: bool) -> None:
        identifier = self._message(index)
        if identifier is not None:
            (self.world.drop if lost else self.world.duplicate)(identifier)

    @rule(index=INDEX)
    def answers_are_given_up(self, index: int) -> None:
        self._happen(self._replica(index), RequestTimeout(self._replica(index // 7)))

    @rule(index=INDEX)
    def leaders_work(self, index: int) -> None:
        replica_id = self._replica(index)
        self._happen(replica_id, ClientAppend(1))
        self._happen(replica_id, BeginQuorumEpochTimeout())

    @rule(index=INDEX)
    def leaders_hand_over(self, index: int) -> None:
        self._happen(self._replica(index), Shutdown())

    @precondition(lambda self: self.sets_change)
    @rule(index=INDEX, members=st.sets(st.integers(1, 3), min_size=1))
    def voters_change(self, index: int, members: set[int]) -> None:
        known = self.world.configuration.replicas
        voters = frozenset(known[i].key for i in members if i in known)
        if voters:
            self._happen(self._replica(index), AppendVoters(voters))

    @precondition(lambda self: self.sets_change)
    @rule(index=INDEX, kind=st.integers(0, 3), when_committed=st.booleans())
    def admins_ask(self, index: int, kind: int, when_committed: bool) -> None:
        voter = self.world.state(self._replica(index // 7)).key
        request = self.world.sequence + 1
        asked = (
            AddVoter(request, voter, endpoint(voter.id), 1000, when_committed),
            RemoveVoter(request, voter),
            UpdateFeatures(request, 1),
            VoterChangeTimeout(),
        )[kind]
        for replica_id in self.world.replicas:
            self._happen(replica_id, asked)

    @precondition(lambda self: self.sets_change)
    @rule(replicas=st.none() | st.lists(st.integers(1, 5), min_size=1, max_size=4, unique=True).map(tuple))
    def targets_are_named(self, replicas: tuple[int, ...] | None) -> None:
        asked = AlterPartitionReassignments(self.world.sequence + 1, replicas)
        for replica_id in self.world.replicas:
            self._happen(replica_id, asked)

    @precondition(lambda self: self.sets_change)
    @rule(index=INDEX)
    def reassignments_advance(self, index: int) -> None:
        for replica_id in self.world.replicas:
            state = self.world.state(replica_id)
            due = sorted(next_steps(state), key=str)
            # Sometimes nobody that is due is named, which is refused.
            chosen = due[index % len(due)] if due and index % 11 else ReplicaKey(index % 5 + 1, f"U{index % 5 + 1}")
            self._happen(replica_id, AdvanceReassignment(chosen))

    @rule(index=INDEX)
    def snapshots_are_taken(self, index: int) -> None:
        replica_id = self._replica(index)
        state = self.world.state(replica_id)
        log = state.log
        self._happen(replica_id, TakeSnapshot(log.start_offset + index // 7 % (len(log.records) + 2)))

    @precondition(lambda self: self.world.configuration.kraft_version == 1)
    @rule(index=INDEX)
    def disks_are_replaced(self, index: int) -> None:
        replica_id = self._replica(index)
        if self.world.state(replica_id).role is Role.STOPPED:
            self.disks += 1
            self.world.replace_disk(replica_id, f"D{self.disks}")

    @rule(index=INDEX, everything=st.booleans())
    def processes_stop_and_start(self, index: int, everything: bool) -> None:
        replica_id = self._replica(index)
        state = self.world.state(replica_id)
        if state.role is Role.STOPPED:
            self._happen(replica_id, Restart())
        else:
            self.world.crash(replica_id, state.log.end_offset if everything else None)

    @invariant()
    def holds(self) -> None:
        """One leader and one vote an epoch, epochs that only grow, and one record at each committed offset."""
        static = self.world.configuration.kraft_version == 0
        for replica in self.world.replicas.values():
            state = replica.state
            assert state.epoch >= self.epochs.get(state.key, 0)
            self.epochs[state.key] = state.epoch
            if state.role is Role.LEADER:
                assert self.leaders.setdefault(state.epoch, state.key) == state.key
            for offset in range(state.log.start_offset, min(state.high_watermark, state.log.end_offset)):
                record = state.log.record(offset)
                assert self.committed.setdefault(offset, record) == record
            if state.voted_key is not None:
                earlier = self.votes.setdefault((state.key, state.epoch), state.voted_key)
                assert earlier.id == state.voted_key.id
                assert static or earlier == state.voted_key
            self._sets_follow_each_other(state)

    def _sets_follow_each_other(self, state: ReplicaState) -> None:
        """One voter a step, also towards a target, and only a Leader of a target awaits its commit."""
        for older, newer in pairwise(state.log.voters):
            ids = [{voter.id for voter in entry.voters} for entry in (older, newer)]
            assert len(ids[0] ^ ids[1]) <= 1 or not older.voters
            assert newer.target is None or newer.voters == older.voters or newer.target == older.target
        if state.awaited_targets:
            assert state.role is Role.LEADER
            assert all(
                state.high_watermark <= offset < state.log.end_offset for offset in state.awaited_targets.values()
            )


TestClusterMachine = ClusterMachine.TestCase
TestClusterMachine.settings = settings(stateful_step_count=60)


def _machine_reaches(
    goal: Callable[[ReplicaState], bool],
    configuration: Configuration = THREE,
    *,
    busy: bool = True,
    target: tuple[int, ...] | None = None,
) -> bool:
    """Does a plain schedule of the machine's moves reach a state?  So that its checks are not empty.

    A leader that is not busy lasts and appends little, so that a new voter can catch up, and all take snapshots.
    The fourth replica is down at first, and so finds a snapshot in place of records.
    """
    machine = ClusterMachine()
    machine.begin(configuration, False)
    for move in range(600):
        index = move * 7919 % 1009
        machine.requests_are_sent(index)
        machine.messages_arrive(0, 3)
        if move % 20 == 0 and (busy or move < 100):
            machine.timers_fire(index)
        if busy or move % 40 == 0:
            machine.leaders_work(index)
        if not busy and move % 15 == 0:
            machine.snapshots_are_taken(index)
        if not busy:
            machine.answers_are_given_up(index)
        if not busy and move in (1, 200):
            machine.processes_stop_and_start(3, True)
        if target is not None:
            if move % 100 == 50 and all(replica.state.target is None for replica in machine.world.replicas.values()):
                machine.targets_are_named(target)
            machine.reassignments_advance(move)
        machine.holds()
        if any(goal(replica.state) for replica in machine.world.replicas.values()):
            return True
    return False


def test_the_machine_gets_somewhere() -> None:
    assert _machine_reaches(lambda state: state.role is Role.LEADER and state.high_watermark > 5)
    assert _machine_reaches(lambda state: state.role is Role.FOLLOWER and state.high_watermark > 3)


def test_the_machine_changes_voters_and_fetches_snapshots() -> None:
    joined = _with_joining(cluster(3, observers=1), 3, True)
    assert _machine_reaches(
        lambda state: len(state.voters) == 4 and state.high_watermark > state.log.voters[-1].offset, joined, busy=False
    )
    assert _machine_reaches(lambda state: state.wanted_snapshot is not None, joined, busy=False)
    assert _machine_reaches(
        lambda state: state.role is Role.FOLLOWER and state.log.start_offset > 0, joined, busy=False
    )


def test_the_machine_reassigns() -> None:
    joined = _with_joining(cluster(3, observers=1), 3, False)

    def reached(state: ReplicaState) -> bool:
        newest = state.log.voters[-1]
        done = {voter.id for voter in newest.voters} == {2, 4} and newest.target is None
        return done and state.high_watermark > newest.offset

    assert _machine_reaches(lambda state: state.target == frozenset((2, 4)), joined, busy=False, target=(2, 4))
    assert _machine_reaches(reached, joined, busy=False, target=(2, 4))

"""Clients that append records, and operators that request voter changes, valid and invalid."""

from collections.abc import Callable

from kraft_reference.events import (
    AddVoter,
    AlterPartitionReassignments,
    AppendVoters,
    ClientAppend,
    Crash,
    RemoveVoter,
    ReplaceSoftware,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import last_batch_end
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.driver import Driver
from kraft_simulation.liveness.remaining import running_leaders
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.survival import lost_voters, survives_removal
from kraft_simulation.workload import Workload

ChangeRequest = AddVoter | RemoveVoter | UpdateFeatures | AlterPartitionReassignments
"""Requests of operators to the quorum."""

_APPEND_INTERVAL_MS = 150
"""Interval of appends in the liveness phase, even if the workload has none."""
_EXIT_WAIT_MS_MAX = 500
"""Time that a process has to hand over before it ends in a shutdown."""
_UNKNOWN_ID = 99
"""Id that no replica has."""
_UNKNOWN_DIRECTORY = "Z0"
"""Directory id that no disk has."""
_PATIENCE_MS_MIN = 60
"""Minimum timeout of an addition; shorter ones are dropped."""


class Clients:
    """The moves of a workload: its clients, its operators, and the snapshots of its replicas."""

    def __init__(self, driver: Driver, workload: Workload) -> None:
        self._driver = driver
        self._workload = workload
        self._operators_act = True
        self._appended = 0
        self._requests = 0
        self._last: ChangeRequest | None = None

    @property
    def changes_voters(self) -> bool:
        """True if operators of this workload ask for voter changes or the upgrade to them."""
        return self._workload.changes_voters or bool(self._workload.upgrade_interval_ms)

    @property
    def reassigns(self) -> bool:
        """True if operators of this workload name targets for the quorum."""
        return bool(self._workload.reassign_interval_ms)

    def start(self) -> None:
        """Schedule the first actions of clients and operators."""
        workload, queue = self._workload, self._driver.queue
        self._repeat_at_leader(workload.append_interval_ms, self._append, lambda: True)
        self._repeat_at_leader(workload.shutdown_interval_ms, self._shut_down)
        self._repeat_at_leader(workload.append_voters_interval_ms, self._append_voters)
        queue.repeat(workload.software_interval_ms, self._upgrade_next, self._operators_go_on)
        self._repeat_at_leader(workload.change_interval_ms, self._change)
        self._repeat_at_leader(workload.reassign_interval_ms, self._reassign)
        self._repeat_at_leader(workload.upgrade_interval_ms, self._upgrade)
        queue.repeat(workload.snapshot_interval_ms, self._take_snapshot)

    def only_append(self) -> None:
        """Stop the operators; clients still append, and replicas take snapshots."""
        self._operators_act = False
        if not self._workload.append_interval_ms:
            self._repeat_at_leader(_APPEND_INTERVAL_MS, self._append, lambda: True)

    def _operators_go_on(self) -> bool:
        return self._operators_act

    def _repeat_at_leader(
        self,
        mean_ms: int,
        action: Callable[[ReplicaState], Occurrence | None],
        goes_on: Callable[[], bool] | None = None,
    ) -> None:
        """Repeat an action at a random leader, by default while operators act; see `EventQueue.repeat`."""

        def at_leader() -> Occurrence | None:
            leaders = running_leaders(self._driver.world)
            return action(self._driver.chance.pick(leaders)) if leaders else None

        self._driver.queue.repeat(mean_ms, at_leader, goes_on or self._operators_go_on)

    def _append(self, leader: ReplicaState) -> Occurrence | None:
        self._appended += 1
        return self._driver.happen(leader.key.id, ClientAppend(self._appended))

    def _append_voters(self, leader: ReplicaState) -> Occurrence | None:
        if leader.log.kraft_version == 0:
            return None
        return self._driver.happen(leader.key.id, AppendVoters(leader.voters))

    def _shut_down(self, leader: ReplicaState) -> Occurrence | None:
        if self._driver.chance.random() < 0.5:
            wait_ms = self._driver.chance.between(0, _EXIT_WAIT_MS_MAX)
            self._driver.queue.after(wait_ms, self._exit, leader.key.id)
        return self._driver.happen(leader.key.id, Shutdown())

    def _upgrade_next(self) -> Occurrence | None:
        """Stop the first replica without Pre-Vote, and replace its software."""
        replicas = self._driver.world.configuration.replicas.items()
        replica_id = next((own_id for own_id, replica in replicas if replica.pre_vote != "supported"), None)
        if replica_id is None:
            return None
        if self._driver.world.state(replica_id).role is Role.STOPPED:
            return self._replace_software(replica_id)
        self._driver.queue.after(0, self._replace_software, replica_id)
        return self._driver.die(replica_id)

    def _replace_software(self, replica_id: int) -> Occurrence | None:
        if self._driver.world.state(replica_id).role is not Role.STOPPED:
            return None
        return self._driver.happen(replica_id, ReplaceSoftware("supported"))

    def _exit(self, replica_id: int) -> Occurrence | None:
        """End the process of a leader that was shut down; unsynced records may be lost."""
        state = self._driver.world.state(replica_id)
        if not self._operators_act or state.role is not Role.RESIGNED:
            return None
        return self._driver.happen(replica_id, Crash(state.log.end_offset))

    def next_request(self) -> int:
        """Return the number of the next request."""
        self._requests += 1
        return self._requests

    def _change(self, leader: ReplicaState) -> Occurrence | None:
        request = self._picked(leader)
        if request is None:
            return None
        self._last = request
        return self._sent(leader, request)

    def _sent(self, leader: ReplicaState, request: ChangeRequest) -> Occurrence | None:
        """Deliver the request to the leader or another replica, which may crash in this step."""
        driver, receiver = self._driver, leader.key.id
        if driver.chance.random() < 0.1:
            receiver = driver.chance.pick(list(driver.world.replicas))
        crash_chance = driver.faults.crash_in_change_chance
        if crash_chance and driver.chance.random() < crash_chance:
            driver.moves.doomed.add(receiver)
        return driver.happen(receiver, request)

    def _reassign(self, leader: ReplicaState) -> Occurrence | None:
        return self._sent(leader, AlterPartitionReassignments(self.next_request(), self._target(leader)))

    def _target(self, leader: ReplicaState) -> tuple[int, ...] | None:
        """Return a random target: any replicas, the current target again, an end to it, or an invalid list."""
        chance, ids = self._driver.chance, sorted(self._driver.world.replicas)
        match chance.between(0, 9):
            case 0:
                return None
            case 1:
                return chance.pick(((), (ids[0], ids[0]), (_UNKNOWN_ID,)))
            case 2 if leader.target is not None:
                return tuple(sorted(leader.target, reverse=True))
            case _:
                size = chance.between(1, len(ids))
                left = list(ids)
                return tuple([left.pop(chance.between(0, len(left) - 1)) for _ in range(size)])

    def _picked(self, leader: ReplicaState) -> ChangeRequest | None:
        """Return an operator's request: lost voters are removed first, and one request in four is invalid."""
        chance = self._driver.chance
        lost = lost_voters(self._driver.world, leader.voters)
        if lost and chance.random() < 0.6:
            return RemoveVoter(self.next_request(), lost[0])
        kind = chance.between(0, 15)
        if kind < 6:
            return self._addition(leader)
        if kind < 12:
            return self._removal(leader)
        return self._mistake(leader, kind)

    def _outsiders(self, leader: ReplicaState) -> list[ReplicaKey]:
        """Return the replicas whose ids are not in the leader's set, lost voters with their new keys."""
        taken = {voter.id for voter in leader.voters}
        return [replica.state.key for id_, replica in self._driver.world.replicas.items() if id_ not in taken]

    def _addition(self, leader: ReplicaState) -> ChangeRequest | None:
        outsiders = self._outsiders(leader)
        return self._add(self._driver.chance.pick(outsiders)) if outsiders else self._removal(leader)

    def _add(self, voter: ReplicaKey, endpoint: bool = True, cluster_id: str | None = None) -> AddVoter:
        chance = self._driver.chance
        return AddVoter(
            request=self.next_request(),
            voter=voter,
            endpoint=self._endpoint(voter.id) if endpoint else None,
            timeout_ms=chance.between(_PATIENCE_MS_MIN, self._workload.patience_ms_max),
            when_committed=chance.random() < 0.7 or not self._workload.early_answers,
            cluster_id=cluster_id,
        )

    def _endpoint(self, replica_id: int) -> str:
        replica = self._driver.world.configuration.replicas.get(replica_id)
        if replica is None:
            return f"replica-{replica_id}:9093"
        return self._driver.world.state(replica_id).moved_to or replica.endpoint

    def _removal(self, leader: ReplicaState) -> ChangeRequest | None:
        """Return the removal of a random voter, if the others can continue, or of the last voter, which is refused."""
        world, voters = self._driver.world, sorted(leader.voters, key=lambda entry: entry.id)
        if not voters:
            return None
        voter = self._driver.chance.pick(voters)
        alone = len(voters) == 1
        return RemoveVoter(self.next_request(), voter) if alone or survives_removal(world, leader, voter) else None

    def _mistake(self, leader: ReplicaState, kind: int) -> ChangeRequest | None:
        chance = self._driver.chance
        voters = sorted(leader.voters, key=lambda entry: entry.id)
        voter = chance.pick(voters) if voters else leader.key
        stranger = chance.pick((ReplicaKey(voter.id, _UNKNOWN_DIRECTORY), ReplicaKey(_UNKNOWN_ID, _UNKNOWN_DIRECTORY)))
        match kind:
            case 12:
                # The same request again with its number, as a client sends it after losing its connection.
                return self._last
            case 13:
                return RemoveVoter(self.next_request(), stranger)
            case 14:
                outsiders = self._outsiders(leader)
                wrong = ReplicaKey(chance.pick(outsiders).id, _UNKNOWN_DIRECTORY) if outsiders else stranger
                return self._add(chance.pick((voter, stranger, wrong)))
            case _:
                if chance.random() < 0.5:
                    return self._add(stranger, cluster_id="another-cluster")
                return self._add(*chance.pick(((ReplicaKey(stranger.id), True), (stranger, False))))

    def _upgrade(self, leader: ReplicaState) -> Occurrence | None:
        driver = self._driver
        level, brokers_max = driver.chance.pick(((1, 1), (1, 1), (1, 1), (1, 1), (0, 1), (2, 2), (1, 0)))
        return driver.happen(leader.key.id, UpdateFeatures(self.next_request(), level, brokers_max=brokers_max))

    def _take_snapshot(self) -> Occurrence | None:
        """Let a random replica take a snapshot of a part of its committed records."""
        driver = self._driver
        replica_id = driver.chance.pick(list(driver.world.replicas))
        state = driver.world.state(replica_id)
        log = state.log
        if state.high_watermark <= log.start_offset:
            return None
        end = last_batch_end(log, driver.chance.between(log.start_offset + 1, state.high_watermark))
        return driver.happen(replica_id, TakeSnapshot(end)) if end > log.start_offset else None

"""What operators do to the voters of a cluster: they add, remove and replace them, rightly and wrongly, and upgrade."""

from kraft_reference.events import AddVoter, AlterPartitionReassignments, RemoveVoter, TakeSnapshot, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import batch_start
from kraft_reference.state import ReplicaState
from kraft_simulation.driver import Driver
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.survival import lost_voters, survives_removal
from kraft_simulation.workload import Workload

ChangeRequest = AddVoter | RemoveVoter | UpdateFeatures | AlterPartitionReassignments
"""What an operator may ask of the quorum."""

_UNKNOWN_ID = 99
"""No replica has it."""
_UNKNOWN_DIRECTORY = "Z0"
"""No disk has it."""
_PATIENCE_MS_MIN = 60
"""How long an operator waits for an addition at least; the shorter ones are given up."""


class Operators:
    """The changes of a workload and the snapshots of its replicas."""

    def __init__(self, driver: Driver, workload: Workload) -> None:
        self._driver = driver
        self._workload = workload
        self._at_work = True
        self._requests = 0
        self._last: ChangeRequest | None = None

    def start(self) -> None:
        """Begin to operate."""
        workload, driver = self._workload, self._driver
        driver.repeat_at_leader(workload.change_interval_ms, self._change, self.are_at_work)
        driver.repeat_at_leader(workload.reassign_interval_ms, self._reassign, self.are_at_work)
        driver.repeat_at_leader(workload.upgrade_interval_ms, self._upgrade, self.are_at_work)
        driver.queue.repeat(workload.snapshot_interval_ms, self._take_snapshot)

    def stop(self) -> None:
        """Leave the voters alone from now on; replicas go on to take snapshots."""
        self._at_work = False

    def are_at_work(self) -> bool:
        """Do they still ask for changes?"""
        return self._at_work

    def next_request(self) -> int:
        """The number of a request that is sent now."""
        self._requests += 1
        return self._requests

    def _change(self, leader: ReplicaState) -> Occurrence | None:
        request = self._picked(leader)
        if request is None:
            return None
        self._last = request
        return self._sent(leader, request)

    def _sent(self, leader: ReplicaState, request: ChangeRequest) -> Occurrence | None:
        """The request arrives at the leader, or somewhere else, and may find it dying."""
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
        """Any of the replicas, the target that stands once more, an end to it, or a list that is none."""
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
        """What an operator asks for: a lost voter is removed most urgently, and one request in four is a mistake."""
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
        """The replicas whose ids are not in the leader's set; one that was lost comes back with its new key."""
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
        """Somebody goes, the leader itself as often as any other, if the others can go on; the last one stays."""
        world, voters = self._driver.world, sorted(leader.voters, key=lambda entry: entry.id)
        if not voters:
            return None
        voter = self._driver.chance.pick(voters)
        alone = len(voters) == 1
        return RemoveVoter(self.next_request(), voter) if alone or survives_removal(world, leader, voter) else None

    def _mistake(self, leader: ReplicaState, kind: int) -> ChangeRequest | None:
        chance = self._driver.chance
        known = sorted(leader.voters, key=lambda entry: entry.id)
        voter = chance.pick(known) if known else leader.key
        stranger = chance.pick((ReplicaKey(voter.id, _UNKNOWN_DIRECTORY), ReplicaKey(_UNKNOWN_ID, _UNKNOWN_DIRECTORY)))
        match kind:
            case 12:
                # The same request once more, number and all, as a client that lost its connection sends it.
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
        """Some replica has a snapshot of a part of what it knows as committed."""
        driver = self._driver
        replica_id = driver.chance.pick(list(driver.world.replicas))
        state = driver.world.state(replica_id)
        log = state.log
        if state.high_watermark <= log.start_offset:
            return None
        end = batch_start(log, driver.chance.between(log.start_offset + 1, state.high_watermark))
        return driver.happen(replica_id, TakeSnapshot(end)) if end > log.start_offset else None

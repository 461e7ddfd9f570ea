"""What clients and operators do to the replicas that lead."""

from kraft_reference.events import AppendVoters, ClientAppend, Crash, ReplaceSoftware, Shutdown
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.driver import Driver
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.operators import Operators
from kraft_simulation.workload import Workload

_APPEND_INTERVAL_MS = 150
"""In the liveness phase something is appended even if the workload appends nothing."""
_EXIT_WAIT_MS_MAX = 500
"""How long a process that shuts down goes on, to hand over, before it ends."""


class Clients:
    """The moves of a workload."""

    def __init__(self, driver: Driver, workload: Workload) -> None:
        self._driver = driver
        self._workload = workload
        self._appended = 0
        self.operators = Operators(driver, workload)

    @property
    def changes_voters(self) -> bool:
        """Do operators of this workload ask for voter changes or the upgrade to them?"""
        return self._workload.changes_voters or bool(self._workload.upgrade_interval_ms)

    @property
    def reassigns(self) -> bool:
        """Do operators of this workload name targets for the quorum?"""
        return bool(self._workload.reassign_interval_ms)

    def start(self) -> None:
        """Begin to append, and to operate."""
        workload, goes_on = self._workload, self.operators.are_at_work
        self._driver.repeat_at_leader(workload.append_interval_ms, self._append)
        self._driver.repeat_at_leader(workload.shutdown_interval_ms, self._shut_down, goes_on)
        self._driver.repeat_at_leader(workload.append_voters_interval_ms, self._append_voters, goes_on)
        self._driver.queue.repeat(workload.software_interval_ms, self._upgrade_next, goes_on)
        self.operators.start()

    def only_append(self) -> None:
        """Operators leave the cluster alone from now on, clients go on."""
        self.operators.stop()
        if not self._workload.append_interval_ms:
            self._driver.repeat_at_leader(_APPEND_INTERVAL_MS, self._append)

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
        """Replace the software of the first replica without Pre-Vote, which stops for that if it runs."""
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
        """The process of a leader that was shut down ends; nothing synced is lost, the rest of its log may be."""
        state = self._driver.world.state(replica_id)
        if not self.operators.are_at_work() or state.role is not Role.RESIGNED:
            return None
        return self._driver.happen(replica_id, Crash(state.log.end_offset))

"""What clients and operators do to the replicas that lead."""

from kraft_reference.cluster.driver import Driver
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.operators import Operators
from kraft_reference.cluster.workload import Workload
from kraft_reference.events import AppendVoters, ClientAppend, Crash, Shutdown
from kraft_reference.roles import Role

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
        self._operators_at_work = True
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
        workload = self._workload
        if workload.append_interval_ms:
            self._driver.plan_around(workload.append_interval_ms, self._append)
        if workload.shutdown_interval_ms:
            self._driver.plan_around(workload.shutdown_interval_ms, self._shut_down)
        if workload.append_voters_interval_ms:
            self._driver.plan_around(workload.append_voters_interval_ms, self._append_voters)
        self.operators.start()

    def only_append(self) -> None:
        """Operators leave the cluster alone from now on, clients go on."""
        self._operators_at_work = False
        self.operators.stop()
        if not self._workload.append_interval_ms:
            self._driver.plan_around(_APPEND_INTERVAL_MS, self._append)

    def _some_leader(self) -> int | None:
        leader = self.operators.some_leader()
        return None if leader is None else leader.key.id

    def _append(self) -> Occurrence | None:
        self._driver.plan_around(self._workload.append_interval_ms or _APPEND_INTERVAL_MS, self._append)
        leader = self._some_leader()
        if leader is None:
            return None
        self._appended += 1
        return self._driver.happen(leader, ClientAppend(self._appended))

    def _append_voters(self) -> Occurrence | None:
        if not self._operators_at_work:
            return None
        self._driver.plan_around(self._workload.append_voters_interval_ms, self._append_voters)
        leader = self._some_leader()
        if leader is None or self._driver.world.state(leader).log.kraft_version == 0:
            return None
        return self._driver.happen(leader, AppendVoters(self._driver.world.state(leader).voters))

    def _shut_down(self) -> Occurrence | None:
        if not self._operators_at_work:
            return None
        self._driver.plan_around(self._workload.shutdown_interval_ms, self._shut_down)
        leader = self._some_leader()
        if leader is None:
            return None
        if self._driver.chance.random() < 0.5:
            wait_ms = self._driver.chance.between(0, _EXIT_WAIT_MS_MAX)
            self._driver.agenda.after(wait_ms, self._exit, leader)
        return self._driver.happen(leader, Shutdown())

    def _exit(self, replica_id: int) -> Occurrence | None:
        """The process of a leader that was shut down ends; nothing synced is lost, the rest of its log may be."""
        state = self._driver.world.state(replica_id)
        if not self._operators_at_work or state.role is not Role.RESIGNED:
            return None
        return self._driver.happen(replica_id, Crash(state.log.end_offset))

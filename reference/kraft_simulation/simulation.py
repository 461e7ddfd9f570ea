"""A run of a whole cluster in virtual time, determined by its configuration and seed.

In the safety phase, clients append, operators shut leaders down, and faults occur, for a number of events.
In the liveness phase, faults stop, links heal and stopped replicas start, except for lasting faults (`lasting`), and
the cluster must satisfy the liveness properties within their bounds (`liveness`).
Invariants are checked throughout; the first violation ends the run.
"""

from collections.abc import Iterator

from kraft_reference.configuration import Configuration
from kraft_reference.events import Crash, Restart
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_simulation.asking import EverybodyIsAsked
from kraft_simulation.clients import Clients
from kraft_simulation.driver import Driver
from kraft_simulation.event_queue import Chance
from kraft_simulation.faults import FaultInjector
from kraft_simulation.invariants import Invariants
from kraft_simulation.last_change import LastChange
from kraft_simulation.lasting import LastingFaults, draw_lasting_faults, lasting_faults_in
from kraft_simulation.liveness.remaining import remaining_of
from kraft_simulation.liveness.watch import LivenessWatch
from kraft_simulation.occurrence import CutLink, HealLink, Occurrence
from kraft_simulation.schedule import DEFECTS, Schedule, defect_in, replay
from kraft_simulation.violation import Violation
from kraft_simulation.workload import Faults, Workload
from kraft_simulation.world import MakeReplica, World

FULL_CHECK_EVERY = 1000
"""Number of occurrences between comparisons of whole logs and disks."""


class Simulation:
    """A run.  Iterate over `run` once; afterwards `violation` has the violation, if there is one."""

    def __init__(
        self,
        configuration: Configuration,
        seed: int,
        workload: Workload,
        faults: Faults,
        *,
        steps: int,
        keeps_schedule: bool = False,
        lasting: LastingFaults | None = None,
        make_replica: MakeReplica = Replica,
    ) -> None:
        """`steps` is the number of events of the safety phase; `keeps_schedule` enables `schedule`.

        `lasting` overrides the lasting faults that `faults` and the seed decide.  `make_replica` makes the replicas of
        the world.
        """
        self.configuration = configuration
        self.steps = steps
        self.violation: Violation | None = None
        self.healed_at_ms: int | None = None
        """Virtual time at which faults stopped."""
        self.progress_at_ms: int | None = None
        """Virtual time at which the healed cluster had satisfied all liveness properties.

        Also None if no majority of the voters stayed connected, so that no leader is guaranteed."""
        self.lasting = lasting
        """Lasting faults; None until the other faults stop."""
        self.world = World(configuration, make_replica)
        self._seed = seed
        self._faults = faults
        self._driver = Driver(self.world, Chance(seed), faults, keeps_schedule)
        self._clients = Clients(self._driver, workload)
        self._injector = FaultInjector(self._driver)
        self._invariants = Invariants(configuration, self.world.states)
        self._asked = EverybodyIsAsked(configuration)

    @property
    def schedule(self) -> Schedule:
        """All moves so far.

        Raises:
            ValueError: the simulation does not keep its schedule.
        """
        if self._driver.moves.schedule is None:
            raise ValueError("this simulation keeps no schedule")
        return tuple(self._driver.moves.schedule)

    def remembered(self) -> int:
        """Number of values that the checks keep; with snapshots it does not grow with the run."""
        return self._invariants.remembered()

    def run(self, prefix: Schedule | None = None) -> Iterator[Occurrence]:
        """Yield the occurrences up to progress or the first violation.

        A `prefix` replaces the safety phase, and decides the lasting faults.
        """
        for phase in (self._safety_phase() if prefix is None else self._replayed(prefix), self._liveness_phase()):
            for occurrence in phase:
                self.violation = self._checked(occurrence)
                yield occurrence
                if self.violation is not None:
                    return
            self.violation = self.violation or self._driver.moves.defect
            if self.violation is not None:
                return
        self.violation = next(iter(self._invariants.check_all(self.world.sequence)), None)

    def _checked(self, occurrence: Occurrence) -> Violation | None:
        violation = next(iter(self._invariants.observe(occurrence)), None) or self._asked.observe(occurrence)
        if violation is None and occurrence.sequence % FULL_CHECK_EVERY == 0:
            violation = next(iter(self._invariants.check_all(occurrence.sequence)), None)
            self._invariants.forget()
        return violation

    def _safety_phase(self) -> Iterator[Occurrence]:
        driver, world = self._driver, self.world
        driver.start()
        self._clients.start()
        self._injector.start()
        while world.sequence < self.steps:
            occurrence = driver.advance()
            if occurrence is not None:
                yield occurrence
            elif driver.moves.defect is not None:
                return

    def _replayed(self, prefix: Schedule) -> Iterator[Occurrence]:
        """Replay a schedule, then start every possible timer anew."""
        self.lasting = lasting_faults_in(prefix)
        try:
            for _, occurrence in replay(self.world, prefix):
                yield occurrence
        except DEFECTS as defect:
            self._driver.moves.defect = defect_in(self.world, defect)
            return
        self._driver.queue.now_ms = self.world.time_ms
        self._driver.start()
        self._clients.start()

    def _liveness_phase(self) -> Iterator[Occurrence]:
        driver = self._driver
        if self.lasting is None:
            self.lasting = draw_lasting_faults(self._seed, self._faults, self.world)
        self._injector.stop(self.lasting)
        self._clients.only_append()
        self.healed_at_ms = driver.queue.now_ms
        yield from self._last_faults(self.lasting)
        yield from self._healing(self.lasting)
        remaining = remaining_of(self.world, self.lasting.cuts, self.lasting.stopped)
        watch = LivenessWatch(self.world, remaining)
        if self._clients.changes_voters:
            LastChange(driver, self._clients, remaining, watch).start()
        while driver.queue.now_ms - self.healed_at_ms <= watch.limit_ms:
            occurrence = driver.advance()
            if occurrence is not None:
                # Before the yield, so that the caller sees the current state of the simulation.
                owes_nothing = watch.observe(occurrence)
                if owes_nothing:
                    self.progress_at_ms = driver.queue.now_ms
                yield occurrence
                if owes_nothing:
                    return
                self.violation = watch.overdue()
                if self.violation is not None:
                    return
            elif driver.moves.defect is not None:
                return
        self.violation = watch.missing()

    def _last_faults(self, lasting: LastingFaults) -> Iterator[Occurrence]:
        """Cut and stop what lasts, and record it in the schedule, even if it is cut or stopped already."""
        driver = self._driver
        for link in sorted(lasting.cuts):
            cut = CutLink(*link)
            occurrence = None if link in self.world.cuts else driver.moves.network(cut)
            driver.moves.note_lasting(None, cut, occurrence is not None)
            if occurrence is not None:
                yield occurrence
        for replica_id in sorted(lasting.stopped):
            state = self.world.state(replica_id)
            crash = Crash(state.log.flushed)
            occurrence = None if state.role is Role.STOPPED else driver.happen(replica_id, crash)
            driver.moves.note_lasting(replica_id, crash, occurrence is not None)
            if occurrence is not None:
                yield occurrence

    def _healing(self, lasting: LastingFaults) -> Iterator[Occurrence]:
        """Heal the other links and start the other replicas."""
        driver = self._driver
        for link in sorted(self.world.cuts - lasting.cuts):
            yield driver.moves.network(HealLink(*link))
        for replica_id in self.world.replicas:
            if replica_id not in lasting.stopped and self.world.state(replica_id).role is Role.STOPPED:
                occurrence = driver.happen(replica_id, Restart())
                if occurrence is not None:
                    yield occurrence

"""A run of a whole cluster in virtual time, a function of its configuration and its seed.

First the safety phase: clients append, operators shut leaders down, and faults strike, for a number of events.
Then the liveness phase: faults stop, links are mended and stopped replicas start, all or all outside of what lasts
(`lasting`), and the cluster must keep what the liveness properties promise within their bounds (`liveness`).
Invariants are checked all along; the first violation ends the run.
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
"""After how many occurrences whole logs and disks are compared."""


class Simulation:
    """One run.  Iterate over `run` once; afterwards `violation` says what was wrong, if anything."""

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
        """`steps` events make the safety phase.  `keeps_schedule` is what `schedule` needs.

        Which faults last follows from `faults` and the seed, unless `lasting` says it.
        `make_replica` makes the replicas of the world.
        """
        self.configuration = configuration
        self.steps = steps
        self.violation: Violation | None = None
        self.healed_at_ms: int | None = None
        """Virtual time at which the faults stopped."""
        self.progress_at_ms: int | None = None
        """Virtual time at which the healed cluster had made progress: it owed nothing more.

        None too when no majority of the voters stayed connected, so that nobody is promised a leader."""
        self.lasting = lasting
        """The faults that last; None until it is decided, when the others stop."""
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
        """Every move made so far.

        Raises:
            ValueError: the simulation does not keep its schedule.
        """
        if self._driver.moves.schedule is None:
            raise ValueError("this simulation keeps no schedule")
        return tuple(self._driver.moves.schedule)

    def remembered(self) -> int:
        """How many things the checks keep of the run so far; with snapshots that does not grow with its length."""
        return self._invariants.remembered()

    def run(self, prefix: Schedule | None = None) -> Iterator[Occurrence]:
        """The occurrences, one by one, up to progress or the first violation.

        A `prefix` is replayed in place of the safety phase; it says which faults last.
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
        """The moves of a schedule; afterwards every timer that may run is started anew."""
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
                # Before the caller sees it, so that it finds the simulation up to date.
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
        """Cut and stop what lasts, and note it in the schedule, also where it is so already."""
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
        """Mend the other links and start the other replicas."""
        driver = self._driver
        for link in sorted(self.world.cuts - lasting.cuts):
            yield driver.moves.network(HealLink(*link))
        for replica_id in self.world.replicas:
            if replica_id not in lasting.stopped and self.world.state(replica_id).role is Role.STOPPED:
                occurrence = driver.happen(replica_id, Restart())
                if occurrence is not None:
                    yield occurrence

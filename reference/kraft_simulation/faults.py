"""Faults: cut links, crashes, lost disks, early timers."""

from kraft_reference.events import ReplaceDisk, Restart
from kraft_reference.roles import Role
from kraft_simulation.driver import Driver
from kraft_simulation.lasting import LastingFaults
from kraft_simulation.occurrence import CutLink, HealLink, Occurrence
from kraft_simulation.survival import survives_disk_loss

_Link = tuple[int, int]


class FaultInjector:
    """Moves of `Faults`, apart from faults of single messages, which the driver makes."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._faults = driver.faults
        self._over = False
        self._lasting = LastingFaults()
        self._disks = dict.fromkeys(driver.world.replicas, 0)
        """Number of lost disks of each replica."""
        self._moves = 0
        """Number of endpoint changes so far."""
        driver.after_crash = self._plan_restart

    def start(self) -> None:
        """Schedule the first fault of each kind."""
        faults, driver = self._faults, self._driver
        driver.queue.repeat(faults.cut_interval_ms, self._cut_some, self._goes_on)
        driver.queue.repeat(faults.crash_interval_ms, self._crash_some, self._goes_on)
        driver.queue.repeat(faults.early_timer_interval_ms, self._fire_early, self._goes_on)

    def _goes_on(self) -> bool:
        return not self._over

    def stop(self, lasting: LastingFaults) -> None:
        """Stop making faults; effects of earlier ones stay until they are healed."""
        self._over = True
        self._lasting = lasting
        self._driver.moves.doomed.clear()
        self._driver.ambushed.clear()
        self._driver.faults = self._faults.healed()

    # -----------------------------------------------------------------------------------------------------
    # Links.
    # -----------------------------------------------------------------------------------------------------

    def _cut_some(self) -> None:
        """Cut the links of an incident, and schedule their healing."""
        duration_ms = self._driver.chance.between(1, self._faults.cut_duration_ms_max)
        for link in self._links_of_incident():
            self._driver.queue.after(0, self._cut, link)
            self._driver.queue.after(duration_ms, self._mend, link)

    def _links_of_incident(self) -> list[_Link]:
        """Return the links of a random incident: one or both directions, all of a replica's, or between two halves."""
        chance = self._driver.chance
        ids = list(self._driver.world.replicas)
        if len(ids) < 2:
            return []
        chosen = chance.pick(ids)
        others = [replica_id for replica_id in ids if replica_id != chosen]
        other = chance.pick(others)
        match chance.between(0, 5):
            case 0 | 1:
                return [(chosen, other)]
            case 2:
                return [(chosen, other), (other, chosen)]
            case 3:
                return [(chosen, each) for each in others]
            case 4:
                return [(each, chosen) for each in others]
            case _:
                half = [replica_id for replica_id in ids if chance.random() < 0.5]
                other_half = [replica_id for replica_id in ids if replica_id not in half]
                return [link for a in half for b in other_half for link in ((a, b), (b, a))]

    def _cut(self, link: _Link) -> Occurrence | None:
        if self._over or link in self._driver.world.cuts:
            return None
        return self._driver.moves.network(CutLink(*link))

    def _mend(self, link: _Link) -> Occurrence | None:
        if link in self._lasting.cuts or link not in self._driver.world.cuts:
            return None
        return self._driver.moves.network(HealLink(*link))

    # -----------------------------------------------------------------------------------------------------
    # Processes and disks.
    # -----------------------------------------------------------------------------------------------------

    def _crash_some(self) -> Occurrence | None:
        chance = self._driver.chance
        replica_id = chance.pick(list(self._driver.world.replicas))
        match chance.between(0, 3):
            case 0 | 1:
                # A stopped replica crashes during its start.
                self._driver.moves.doomed.add(replica_id)
            case 2:
                self._driver.ambushed.add(replica_id)
            case _:
                return self._driver.die(replica_id)
        return None

    def _plan_restart(self, replica_id: int) -> None:
        wait_ms = self._driver.chance.between(1, self._faults.downtime_ms_max)
        if not self._over and self._driver.chance.random() < self._faults.replace_disk_chance:
            self._driver.queue.after(wait_ms, self._replace_disk, replica_id)
        self._driver.queue.after(wait_ms, self._restart, replica_id)

    def _replace_disk(self, replica_id: int) -> Occurrence | None:
        world = self._driver.world
        if self._over or world.state(replica_id).role is not Role.STOPPED or not survives_disk_loss(world, replica_id):
            return None
        self._disks[replica_id] += 1
        series = _letters(self._disks[replica_id])
        return self._driver.happen(replica_id, ReplaceDisk(f"{series}{replica_id}"))

    def _restart(self, replica_id: int) -> Occurrence | None:
        if replica_id in self._lasting.stopped or self._driver.world.state(replica_id).role is not Role.STOPPED:
            return None
        chance = self._faults.new_endpoint_chance
        if self._over or not chance or self._driver.chance.random() >= chance:
            return self._driver.happen(replica_id, Restart())
        self._moves += 1
        return self._driver.happen(replica_id, Restart(f"replica-{replica_id}.moved-{self._moves}:9093"))

    def _fire_early(self) -> Occurrence | None:
        replica_id = self._driver.chance.pick(list(self._driver.world.replicas))
        timers = self._driver.running_timers(replica_id)
        return self._driver.fire(replica_id, self._driver.chance.pick(timers)) if timers else None


def _letters(number: int) -> str:
    """Return letters for a number (A, B, ..., Z, AA, AB), so that each directory id is new."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("A") + digit) + text
    return text

"""Lasting faults: links that stay cut and replicas that stay stopped when all other faults are healed.

The liveness properties hold for a connected majority of the voters.  Links and replicas outside of it may stay cut, in
one direction or both, or stopped.
"""

from dataclasses import dataclass

from kraft_reference.events import Crash
from kraft_simulation.event_queue import Chance
from kraft_simulation.liveness.remaining import Link, Remaining, remaining_of, running_leaders
from kraft_simulation.occurrence import CutLink
from kraft_simulation.schedule import Schedule
from kraft_simulation.workload import Faults
from kraft_simulation.world import World

_OWN_CHANCES = 1 << 64
"""Added to the seed of a run, so that its other random values do not depend on lasting faults."""


@dataclass(frozen=True, slots=True)
class LastingFaults:
    """Faults that last."""

    cuts: frozenset[Link] = frozenset()
    stopped: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.cuts or self.stopped)

    def __str__(self) -> str:
        parts = []
        if self.cuts:
            parts.append("links " + ", ".join(f"{source}>{destination}" for source, destination in sorted(self.cuts)))
        if self.stopped:
            parts.append("replicas " + ", ".join(map(str, sorted(self.stopped))))
        return "; ".join(parts)


def lasting_faults_in(schedule: Schedule) -> LastingFaults:
    """Return the lasting faults in a schedule."""
    lasting = [move for move in schedule if move.lasts]
    return LastingFaults(
        frozenset((move.event.source, move.event.destination) for move in lasting if isinstance(move.event, CutLink)),
        frozenset(move.replica_id for move in lasting if isinstance(move.event, Crash) and move.replica_id is not None),
    )


def draw_lasting_faults(seed: int, faults: Faults, world: World) -> LastingFaults:
    """Return the lasting faults of a seed's run: none, or faults outside of some connected majority of the voters."""
    chance = Chance(seed + _OWN_CHANCES)
    cuts_last, stops_last = chance.random() < faults.stays_cut_chance, chance.random() < faults.stays_down_chance
    if not (cuts_last or stops_last):
        return LastingFaults()
    everybody = remaining_of(world, (), ())
    outside = _outside(chance, everybody, {state.key.id for state in running_leaders(world)})
    # All shapes of a replica's isolation are equally likely, and so is being stopped.
    stopped = frozenset(
        replica_id for replica_id in outside if stops_last and (not cuts_last or chance.random() < 0.25)
    )
    cuts: set[Link] = set()
    if cuts_last:
        for replica_id in outside:
            if replica_id not in stopped:
                cuts |= _cuts_around(chance, replica_id, [other for other in world.replicas if other != replica_id])
    return LastingFaults(_without_vain_leaders(remaining_of(world, cuts, stopped)), stopped)


def _outside(chance: Chance, everybody: Remaining, leaders: set[int]) -> list[int]:
    """Return all replicas outside of a random majority of the voters, by ascending id.

    The majority is mostly minimal, and in half of the runs without the current leader, because the loss of the leader
    is the hardest case.
    """
    voters = sorted(everybody.voters)
    others = [voter for voter in voters if voter not in leaders]
    majority = max((left.size // 2 + 1 for left in everybody.sets), default=0)
    size = majority if chance.random() < 0.75 else chance.between(majority, len(voters))
    if chance.random() < 0.5 and len(others) >= size and everybody.is_majority(others):
        voters = others
    inside: set[int] = set()
    while voters and (len(inside) < size or not everybody.is_majority(inside)):
        member = chance.pick(voters)
        voters.remove(member)
        inside.add(member)
    return sorted(everybody.running - inside)


def _cuts_around(chance: Chance, island: int, others: list[int]) -> set[Link]:
    """Return random links of a replica: all, all incoming, all outgoing, both of some pairs, or any."""
    outgoing, incoming = [(island, other) for other in others], [(other, island) for other in others]
    match chance.between(0, 4):
        case 0:
            return {*outgoing, *incoming}
        case 1:
            return set(outgoing)
        case 2:
            return set(incoming)
        case 3:
            return {link for way in zip(outgoing, incoming, strict=True) if chance.random() < 0.5 for link in way}
        case _:
            return {link for link in (*outgoing, *incoming) if chance.random() < 0.5}


def _without_vain_leaders(remaining: Remaining) -> frozenset[Link]:
    """Return the cuts, and the links over which a voter would lead in vain; see `Remaining.led_in_vain`."""
    vain = remaining.led_in_vain()
    one_way = {
        (other, voter) for voter in vain for other in remaining.voters - {voter} if not remaining.hears(other, voter)
    }
    return remaining.cuts | one_way

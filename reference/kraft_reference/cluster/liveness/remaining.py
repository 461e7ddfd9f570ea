"""What is left of a cluster when its faults stop: which replicas run, and which links are cut for good."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

from kraft_reference.cluster.world import World
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

Link = tuple[int, int]
"""One direction: the ids of the sender and the receiver."""


def votes(state: ReplicaState) -> bool:
    """Is the replica in its own voters set?  An entry without a directory id needs the id only."""
    key = state.key
    return any(voter.id == key.id and voter.directory_id in (None, key.directory_id) for voter in state.voters)


@dataclass(frozen=True, slots=True)
class Remaining:
    """The part of a cluster that goes on, and the premises that the properties find in it."""

    voters: frozenset[int]
    """Ids of the voters that run; one that came back with another disk is none."""
    voters_in_set: int
    """Size of the voters set, stopped and lost voters included."""
    running: frozenset[int]
    """Ids of all replicas that run."""
    cuts: frozenset[Link]
    """Links that nobody mends."""

    def __str__(self) -> str:
        cut = ", ".join(f"{source}>{destination}" for source, destination in sorted(self.cuts))
        return f"running: {', '.join(map(str, sorted(self.running)))}; links cut for good: {cut or 'none'}"

    def hears(self, listener: int, speaker: int) -> bool:
        """Do messages get from one replica to another, if both run?"""
        return (speaker, listener) not in self.cuts

    def linked(self, one: int, other: int) -> bool:
        """Do both run, and do messages get from each to the other?"""
        both_run = one in self.running and other in self.running
        return both_run and self.hears(one, other) and self.hears(other, one)

    def is_majority(self, number: int) -> bool:
        """Are so many voters more than half of the set?"""
        return 2 * number > self.voters_in_set

    def connected_majority(self) -> frozenset[int] | None:
        """A smallest majority of the voters, all of them linked to each other; None if there is none."""
        size = self.voters_in_set // 2 + 1
        for group in combinations(sorted(self.voters), size):
            if all(self.linked(one, other) for one, other in combinations(group, 2)):
                return frozenset(group)
        return None

    def led_in_vain(self) -> frozenset[int]:
        """Voters whom a majority reaches, while they are linked to some others but not to a majority.

        As leader such a voter is kept in office by Fetches whose answers get lost: check quorum counts requests,
        and a follower that gets no answers soon comes back from Prospective and asks again.
        While it is in office, those that do get its answers refuse all Pre-Votes, so it can block a connected
        majority for ever; the rules do not prevent that, and EventualLeader does not promise it.
        That takes four voters: of three, the one that gets its answers makes a majority with it.
        """
        return frozenset(voter for voter in self.voters if self._reached_in_vain(voter))

    def _reached_in_vain(self, voter: int) -> bool:
        others = self.voters - {voter}
        linked = sum(self.linked(voter, other) for other in others)
        heard = sum(self.hears(voter, other) for other in others)
        return linked > 0 and self.is_majority(1 + heard) and not self.is_majority(1 + linked)


def remaining_of(world: World, cuts: Collection[Link], stopped: Collection[int]) -> Remaining:
    """What remains of a cluster when all but these links are mended and all but these replicas started."""
    states = {replica_id: replica.state for replica_id, replica in world.replicas.items() if replica_id not in stopped}
    return Remaining(
        voters=frozenset(replica_id for replica_id, state in states.items() if votes(state)),
        voters_in_set=len(world.configuration.voters),
        running=frozenset(states),
        cuts=frozenset(cuts),
    )


def running_leaders(world: World) -> list[ReplicaState]:
    """The states of the replicas that lead as far as they know, by ascending id."""
    return [replica.state for _, replica in sorted(world.replicas.items()) if replica.state.role is Role.LEADER]

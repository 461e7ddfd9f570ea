"""What a cluster survives: which voters still have the disks that their keys stand for.

A voter whose disk was replaced is gone for good, and whoever follows it under its id is somebody else.
So no number of replaced disks loses committed records: every majority that votes or acknowledges is one of voters that
kept their disks.
What too many of them cost is progress: a set most of whose voters are gone decides nothing any more.
"""

from kraft_reference.changes import ChangeKind, change_kind
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.remaining import live_sets, set_left
from kraft_simulation.membership import is_member
from kraft_simulation.world import World


def lost_voters(world: World, voters: VoterSet) -> list[ReplicaKey]:
    """The voters of a set that no replica is any more, by ascending id."""
    keys = {replica_id: state.key for replica_id, state in world.states.items()}
    return [
        voter
        for voter in sorted(voters, key=lambda entry: entry.id)
        if voter.id in keys and voter.directory_id not in (None, keys[voter.id].directory_id)
    ]


def sets_to_come(world: World) -> list[VoterSet]:
    """The sets with which somebody could lead now, and those that an addition in progress would make."""
    states = list(world.states.values())
    known = live_sets(states, world.committed_end)
    for state in states:
        change = state.pending_change
        if change is not None and change.voter is not None and change_kind(change) is ChangeKind.ADD:
            known.append(state.voters | {change.voter})
    return known


def _is_left(world: World, voters: VoterSet, without: int, of: VoterSet) -> bool:
    """Are the voters of a set whom the others can count on, without one replica, more than half of another set?

    Whoever lost its disk is none of them, and neither is a removed one with the longest log; see `set_left`.
    """
    left = set_left(voters, [state for replica_id, state in world.states.items() if replica_id != without])
    return 2 * len(left.members) > len(of)


def survives_disk_loss(world: World, replica_id: int) -> bool:
    """Does every set keep a majority when a replica loses its disk?

    Never at kraft.version 0, nor later for a voter that was static once: an empty replica with that configuration takes
    itself for the same voter, would vote twice in an epoch, and a majority could forget what it acknowledged.
    """
    configuration = world.configuration
    if not configuration.kraft_version and any(voter.id == replica_id for voter in configuration.voters):
        return False
    state = world.state(replica_id)
    concerned = [voters for voters in sets_to_come(world) if is_member(state.key, voters)]
    return all(_is_left(world, voters, replica_id, voters) for voters in concerned)


def survives_removal(world: World, leader: ReplicaState, voter: ReplicaKey) -> bool:
    """Can the others go on without a voter, also if its leader crashes before anybody else knows?

    A leader that removes itself and crashes has the longest log, gives no other voter its vote and asks for none, so
    that the others need a majority of the old set without it.
    """
    after = leader.voters - {voter}
    old = leader.voters if voter.id == leader.key.id else after
    return bool(after) and _is_left(world, after, -1, after) and _is_left(world, after, -1, old)

"""Survival of disk losses: which voters still have the disks of their keys.

A voter whose disk was replaced is lost forever; a replica with its id and another directory id is another replica.
So replaced disks never lose committed records: every majority that votes or acknowledges consists of voters that kept
their disks.  But a voter set that has lost its majority makes no progress any more.
"""

from kraft_reference.changes import ChangeKind, change_kind
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.remaining import live_sets, set_left
from kraft_simulation.membership import is_member
from kraft_simulation.world import World


def lost_voters(world: World, voters: VoterSet) -> list[ReplicaKey]:
    """Return the lost voters of a set, by ascending id."""
    keys = {replica_id: state.key for replica_id, state in world.states.items()}
    return [
        voter
        for voter in sorted(voters, key=lambda entry: entry.id)
        if voter.id in keys and voter.directory_id not in (None, keys[voter.id].directory_id)
    ]


def sets_to_come(world: World) -> list[VoterSet]:
    """Return the voter sets with which a replica could lead now, and those of pending additions."""
    states = list(world.states.values())
    sets = live_sets(states, world.committed_end)
    for state in states:
        change = state.pending_change
        if change is not None and change.voter is not None and change_kind(change) is ChangeKind.ADD:
            sets.append(state.voters | {change.voter})
    return sets


def _is_left(world: World, voters: VoterSet, without: int, of: VoterSet) -> bool:
    """True if the available voters of a set, without one replica, are a majority of another set.

    Not available are lost voters and a removed leader with the longest log; see `set_left`.
    """
    left = set_left(voters, [state for replica_id, state in world.states.items() if replica_id != without])
    return 2 * len(left.members) > len(of)


def survives_disk_loss(world: World, replica_id: int) -> bool:
    """True if every set keeps a majority when a replica loses its disk.

    Always False at kraft.version 0, and later for a former static voter: after losing its disk it would still act as
    the same voter, vote twice in an epoch, and a majority could lose acknowledged records.
    """
    configuration = world.configuration
    if not configuration.kraft_version and any(voter.id == replica_id for voter in configuration.voters):
        return False
    state = world.state(replica_id)
    concerned = [voters for voters in sets_to_come(world) if is_member(state.key, voters)]
    return all(_is_left(world, voters, replica_id, voters) for voters in concerned)


def survives_removal(world: World, leader: ReplicaState, voter: ReplicaKey) -> bool:
    """True if the others can continue without a voter, even if its leader crashes before they learn of the removal.

    A leader that removes itself and crashes has the longest log, grants no vote and does not campaign, so the others
    need a majority of the old set without it.
    """
    after = leader.voters - {voter}
    old = leader.voters if voter.id == leader.key.id else after
    return bool(after) and _is_left(world, after, -1, after) and _is_left(world, after, -1, old)

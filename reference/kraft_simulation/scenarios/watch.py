"""What the states of a scenario violate, judged after every occurrence.

The names are those at the head of the rule catalogue.  Liveness is not judged here: a script shows a loop.
"""

from collections.abc import Mapping

from kraft_reference.configuration import Configuration
from kraft_reference.roles import Role, role_changes
from kraft_reference.state import ReplicaState, is_majority, is_voter, other_voters
from kraft_simulation.invariants import Invariants
from kraft_simulation.occurrence import Occurrence

_ROLE_CHANGES = role_changes()


class PropertyWatch:
    """Collects the violated properties of one run, each with the sequence of its first violation."""

    def __init__(self, configuration: Configuration, initial: dict[int, ReplicaState]) -> None:
        self.violated: dict[str, int] = {}
        self._invariants = Invariants(configuration, initial)
        support = {replica.pre_vote for replica in configuration.replicas.values()}
        self._judges_elections = len(support) == 1
        """In a mixed cluster NoNeedlessElection promises nothing; one without any Pre-Vote is judged as if it had it,
        because that is what the texts compare with."""

    def observe(
        self,
        occurrence: Occurrence,
        before: Mapping[int, ReplicaState],
        after: ReplicaState,
        cuts: set[tuple[int, int]],
    ) -> None:
        """One event at the replica of `after`; `before` are all states before it."""
        old = before[after.key.id]
        found = (*self._invariants.observe(occurrence), *self._invariants.check_all(occurrence.sequence))
        broken = {violation.property_name for violation in found}
        if "LeaderCompleteness" in broken:
            broken.add("CommittedNeverLost")
        if after.role is not old.role and (old.role, after.role) not in _ROLE_CHANGES:
            broken.add("RoleChange")
        nominated = after.role in (Role.CANDIDATE, Role.LEADER) and after.epoch == old.epoch + 1
        if nominated and self._judges_elections and _is_led(old.epoch, before, cuts):
            broken.add("NoNeedlessElection")
        for name in sorted(broken):
            self.violated.setdefault(name, occurrence.sequence)


def _is_led(epoch: int, before: Mapping[int, ReplicaState], cuts: set[tuple[int, int]]) -> bool:
    """Does a Leader of the newest epoch have a majority fetching, over links that work?"""
    if any(state.epoch > epoch for state in before.values()):
        return False
    for leader in before.values():
        if leader.role is not Role.LEADER or leader.epoch != epoch:
            continue
        fetching = 1 if is_voter(leader) else 0
        for voter in other_voters(leader):
            state = before[voter.id]
            links = {(voter.id, leader.key.id), (leader.key.id, voter.id)}
            follows = state.role is Role.FOLLOWER and state.epoch == epoch and state.leader_id == leader.key.id
            fetching += follows and state.fetched and not links & cuts
        if is_majority(fetching, leader.voters):
            return True
    return False

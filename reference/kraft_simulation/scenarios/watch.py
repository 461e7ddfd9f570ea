"""Properties that a scenario violates, checked after every occurrence.

The names are those at the head of the rule catalogue.  Liveness is not checked here: a script shows a loop.
"""

from collections.abc import Mapping

from kraft_reference.configuration import Configuration
from kraft_reference.roles import Role, role_changes
from kraft_reference.state import ReplicaState, is_majority, is_voter, other_voters
from kraft_simulation.invariants import Invariants
from kraft_simulation.occurrence import Occurrence

_ROLE_CHANGES = role_changes()


class PropertyWatch:
    """Collects the violated properties of a run, each with the sequence number of its first violation."""

    def __init__(self, configuration: Configuration, initial: dict[int, ReplicaState]) -> None:
        self.violated: dict[str, int] = {}
        self._invariants = Invariants(configuration, initial)
        support = {replica.pre_vote for replica in configuration.replicas.values()}
        self._judges_elections = len(support) == 1
        """NoNeedlessElection is not checked in a mixed cluster.

        It is checked in one without any Pre-Vote, because the texts compare with that.
        """

    def observe(
        self,
        occurrence: Occurrence,
        before: Mapping[int, ReplicaState],
        after: ReplicaState,
        cuts: set[tuple[int, int]],
    ) -> None:
        """Check an event at the replica of `after`; `before` has all states before it."""
        old = before[after.key.id]
        violations = (*self._invariants.observe(occurrence), *self._invariants.check_all(occurrence.sequence))
        broken = {violation.property_name for violation in violations}
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
    """True if a majority fetches from a Leader of the newest epoch over working links."""
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

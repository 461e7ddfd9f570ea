"""The verbs of voter changes: what admin clients and joining replicas ask for, and how they are answered."""

from kraft_reference.effects import Timer
from kraft_reference.events import (
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
    AppendVoters,
    RemoveVoter,
    TakeSnapshot,
    UpdateFeatures,
)
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
)
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios.exchange import Exchange, answer_to, verdict_of


class ChangeVerbs(Exchange):
    """An exchange with requests for voter changes, which may be answered much later."""

    _requests = 0
    """The number of the last request of an admin client."""

    # -----------------------------------------------------------------------------------------------------
    # Beneath the requests.
    # -----------------------------------------------------------------------------------------------------

    def append_voters(self, leader: int, voters: VoterSet) -> Occurrence:
        """A new voters set at the end of the leader's log, which the rules of voter changes let it append."""
        occurrence = self.happen(leader, AppendVoters(voters))
        self.check("the refusal of the new set", occurrence.refusal, None)
        return occurrence

    def take_snapshot(self, replica_id: int, end_offset: int) -> Occurrence:
        """The state machine of a replica has a snapshot ready, and the log before its end is deleted."""
        occurrence = self.happen(replica_id, TakeSnapshot(end_offset))
        self.check("the refusal of the snapshot", occurrence.refusal, None)
        return occurrence

    def fetch_snapshot(self, source: int, leader: int, verdict: str = "ok") -> str:
        """A Follower fetches the snapshot that its leader has in place of records."""
        return self.handle(self.outstanding(source, leader, FetchSnapshotRequest), verdict)

    # -----------------------------------------------------------------------------------------------------
    # Admin clients and joining replicas.
    # -----------------------------------------------------------------------------------------------------

    def add_voter(self, leader: int, voter: int | ReplicaKey) -> int:
        """An admin client's AddVoter, answered after the commit; its number.  A bare id is on the disk it has now."""
        self._requests += 1
        key = self.state(voter).key if isinstance(voter, int) else voter
        endpoint = self.world.configuration.replicas[key.id].endpoint
        self.happen(leader, AddVoter(self._requests, key, endpoint))
        return self._requests

    def remove_voter(self, leader: int, voter: int | ReplicaKey) -> int:
        """An admin client's RemoveVoter; its number.  A bare id means the entry of the leader's set."""
        self._requests += 1
        entries = self.state(leader).voters
        key = next(one for one in entries if one.id == voter) if isinstance(voter, int) else voter
        self.happen(leader, RemoveVoter(self._requests, key))
        return self._requests

    def update_features(self, leader: int, kraft_version: int) -> int:
        """An admin client's UpdateFeatures for kraft.version, which all brokers support; its number."""
        self._requests += 1
        self.happen(leader, UpdateFeatures(self._requests, kraft_version))
        return self._requests

    def reassign(self, leader: int, *replica_ids: int) -> int:
        """An admin client's AlterPartitionReassignments for the quorum's partition; its number.

        Without ids it asks to stop at the voters that there are.
        """
        self._requests += 1
        self.happen(leader, AlterPartitionReassignments(self._requests, replica_ids or None))
        return self._requests

    def next_steps(self, leader: int, expected: str) -> None:
        """Whom the leader may add or remove next, as in `5 6`; `-` to clear or to hand over, nothing while it waits."""
        steps = self.world.replicas[leader].next_steps()
        names = " ".join(sorted("-" if one is None else str(one.id) for one in steps))
        self.check(f"next steps of N{leader}", names, expected)

    def advance(self, leader: int, replica_id: int | None = None) -> Occurrence:
        """The leader adds or removes this replica on the way to its target; without one it clears or hands over."""
        steps = self.world.replicas[leader].next_steps()
        chosen = [one for one in steps if (None if one is None else one.id) == replica_id]
        self.check(f"choices of N{leader} that name {replica_id}", len(chosen), 1)
        return self.happen(leader, AdvanceReassignment(chosen[0]))

    def voter_change_timeout(self, leader: int) -> Occurrence:
        """The time of the leader's pending voter change is over."""
        return self.fire(leader, Timer.VOTER_CHANGE)

    def learn_versions(self, leader: int, voter: int) -> None:
        """The leader asks a new voter for its versions and hears."""
        self.handle(self.outstanding(leader, voter, ApiVersionsRequest), "ok")

    def join(self, source: int, leader: int, verdict: str | None = None) -> str:
        """A joining replica adds itself; without a verdict there is no answer yet.  The id of the request."""
        return self._ask(source, leader, AddVoterRequest, verdict)

    def remove_old_self(self, source: int, leader: int) -> str:
        """A joining replica removes the voter of its id and an older disk; as `join` without a verdict."""
        return self._ask(source, leader, RemoveVoterRequest, None)

    def update_voter(self, source: int, leader: int, verdict: str | None) -> str:
        """A voter tells its leader of itself; as `join`."""
        return self._ask(source, leader, UpdateVoterRequest, verdict)

    def change_answer(self, leader: int, destination: int, verdict: str) -> None:
        """The answer that a replica has waited for since `join`, `remove_old_self` or `update_voter` arrives."""
        waiting = [one for one, _ in self.world.messages(leader, destination) if one.endswith(".change")]
        self.check(f"answers of N{leader} to N{destination}", len(waiting), 1)
        answer = self.world.in_flight[waiting[0]].message
        self.check(f"the answer of N{leader} to N{destination}", verdict_of(answer), verdict)
        self.deliver(waiting[0])

    def _ask(self, source: int, leader: int, kind: type[Request], verdict: str | None) -> str:
        request = self.outstanding(source, leader, kind)
        if verdict is not None:
            self.handle(request, verdict)
            return request
        asked = self.world.in_flight[request].message
        self.check(f"an answer of N{leader} to N{source}", answer_to(asked, self.deliver(request)), None)
        return request

"""Verbs of voter changes: requests of admin clients and joining replicas, and their replies."""

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
    """An exchange with requests for voter changes, whose replies may be much later."""

    _requests = 0
    """Number of the last request of an admin client."""

    # -----------------------------------------------------------------------------------------------------
    # Beneath the requests.
    # -----------------------------------------------------------------------------------------------------

    def append_voters(self, leader: int, voters: VoterSet) -> Occurrence:
        """Append a voter set to the leader's log, as the rules of voter changes allow."""
        occurrence = self.happen(leader, AppendVoters(voters))
        self.check("the refusal of the new set", occurrence.refusal, None)
        return occurrence

    def take_snapshot(self, replica_id: int, end_offset: int) -> Occurrence:
        """Let a replica take a snapshot, and delete the log before its end."""
        occurrence = self.happen(replica_id, TakeSnapshot(end_offset))
        self.check("the refusal of the snapshot", occurrence.refusal, None)
        return occurrence

    def fetch_snapshot(self, source: int, leader: int, verdict: str = "ok") -> str:
        """Let a Follower fetch the snapshot that replaces records of its leader."""
        return self.handle(self.outstanding(source, leader, FetchSnapshotRequest), verdict)

    # -----------------------------------------------------------------------------------------------------
    # Admin clients and joining replicas.
    # -----------------------------------------------------------------------------------------------------

    def add_voter(self, leader: int, voter: int | ReplicaKey) -> int:
        """Send AddVoter from an admin client, and return its number.  A bare id means its current disk."""
        self._requests += 1
        key = self.state(voter).key if isinstance(voter, int) else voter
        endpoint = self.world.configuration.replicas[key.id].endpoint
        self.happen(leader, AddVoter(self._requests, key, endpoint))
        return self._requests

    def remove_voter(self, leader: int, voter: int | ReplicaKey) -> int:
        """Send RemoveVoter from an admin client, and return its number.  A bare id means the leader's entry."""
        self._requests += 1
        entries = self.state(leader).voters
        key = next(entry for entry in entries if entry.id == voter) if isinstance(voter, int) else voter
        self.happen(leader, RemoveVoter(self._requests, key))
        return self._requests

    def update_features(self, leader: int, kraft_version: int) -> int:
        """Send UpdateFeatures for a level that all brokers support from an admin client, and return its number."""
        self._requests += 1
        self.happen(leader, UpdateFeatures(self._requests, kraft_version))
        return self._requests

    def reassign(self, leader: int, *replica_ids: int) -> int:
        """Send AlterPartitionReassignments for the quorum's partition from an admin client, and return its number.

        Without ids it ends the reassignment at the current voters.
        """
        self._requests += 1
        self.happen(leader, AlterPartitionReassignments(self._requests, replica_ids or None))
        return self._requests

    def next_steps(self, leader: int, expected: str) -> None:
        """Check whom the leader may add or remove next, `5 6`; `-` to clear or hand over, empty to wait."""
        steps = self.world.replicas[leader].next_steps()
        names = " ".join(sorted("-" if step is None else str(step.id) for step in steps))
        self.check(f"next steps of N{leader}", names, expected)

    def advance(self, leader: int, replica_id: int | None = None) -> Occurrence:
        """Let the leader add or remove this replica towards its target; without a replica it clears or hands over."""
        steps = self.world.replicas[leader].next_steps()
        chosen = [step for step in steps if (None if step is None else step.id) == replica_id]
        self.check(f"choices of N{leader} that name {replica_id}", len(chosen), 1)
        return self.happen(leader, AdvanceReassignment(chosen[0]))

    def voter_change_timeout(self, leader: int) -> Occurrence:
        """Let the leader's pending voter change time out."""
        return self.fire(leader, Timer.VOTER_CHANGE)

    def learn_versions(self, leader: int, voter: int) -> None:
        """Let the leader send ApiVersions to a new voter and receive the response."""
        self.handle(self.outstanding(leader, voter, ApiVersionsRequest), "ok")

    def join(self, source: int, leader: int, verdict: str | None = None) -> str:
        """Let a joining replica add itself, and return the request's id; without a verdict there is no response yet."""
        return self._ask(source, leader, AddVoterRequest, verdict)

    def remove_old_self(self, source: int, leader: int) -> str:
        """Let a joining replica remove the voter of its id and an older disk; a verdict as in `join`."""
        return self._ask(source, leader, RemoveVoterRequest, None)

    def update_voter(self, source: int, leader: int, verdict: str | None) -> str:
        """Let a voter send UpdateVoter to its leader; a verdict as in `join`."""
        return self._ask(source, leader, UpdateVoterRequest, verdict)

    def change_answer(self, leader: int, destination: int, verdict: str) -> None:
        """Deliver the pending response to `join`, `remove_old_self` or `update_voter`."""
        waiting = [
            message_id for message_id, _ in self.world.messages(leader, destination) if message_id.endswith(".change")
        ]
        self.check(f"answers of N{leader} to N{destination}", len(waiting), 1)
        answer = self.world.in_flight[waiting[0]].message
        self.check(f"the answer of N{leader} to N{destination}", verdict_of(answer), verdict)
        self.deliver(waiting[0])

    def _ask(self, source: int, leader: int, kind: type[Request], verdict: str | None) -> str:
        request = self.outstanding(source, leader, kind)
        if verdict is not None:
            self.handle(request, verdict)
            return request
        message = self.world.in_flight[request].message
        self.check(f"an answer of N{leader} to N{source}", answer_to(message, self.deliver(request)), None)
        return request

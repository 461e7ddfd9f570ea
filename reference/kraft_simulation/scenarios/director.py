"""Verbs of scenarios for a `World`: the texts write them as `ft(3)`, `pv(3>2) => no`, `cut(1-3)`.

Every action of a verb is an occurrence, so a scenario is a trace like any other.
A message over a cut link is lost at once; others stay in flight until a verb delivers or drops them.
Time advances by one millisecond for each occurrence, and to its deadline for a timer that fires.
"""

from kraft_reference.effects import Timer
from kraft_reference.events import (
    ClientAppend,
    Poll,
    PollFetch,
    RequestTimeout,
    Restart,
    Shutdown,
)
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    VoteRequest,
)
from kraft_reference.transitions import lacks_pre_vote
from kraft_simulation.occurrence import CrashPoint, Occurrence
from kraft_simulation.scenarios.change_verbs import ChangeVerbs
from kraft_simulation.scenarios.exchange import Answer


class Director(ChangeVerbs):
    """Drives a world through a scenario."""

    _values = 0
    """Payload of the last record that a client appended."""

    # -----------------------------------------------------------------------------------------------------
    # Timers, clients, operators, processes.
    # -----------------------------------------------------------------------------------------------------

    def election_timeout(self, replica_id: int) -> Occurrence:
        """Fire the election timer: `et(a)`."""
        return self.fire(replica_id, Timer.ELECTION)

    def fetch_timeout(self, replica_id: int) -> Occurrence:
        """Fire the fetch timer: `ft(a)`."""
        return self.fire(replica_id, Timer.FETCH)

    def check_quorum_timeout(self, replica_id: int) -> Occurrence:
        """Fire the check-quorum timer: `cq(a)`."""
        return self.fire(replica_id, Timer.CHECK_QUORUM)

    def begin_quorum_epoch_timeout(self, replica_id: int) -> Occurrence:
        """Fire the leader's BeginQuorumEpoch timer."""
        return self.fire(replica_id, Timer.BEGIN_QUORUM_EPOCH)

    def request_timeout(self, replica_id: int, destination: int) -> Occurrence:
        """Let a replica's request to `destination` time out."""
        self.world.time_ms += self.world.configuration.timeouts.request_timeout_ms
        return self.happen(replica_id, RequestTimeout(destination))

    def poll(self, replica_id: int) -> Occurrence:
        """Let a replica send its due election requests."""
        return self.happen(replica_id, Poll())

    def append(self, leader: int, end_offset: int | None = None) -> None:
        """Append a client's record, or as many as needed for this log end offset."""
        target = self.state(leader).log.end_offset + 1 if end_offset is None else end_offset
        while self.state(leader).log.end_offset < target:
            self._values += 1
            self.happen(leader, ClientAppend(self._values))

    def shutdown(self, leader: int) -> Occurrence:
        """Shut the leader down gracefully."""
        return self.happen(leader, Shutdown())

    def crash(self, *replica_ids: int) -> None:
        """Crash replicas; they lose unsynced records."""
        for replica_id in replica_ids:
            self.do(lambda crashed=replica_id: self.world.crash(crashed))  # type: ignore[misc]

    def restart(self, replica_id: int, endpoint: str | None = None) -> Occurrence:
        """Start a stopped replica from its disk, with the configured or another endpoint."""
        return self.happen(replica_id, Restart(endpoint))

    def replace_disk(self, replica_id: int, directory_id: str) -> Occurrence:
        """Give a stopped replica an empty disk."""
        return self.do(lambda: self.world.replace_disk(replica_id, directory_id))

    # -----------------------------------------------------------------------------------------------------
    # The network.
    # -----------------------------------------------------------------------------------------------------

    def cut(self, replica_id: int, *others: int) -> None:
        """Cut both directions of the links between a replica and each of the others: `cut(a-b)`."""
        for other in others:
            self.cut_one_way(replica_id, other)
            self.cut_one_way(other, replica_id)

    def heal(self, replica_id: int, *others: int) -> None:
        """Heal both directions: `heal(a-b)`."""
        for other in others:
            self.do(lambda to=other: self.world.heal(replica_id, to))  # type: ignore[misc]
            self.do(lambda to=other: self.world.heal(to, replica_id))  # type: ignore[misc]

    def cut_one_way(self, source: int, destination: int) -> Occurrence:
        """Cut the link from `source` to `destination`."""
        return self.do(lambda: self.world.cut(source, destination))

    def lose(self, source: int) -> None:
        """Drop every in-flight message of `source`."""
        for identifier, _ in list(self.world.messages(source)):
            self.do(lambda lost=identifier: self.world.drop(lost))  # type: ignore[misc]

    def deliver_and_crash(self, identifier: str, completed: int, log_end_offset: int) -> Occurrence:
        """Deliver a message to a replica that crashes after `completed` durable effects and sends of this step."""
        destination = int(identifier.split(".")[1])
        crash = CrashPoint(completed, log_end_offset)
        return self.do(lambda: self.world.deliver(identifier, self.draw(destination), crash))

    # -----------------------------------------------------------------------------------------------------
    # Requests and their answers.
    # -----------------------------------------------------------------------------------------------------

    def pre_vote(self, source: int, destination: int, verdict: str, answer: Answer = "delivered") -> str:
        """Exchange a Pre-Vote, `pv(a>b) => ok` for `granted`, `=> no` otherwise, and return the response's id."""
        request = self.outstanding(source, destination, VoteRequest)
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), True)
        return self.handle(request, verdict, answer)

    def has_pre_vote(self, replica_id: int) -> bool:
        """True if the software of the replica has KIP-996."""
        return not lacks_pre_vote(self.state(replica_id), self.world.configuration)

    def vote(self, source: int, destination: int, verdict: str, answer: Answer = "delivered") -> str:
        """Exchange a Vote of a Candidate, as `pre_vote`: `v(a>b)`."""
        request = self.outstanding(source, destination, VoteRequest)
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), False)
        return self.handle(request, verdict, answer)

    def begin_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """Exchange a BeginQuorumEpoch: `bqe(a>b)`."""
        return self.handle(self.outstanding(leader, destination, BeginQuorumEpochRequest), verdict)

    def end_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """Exchange an EndQuorumEpoch: `eqe(a>b)`."""
        return self.handle(self.outstanding(leader, destination, EndQuorumEpochRequest), verdict)

    def fetch(self, source: int, destination: int, verdict: str = "ok", answer: Answer = "delivered") -> str:
        """Exchange a Fetch: `f(a>b)`."""
        request = self.outstanding(source, destination, FetchRequest)
        return self.handle(request, verdict, answer)

    def replicate(self, follower: int, leader: int) -> None:
        """Exchange two Fetches, `f(a>b)`: the first brings records, the second acknowledges them."""
        self.fetch(follower, leader)
        self.fetch(follower, leader)

    def fetch_unanswered(self, source: int, destination: int) -> None:
        """Lose a Fetch on a cut link, and let it time out."""
        self.happen(source, PollFetch(destination))
        self.request_timeout(source, destination)

    def hold(self, source: int, destination: int) -> str:
        """Let `source` send its Pre-Vote or Vote, and return the id of the in-flight request to `destination`."""
        return self.outstanding(source, destination, VoteRequest)

    def pre_vote_unsupported(self, source: int, destination: int) -> Occurrence:
        """Let `source` handle UNSUPPORTED_VERSION for a Pre-Vote that `destination` cannot decode."""
        request = self.outstanding(source, destination, VoteRequest)
        return self.unsupported(request)

    def unsupported(self, request: str) -> Occurrence:
        """Do as `pre_vote_unsupported`, for an in-flight request."""
        occurrence = self.do(lambda: self.world.answer_unsupported_version(request))
        assert occurrence.answer is not None, "the world always answers"
        return self.deliver(f"{occurrence.sequence}.{occurrence.answer.destination}")

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _is_pre_vote(self, identifier: str) -> bool:
        message = self.world.in_flight[identifier].message
        return isinstance(message, VoteRequest) and message.pre_vote

"""Readable verbs over a `World`: what the scenario texts write as `ft(3)`, `pv(3>2) => no`, `cut(1-3)`.

Everything a verb does is an occurrence, so that a scenario is a trace like any other.
A message that is sent over a cut link is lost at once; others stay on their way until a verb takes them up.
Time passes by one millisecond for each occurrence, and to its deadline for a timer that fires.
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
    """Drives one world through one scenario."""

    _values = 0
    """The payload of the last record that a client appended."""

    # -----------------------------------------------------------------------------------------------------
    # Timers, clients, operators, processes.
    # -----------------------------------------------------------------------------------------------------

    def election_timeout(self, replica_id: int) -> Occurrence:
        """`et(a)`."""
        return self.fire(replica_id, Timer.ELECTION)

    def fetch_timeout(self, replica_id: int) -> Occurrence:
        """`ft(a)`."""
        return self.fire(replica_id, Timer.FETCH)

    def check_quorum_timeout(self, replica_id: int) -> Occurrence:
        """`cq(a)`."""
        return self.fire(replica_id, Timer.CHECK_QUORUM)

    def begin_quorum_epoch_timeout(self, replica_id: int) -> Occurrence:
        """The leader's announcement is due again."""
        return self.fire(replica_id, Timer.BEGIN_QUORUM_EPOCH)

    def request_timeout(self, replica_id: int, destination: int) -> Occurrence:
        """The replica gives up waiting for an answer of `destination`."""
        self.world.time_ms += self.world.configuration.timeouts.request_timeout_ms
        return self.happen(replica_id, RequestTimeout(destination))

    def poll(self, replica_id: int) -> Occurrence:
        """The replica sends the election requests that are due."""
        return self.happen(replica_id, Poll())

    def append(self, leader: int, end_offset: int | None = None) -> None:
        """A client's records, one, or as many as it takes for this log end offset."""
        target = self.state(leader).log.end_offset + 1 if end_offset is None else end_offset
        while self.state(leader).log.end_offset < target:
            self._values += 1
            self.happen(leader, ClientAppend(self._values))

    def shutdown(self, leader: int) -> Occurrence:
        """The leader shuts down gracefully."""
        return self.happen(leader, Shutdown())

    def crash(self, *replica_ids: int) -> None:
        """Kill replicas; what they had not synced is lost."""
        for replica_id in replica_ids:
            self.do(lambda one=replica_id: self.world.crash(one))  # type: ignore[misc]

    def restart(self, replica_id: int, endpoint: str | None = None) -> Occurrence:
        """Start a stopped replica from its disk, listening where the configuration says or somewhere else."""
        return self.happen(replica_id, Restart(endpoint))

    def replace_disk(self, replica_id: int, directory_id: str) -> Occurrence:
        """Give a stopped replica an empty disk."""
        return self.do(lambda: self.world.replace_disk(replica_id, directory_id))

    # -----------------------------------------------------------------------------------------------------
    # The network.
    # -----------------------------------------------------------------------------------------------------

    def cut(self, one: int, *others: int) -> None:
        """`cut(a-b)`: both directions of the links between `one` and each of the others."""
        for other in others:
            self.cut_one_way(one, other)
            self.cut_one_way(other, one)

    def heal(self, one: int, *others: int) -> None:
        """`heal(a-b)`: both directions."""
        for other in others:
            self.do(lambda to=other: self.world.heal(one, to))  # type: ignore[misc]
            self.do(lambda to=other: self.world.heal(to, one))  # type: ignore[misc]

    def cut_one_way(self, source: int, destination: int) -> Occurrence:
        """From now on nothing gets from `source` to `destination`."""
        return self.do(lambda: self.world.cut(source, destination))

    def lose(self, source: int) -> None:
        """Lose every message of `source` that is on its way."""
        for identifier, _ in list(self.world.messages(source)):
            self.do(lambda lost=identifier: self.world.drop(lost))  # type: ignore[misc]

    def deliver_and_crash(self, identifier: str, completed: int, log_end_offset: int) -> Occurrence:
        """Deliver a message to a replica that dies after `completed` durable effects and sends of handling it."""
        destination = int(identifier.split(".")[1])
        crash = CrashPoint(completed, log_end_offset)
        return self.do(lambda: self.world.deliver(identifier, self.draw(destination), crash))

    # -----------------------------------------------------------------------------------------------------
    # Requests and their answers.
    # -----------------------------------------------------------------------------------------------------

    def pre_vote(self, source: int, destination: int, verdict: str, answer: Answer = "delivered") -> str:
        """`pv(a>b) => ok` with the verdict `granted`, `=> no` with `refused` or an error; the answer's id."""
        request = self.outstanding(source, destination, VoteRequest)
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), True)
        return self.handle(request, verdict, answer)

    def has_pre_vote(self, replica_id: int) -> bool:
        """True if the software of the replica has KIP-996."""
        return not lacks_pre_vote(self.state(replica_id), self.world.configuration)

    def vote(self, source: int, destination: int, verdict: str, answer: Answer = "delivered") -> str:
        """`v(a>b)`: as `pre_vote`, but of a Candidate."""
        request = self.outstanding(source, destination, VoteRequest)
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), False)
        return self.handle(request, verdict, answer)

    def begin_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """`bqe(a>b)`."""
        return self.handle(self.outstanding(leader, destination, BeginQuorumEpochRequest), verdict)

    def end_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """`eqe(a>b)`."""
        return self.handle(self.outstanding(leader, destination, EndQuorumEpochRequest), verdict)

    def fetch(self, source: int, destination: int, verdict: str = "ok", answer: Answer = "delivered") -> str:
        """`f(a>b)`."""
        request = self.outstanding(source, destination, FetchRequest)
        return self.handle(request, verdict, answer)

    def replicate(self, follower: int, leader: int) -> None:
        """`f(a>b)` twice: the first brings records, and the second says that they are synced."""
        self.fetch(follower, leader)
        self.fetch(follower, leader)

    def fetch_unanswered(self, source: int, destination: int) -> None:
        """A Fetch that gets lost on a cut link, and whose sender gives up waiting."""
        self.happen(source, PollFetch(destination))
        self.request_timeout(source, destination)

    def hold(self, source: int, destination: int) -> str:
        """Let `source` send its Pre-Vote or Vote; the id of the request to `destination`, which is still on its way."""
        return self.outstanding(source, destination, VoteRequest)

    def pre_vote_unsupported(self, source: int, destination: int) -> Occurrence:
        """The Pre-Vote cannot be encoded for `destination`, and `source` is told so; handles that answer."""
        request = self.outstanding(source, destination, VoteRequest)
        return self.unsupported(request)

    def unsupported(self, request: str) -> Occurrence:
        """As `pre_vote_unsupported`, for a request that was held back."""
        occurrence = self.do(lambda: self.world.answer_unsupported_version(request))
        assert occurrence.answer is not None, "the world always answers"
        return self.deliver(f"{occurrence.sequence}.{occurrence.answer.destination}")

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _is_pre_vote(self, identifier: str) -> bool:
        message = self.world.in_flight[identifier].message
        return isinstance(message, VoteRequest) and message.pre_vote

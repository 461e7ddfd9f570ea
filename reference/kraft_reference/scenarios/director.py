"""Readable verbs over a `World`: what the scenario texts write as `ft(3)`, `pv(3>2) => no`, `cut(1-3)`.

Everything a verb does is an occurrence, so that a scenario is a trace like any other.
A message that is sent over a cut link is lost at once; others stay on their way until a verb takes them up.
Time passes by one millisecond for each occurrence, and to its deadline for a timer that fires.
"""

from typing import Literal

from kraft_reference.cluster.occurrence import CrashPoint, Occurrence, message_id
from kraft_reference.effects import Send, Timer
from kraft_reference.events import (
    AddVoter,
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    RemoveVoter,
    RequestTimeout,
    Restart,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    Error,
    FetchRequest,
    FetchSnapshotRequest,
    Message,
    RemoveVoterRequest,
    Request,
    Response,
    UpdateVoterRequest,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.scenarios.stage import Stage

Answer = Literal["delivered", "held", "lost"]
"""What becomes of an answer: handled at once, kept for a later `deliver`, or lost."""


class Director(Stage):
    """Drives one world through one scenario."""

    _values = 0
    """The payload of the last record that a client appended."""
    _requests = 0
    """The number of the last request of an admin client."""

    # -----------------------------------------------------------------------------------------------------
    # Timers, clients, operators, processes.
    # -----------------------------------------------------------------------------------------------------

    def election_timeout(self, replica_id: int) -> Occurrence:
        """`et(a)`."""
        return self.fire(replica_id, Timer.ELECTION, ElectionTimeout())

    def fetch_timeout(self, replica_id: int) -> Occurrence:
        """`ft(a)`."""
        return self.fire(replica_id, Timer.FETCH, FetchTimeout())

    def check_quorum_timeout(self, replica_id: int) -> Occurrence:
        """`cq(a)`."""
        return self.fire(replica_id, Timer.CHECK_QUORUM, CheckQuorumTimeout())

    def begin_quorum_epoch_timeout(self, replica_id: int) -> Occurrence:
        """The leader's announcement is due again."""
        return self.fire(replica_id, Timer.BEGIN_QUORUM_EPOCH, BeginQuorumEpochTimeout())

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

    def deliver(self, identifier: str) -> Occurrence:
        """Deliver a message that was held back."""
        destination = int(identifier.split(".")[1])
        return self.do(lambda: self.world.deliver(identifier, self.draw(destination)))

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
        request = self._outstanding(source, destination, VoteRequest, Poll())
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), True)
        return self.handle(request, verdict, answer)

    def vote(self, source: int, destination: int, verdict: str, answer: Answer = "delivered") -> str:
        """`v(a>b)`: as `pre_vote`, but of a Candidate."""
        request = self._outstanding(source, destination, VoteRequest, Poll())
        self.check("the request is a Pre-Vote", self._is_pre_vote(request), False)
        return self.handle(request, verdict, answer)

    def begin_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """`bqe(a>b)`."""
        return self.handle(self._outstanding(leader, destination, BeginQuorumEpochRequest, Poll()), verdict)

    def end_quorum_epoch(self, leader: int, destination: int, verdict: str = "ok") -> str:
        """`eqe(a>b)`."""
        return self.handle(self._outstanding(leader, destination, EndQuorumEpochRequest, Poll()), verdict)

    def fetch(self, source: int, destination: int, verdict: str = "ok", answer: Answer = "delivered") -> str:
        """`f(a>b)`."""
        request = self._outstanding(source, destination, FetchRequest, PollFetch(destination))
        return self.handle(request, verdict, answer)

    def fetch_unanswered(self, source: int, destination: int) -> None:
        """A Fetch that gets lost on a cut link, and whose sender gives up waiting."""
        self.happen(source, PollFetch(destination))
        self.request_timeout(source, destination)

    def fetch_snapshot(self, source: int, leader: int, verdict: str = "ok") -> str:
        """A Follower fetches the snapshot that its leader has in place of records."""
        return self.handle(self._outstanding(source, leader, FetchSnapshotRequest, PollFetch(leader)), verdict)

    def hold(self, source: int, destination: int) -> str:
        """Let `source` send its Pre-Vote or Vote; the id of the request to `destination`, which is still on its way."""
        return self._outstanding(source, destination, VoteRequest, Poll())

    def pre_vote_unsupported(self, source: int, destination: int) -> Occurrence:
        """The Pre-Vote cannot be encoded for `destination`, and `source` is told so; handles that answer."""
        request = self._outstanding(source, destination, VoteRequest, Poll())
        return self.unsupported(request)

    def unsupported(self, request: str) -> Occurrence:
        """As `pre_vote_unsupported`, for a request that was held back."""
        occurrence = self.do(lambda: self.world.answer_unsupported_version(request))
        assert occurrence.answer is not None, "the world always answers"
        return self.deliver(f"{occurrence.sequence}.{occurrence.answer.destination}")

    def handle(self, request: str, verdict: str, answer: Answer = "delivered") -> str:
        """Deliver a request, check the verdict of its answer, and do with the answer as said; its id."""
        asked = self.world.in_flight[request].message
        occurrence = self.deliver(request)
        response = _answer_to(asked, occurrence)
        if response is None:
            self.fail(f"N{asked.destination}", f"an answer to N{asked.source}", "none")
        self.check(f"the answer of N{response.source} to N{response.destination}", _verdict(response), verdict)
        identifier = message_id(occurrence.sequence, response)
        on_its_way = identifier in self.world.in_flight
        if answer == "delivered":
            self.deliver(identifier)
        elif answer == "lost" and on_its_way:
            self.do(lambda: self.world.drop(identifier))
        return identifier

    # -----------------------------------------------------------------------------------------------------
    # Voter changes.
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

    def voter_change_timeout(self, leader: int) -> Occurrence:
        """The time of the leader's pending voter change is over."""
        return self.fire(leader, Timer.VOTER_CHANGE, VoterChangeTimeout())

    def learn_versions(self, leader: int, voter: int) -> None:
        """The leader asks a new voter for its versions and hears."""
        self.handle(self._outstanding(leader, voter, ApiVersionsRequest, Poll()), "ok")

    def join(self, source: int, leader: int, verdict: str | None = None) -> str:
        """A joining replica adds itself; without a verdict there is no answer yet.  The id of the request."""
        return self._ask(source, leader, AddVoterRequest, verdict)

    def remove_old_self(self, source: int, leader: int, verdict: str | None = None) -> str:
        """A joining replica removes the voter of its id and an older disk; as `join`."""
        return self._ask(source, leader, RemoveVoterRequest, verdict)

    def update_voter(self, source: int, leader: int, verdict: str | None) -> str:
        """A voter tells its leader of itself; as `join`."""
        return self._ask(source, leader, UpdateVoterRequest, verdict)

    def change_answer(self, leader: int, destination: int, verdict: str) -> None:
        """The answer that a replica has waited for since `join`, `remove_old_self` or `update_voter` arrives."""
        waiting = [one for one, _ in self.world.messages(leader, destination) if one.endswith(".change")]
        self.check(f"answers of N{leader} to N{destination}", len(waiting), 1)
        answer = self.world.in_flight[waiting[0]].message
        self.check(f"the answer of N{leader} to N{destination}", _verdict(answer), verdict)
        self.deliver(waiting[0])

    def _ask(self, source: int, leader: int, kind: type[Request], verdict: str | None) -> str:
        request = self._outstanding(source, leader, kind, Poll())
        if verdict is not None:
            self.handle(request, verdict)
            return request
        asked = self.world.in_flight[request].message
        self.check(f"an answer of N{leader} to N{source}", _answer_to(asked, self.deliver(request)), None)
        return request

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _is_pre_vote(self, identifier: str) -> bool:
        message = self.world.in_flight[identifier].message
        return isinstance(message, VoteRequest) and message.pre_vote

    def _outstanding(self, source: int, destination: int, kind: type[Request], poll: Event) -> str:
        """The request that `source` waits for `destination` to answer; sent now if it is only due."""
        found = self._on_its_way(source, destination, kind)
        if found is None:
            self.happen(source, poll)
            found = self._on_its_way(source, destination, kind)
        if found is None:
            self.fail(f"N{source}", f"a {kind.__name__} on its way to N{destination}", "none")
        return found

    def _on_its_way(self, source: int, destination: int, kind: type[Request]) -> str | None:
        correlation_id = self.state(source).awaiting.get(destination)
        for identifier, message in self.world.messages(source, destination):
            if isinstance(message, kind) and message.correlation_id == correlation_id:
                return identifier
        return None


def _answer_to(request: Message, occurrence: Occurrence) -> Response | None:
    """The answer to a request among what its receiver sent when it handled it; there may be others beside it."""
    kind = type(request).__name__.removesuffix("Request") + "Response"
    for effect in occurrence.effects:
        if isinstance(effect, Send) and isinstance(effect.message, Response):
            sent = effect.message
            same = (sent.destination, sent.correlation_id) == (request.source, request.correlation_id)
            if same and type(sent).__name__ == kind:
                return sent
    return None


def _verdict(response: Message) -> str:
    assert isinstance(response, Response), "a request is answered by a response"
    if isinstance(response, ApiVersionsResponse) or response.error is Error.NONE:
        return _granted(response) if isinstance(response, VoteResponse) else "ok"
    return str(response.error)


def _granted(response: VoteResponse) -> str:
    return "granted" if response.granted else "refused"

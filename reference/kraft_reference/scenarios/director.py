"""Readable verbs over a `World`: what the scenario texts write as `ft(3)`, `pv(3>2) => no`, `cut(1-3)`.

Everything a verb does is an occurrence, so that a scenario is a trace like any other.
A message that is sent over a cut link is lost at once; others stay on their way until a verb takes them up.
Time passes by one millisecond for each occurrence, and to its deadline for a timer that fires.
"""

from collections.abc import Callable
from typing import Literal, NoReturn

from kraft_reference.cluster.occurrence import CrashPoint, Occurrence
from kraft_reference.cluster.world import ImpossibleMoveError, World
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send, StartTimer, Timer
from kraft_reference.elections import has_election_timer
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    RequestTimeout,
    Shutdown,
)
from kraft_reference.identity import VoterSet
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    Error,
    FetchRequest,
    Message,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.outcome import Refusal
from kraft_reference.roles import Role
from kraft_reference.scenarios.notation import differs
from kraft_reference.scenarios.watch import PropertyWatch
from kraft_reference.state import ReplicaState

Answer = Literal["delivered", "held", "lost"]
"""What becomes of an answer: handled at once, kept for a later `deliver`, or lost."""

_IMPOSSIBLE = frozenset({Refusal.NOT_RUNNING, Refusal.RUNNING, Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE})
"""Refusals of events that do not happen to a replica in its role, so that no trace may contain them."""


class ScenarioFailure(AssertionError):  # noqa: N818 - a failed expectation, not an error of the code
    """The reference does something else than the scenario says."""

    def __init__(self, scenario: str, step: str, subject: str, expected: object, actual: object, sequence: int) -> None:
        super().__init__(
            f"scenario {scenario}, step {step!r}: {subject}: expected {expected}, actual {actual}"
            f" (after occurrence {sequence})"
        )
        self.scenario = scenario
        self.step = step
        self.subject = subject
        self.expected = expected
        self.actual = actual


class Director:
    """Drives one world through one scenario."""

    def __init__(self, scenario: str, configuration: Configuration) -> None:
        self.world = World(configuration)
        self.occurrences: list[Occurrence] = []
        self.watch = PropertyWatch(configuration)
        self.shown: set[str] = set()
        """Liveness properties that a loop has shown to be violated."""
        self._scenario = scenario
        self._step = "the starting situation"
        self._deadlines: dict[tuple[int, Timer], int] = {}
        self._values = 0

    def step(self, text: str) -> None:
        """Name the step of the text that comes next."""
        self._step = text

    def fail(self, subject: str, expected: object, actual: object) -> NoReturn:
        """Raise a `ScenarioFailure` for the step in progress."""
        raise ScenarioFailure(self._scenario, self._step, subject, expected, actual, self.world.sequence)

    def state(self, replica_id: int) -> ReplicaState:
        """The state of a replica now."""
        return self.world.state(replica_id)

    def ids(self) -> list[int]:
        """The replica ids, ascending."""
        return sorted(self.world.configuration.replicas)

    # -----------------------------------------------------------------------------------------------------
    # Timers, clients, operators, processes.
    # -----------------------------------------------------------------------------------------------------

    def election_timeout(self, replica_id: int) -> Occurrence:
        """`et(a)`."""
        return self._fire(replica_id, Timer.ELECTION, ElectionTimeout())

    def fetch_timeout(self, replica_id: int) -> Occurrence:
        """`ft(a)`."""
        return self._fire(replica_id, Timer.FETCH, FetchTimeout())

    def check_quorum_timeout(self, replica_id: int) -> Occurrence:
        """`cq(a)`."""
        return self._fire(replica_id, Timer.CHECK_QUORUM, CheckQuorumTimeout())

    def begin_quorum_epoch_timeout(self, replica_id: int) -> Occurrence:
        """The leader's announcement is due again."""
        return self._fire(replica_id, Timer.BEGIN_QUORUM_EPOCH, BeginQuorumEpochTimeout())

    def request_timeout(self, replica_id: int, destination: int) -> Occurrence:
        """The replica gives up waiting for an answer of `destination`."""
        self.world.time_ms += self.world.configuration.timeouts.request_timeout_ms
        return self._happen(replica_id, RequestTimeout(destination))

    def poll(self, replica_id: int) -> Occurrence:
        """The replica sends the election requests that are due."""
        return self._happen(replica_id, Poll())

    def append(self, leader: int, end_offset: int | None = None) -> None:
        """A client's records, one, or as many as it takes for this log end offset."""
        target = self.state(leader).log.end_offset + 1 if end_offset is None else end_offset
        while self.state(leader).log.end_offset < target:
            self._values += 1
            self._happen(leader, ClientAppend(self._values))

    def append_voters(self, leader: int, voters: VoterSet) -> Occurrence:
        """A new voters set at the end of the leader's log."""
        return self._happen(leader, AppendVoters(voters))

    def shutdown(self, leader: int) -> Occurrence:
        """The leader shuts down gracefully."""
        return self._happen(leader, Shutdown())

    def crash(self, *replica_ids: int) -> None:
        """Kill replicas; what they had not synced is lost."""
        for replica_id in replica_ids:
            self._do(lambda one=replica_id: self.world.crash(one))  # type: ignore[misc]

    def restart(self, replica_id: int) -> Occurrence:
        """Start a stopped replica from its disk."""
        return self._do(lambda: self.world.restart(replica_id, self._draw(replica_id)))

    def replace_disk(self, replica_id: int, directory_id: str) -> Occurrence:
        """Give a stopped replica an empty disk."""
        return self._do(lambda: self.world.replace_disk(replica_id, directory_id))

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
            self._do(lambda to=other: self.world.heal(one, to))  # type: ignore[misc]
            self._do(lambda to=other: self.world.heal(to, one))  # type: ignore[misc]

    def cut_one_way(self, source: int, destination: int) -> Occurrence:
        """From now on nothing gets from `source` to `destination`."""
        return self._do(lambda: self.world.cut(source, destination))

    def lose(self, source: int) -> None:
        """Lose every message of `source` that is on its way."""
        for identifier, _ in list(self.world.messages(source)):
            self._do(lambda lost=identifier: self.world.drop(lost))  # type: ignore[misc]

    def deliver(self, identifier: str) -> Occurrence:
        """Deliver a message that was held back."""
        destination = int(identifier.rpartition(".")[2])
        return self._do(lambda: self.world.deliver(identifier, self._draw(destination)))

    def deliver_and_crash(self, identifier: str, completed: int, log_end_offset: int) -> Occurrence:
        """Deliver a message to a replica that dies after `completed` durable effects and sends of handling it."""
        destination = int(identifier.rpartition(".")[2])
        crash = CrashPoint(completed, log_end_offset)
        return self._do(lambda: self.world.deliver(identifier, self._draw(destination), crash))

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
        self._happen(source, PollFetch(destination))
        self.request_timeout(source, destination)

    def hold(self, source: int, destination: int) -> str:
        """Let `source` send its Pre-Vote or Vote; the id of the request to `destination`, which is still on its way."""
        return self._outstanding(source, destination, VoteRequest, Poll())

    def pre_vote_unsupported(self, source: int, destination: int) -> Occurrence:
        """The Pre-Vote cannot be encoded for `destination`, and `source` is told so; handles that answer."""
        request = self._outstanding(source, destination, VoteRequest, Poll())
        return self.unsupported(request)

    def unsupported(self, request: str) -> Occurrence:
        """As `pre_vote_unsupported`, for a request that was held back."""
        occurrence = self._do(lambda: self.world.answer_unsupported_version(request))
        assert occurrence.answer is not None, "the world always answers"
        return self.deliver(f"{occurrence.sequence}.{occurrence.answer.destination}")

    def handle(self, request: str, verdict: str, answer: Answer = "delivered") -> str:
        """Deliver a request, check the verdict of its answer, and do with the answer as said; its id."""
        occurrence = self.deliver(request)
        (response,) = (effect.message for effect in occurrence.effects if isinstance(effect, Send))
        self.check(f"the answer of N{response.source} to N{response.destination}", _verdict(response), verdict)
        identifier = f"{occurrence.sequence}.{response.destination}"
        on_its_way = identifier in self.world.in_flight
        if answer == "delivered":
            self.deliver(identifier)
        elif answer == "lost" and on_its_way:
            self._do(lambda: self.world.drop(identifier))
        return identifier

    # -----------------------------------------------------------------------------------------------------
    # Expectations.
    # -----------------------------------------------------------------------------------------------------

    def check(self, subject: str, actual: object, expected: object) -> None:
        """Fail unless two values are equal."""
        if actual != expected:
            self.fail(subject, expected, actual)

    def roles(self, *expected: str) -> None:
        """The roles of the replicas 1, 2, ... in the notation of the texts; an empty string is not compared."""
        for replica_id, role in enumerate(expected, 1):
            actual = differs(role, self.state(replica_id)) if role else None
            if actual is not None:
                self.fail(f"N{replica_id}", role, actual)

    def end_offsets(self, *expected: int) -> None:
        """The log end offsets of the replicas 1, 2, ..."""
        actual = tuple(self.state(n).log.end_offset for n in range(1, len(expected) + 1))
        self.check("log end offsets", actual, expected)

    def high_watermark(self, replica_id: int, expected: int) -> None:
        """The high watermark of a replica."""
        self.check(f"high watermark of N{replica_id}", self.state(replica_id).high_watermark, expected)

    def voters(self, replica_id: int, expected: VoterSet) -> None:
        """The voters set that a replica uses."""
        actual = {str(voter) for voter in self.state(replica_id).voters}
        self.check(f"voters set of N{replica_id}", sorted(actual), sorted(str(voter) for voter in expected))

    def fetched(self, replica_id: int, expected: bool) -> None:
        """Whether a Follower has fetched since it became one."""
        self.check(f"N{replica_id} has fetched", self.state(replica_id).fetched, expected)

    def never_nominates(self, replica_id: int) -> None:
        """The replica has no election timer that could fire."""
        self.check(f"election timer of N{replica_id}", has_election_timer(self.state(replica_id)), False)

    def lasso(self, round_: Callable[[], None], *violated: str, rounds: int = 3, epochs_grow: bool = False) -> None:
        """Go round a loop: after each round all states are what they were, so it may go on for ever.

        With `epochs_grow` the epochs rise by the same amount everywhere and the logs are not compared.
        """
        first = self._shape(epochs_grow)
        for _ in range(rounds):
            epoch = max(self.state(n).epoch for n in self.ids())
            round_()
            self.check("the loop", self._shape(epochs_grow), first)
            grown = max(self.state(n).epoch for n in self.ids()) > epoch
            self.check("the epochs grow in the loop", grown, epochs_grow)
        self.shown.update(violated)

    def _shape(self, epochs_grow: bool) -> object:
        states = [self.state(n) for n in self.ids()]
        if not epochs_grow:
            return tuple(state._replace(awaiting={}) for state in states)
        newest = max(state.epoch for state in states)
        running = (state for state in states if state.role is not Role.STOPPED)
        return tuple((s.key, s.role, s.leader_id, newest - s.epoch, s.voted_key, s.fetched) for s in running)

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _draw(self, replica_id: int) -> Draw:
        least_ms = self.world.configuration.timeouts.election_timeout_ms
        return self.world.draw(least_ms + 100 * replica_id, 100 * replica_id)

    def _is_pre_vote(self, identifier: str) -> bool:
        message = self.world.in_flight[identifier].message
        return isinstance(message, VoteRequest) and message.pre_vote

    def _outstanding(self, source: int, destination: int, kind: type[Request], poll: Event) -> str:
        """The request that `source` waits for `destination` to answer; sent now if it is only due."""
        found = self._on_its_way(source, destination, kind)
        if found is None:
            self._happen(source, poll)
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

    def _fire(self, replica_id: int, timer: Timer, event: Event) -> Occurrence:
        deadline = self._deadlines.pop((replica_id, timer), 0)
        self.world.time_ms = max(self.world.time_ms, deadline - 1)
        return self._happen(replica_id, event)

    def _happen(self, replica_id: int, event: Event) -> Occurrence:
        return self._do(lambda: self.world.happen(replica_id, event, self._draw(replica_id)))

    def _do(self, move: Callable[[], Occurrence]) -> Occurrence:
        before = {replica_id: self.state(replica_id) for replica_id in self.ids()}
        self.world.time_ms += 1
        try:
            occurrence = move()
        except ImpossibleMoveError as error:
            self.fail("the network", "a possible move", error)
        if occurrence.refusal in _IMPOSSIBLE:
            self.fail(f"N{occurrence.replica_id}", f"{type(occurrence.event).__name__} happens", occurrence.refusal)
        self.occurrences.append(occurrence)
        if occurrence.state is None:
            return occurrence
        self.watch.observe(occurrence.sequence, before, occurrence.state, occurrence.effects, self.world.cuts)
        for effect in occurrence.effects:
            if isinstance(effect, StartTimer):
                self._deadlines[occurrence.state.key.id, effect.timer] = occurrence.time_ms + effect.duration_ms
            elif isinstance(effect, Send) and (effect.message.source, effect.message.destination) in self.world.cuts:
                lost = f"{occurrence.sequence}.{effect.message.destination}"
                self._do(lambda one=lost: self.world.drop(one))  # type: ignore[misc]
        return occurrence


def _verdict(response: Message) -> str:
    assert isinstance(response, Response), "a request is answered by a response"
    if response.error is not Error.NONE:
        return str(response.error)
    if isinstance(response, VoteResponse):
        return "granted" if response.granted else "refused"
    return "ok"

"""Stage of a scenario: a world, its occurrences, and expectations."""

from collections.abc import Callable

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Answer, Send, StartTimer, Timer
from kraft_reference.elections import has_election_timer
from kraft_reference.events import Draw, Event
from kraft_reference.identity import ReplicaKey, Target, VoterSet, names
from kraft_reference.outcome import Refusal
from kraft_reference.records import RecordKind
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_reference.timers import TIMER_EVENTS
from kraft_simulation.occurrence import Occurrence, message_id
from kraft_simulation.scenarios.notation import differs
from kraft_simulation.scenarios.schedule import Expectations
from kraft_simulation.scenarios.watch import PropertyWatch
from kraft_simulation.world import ImpossibleMoveError, MakeReplica, World

_LETTERS = {
    RecordKind.LEADER_CHANGE: "LC",
    RecordKind.KRAFT_VERSION: "KV",
    RecordKind.VOTERS: "V",
    RecordKind.VOTER_ASSIGNMENT: "VA",
    RecordKind.DATA: "X",
}
"""Records as the texts write them."""

_IMPOSSIBLE = frozenset({Refusal.NOT_RUNNING, Refusal.RUNNING, Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE})
"""Refusals of events that are impossible in a role, so that no trace may contain them."""


class Stage(Expectations):
    """A world in a scenario."""

    def __init__(self, scenario: str, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        super().__init__(scenario)
        self.world = World(configuration, make_replica)
        self.occurrences: list[Occurrence] = []
        self.watch = PropertyWatch(configuration, {n: replica.state for n, replica in self.world.replicas.items()})
        self.answers: dict[int, str] = {}
        """Errors of the replies to admin clients, by the number of the request."""
        self._deadlines: dict[tuple[int, Timer], int] = {}

    @property
    def sequence(self) -> int:
        """Sequence number of the last occurrence."""
        return self.world.sequence

    def state(self, replica_id: int) -> ReplicaState:
        """Return the current state of a replica."""
        return self.world.state(replica_id)

    def ids(self) -> list[int]:
        """Replica ids, ascending."""
        return sorted(self.world.configuration.replicas)

    # -----------------------------------------------------------------------------------------------------
    # Expectations.
    # -----------------------------------------------------------------------------------------------------

    def roles(self, *expected: str) -> None:
        """Check the roles of the replicas 1, 2, ... in the notation of the texts; an empty string is not compared."""
        for replica_id, role in enumerate(expected, 1):
            actual = differs(role, self.state(replica_id)) if role else None
            if actual is not None:
                self.fail(f"N{replica_id}", role, actual)

    def end_offsets(self, *expected: int) -> None:
        """Check the log end offsets of the replicas 1, 2, ..."""
        actual = tuple(self.state(n).log.end_offset for n in range(1, len(expected) + 1))
        self.check("log end offsets", actual, expected)

    def high_watermark(self, replica_id: int, expected: int) -> None:
        """Check the high watermark of a replica."""
        self.check(f"high watermark of N{replica_id}", self.state(replica_id).high_watermark, expected)

    def voters(self, replica_id: int, expected: VoterSet) -> None:
        """Check the voter set of a replica."""
        actual = {str(voter) for voter in self.state(replica_id).voters}
        self.check(f"voter set of N{replica_id}", sorted(actual), sorted(str(voter) for voter in expected))

    def set_offset(self, replica_id: int, expected: int) -> None:
        """Check the offset of a replica's voter set; -1 before the log."""
        self.check(f"offset of the voter set of N{replica_id}", self.state(replica_id).log.voters[-1].offset, expected)

    def level(self, replica_id: int, expected: int) -> None:
        """Check the newest kraft.version in a replica's log."""
        self.check(f"kraft.version of N{replica_id}", self.state(replica_id).log.kraft_version, expected)

    def records(self, replica_id: int, start: int, expected: str) -> None:
        """Check the records of a replica from an offset to the end of its log, as in `LC KV V X`."""
        log = self.state(replica_id).log
        actual = " ".join(_LETTERS[record.kind] for record in log.between(start, log.end_offset))
        self.check(f"records of N{replica_id} from {start} on", actual, expected)

    def assignment(self, replica_id: int, offset: int, voters: VoterSet, target: Target) -> None:
        """Check the VoterAssignment of a replica at an offset, which is its target."""
        log = self.state(replica_id).log
        self.set_offset(replica_id, offset)
        actual = log.record(offset) if log.start_offset <= offset < log.end_offset else None
        self.check(f"kind of N{replica_id}@{offset}", actual and actual.kind, RecordKind.VOTER_ASSIGNMENT)
        self.voters(replica_id, voters)
        kept = log.voters[-1].target
        self.check(f"target of N{replica_id}", kept and sorted(kept), target and sorted(target))

    def line(self, leader: int, voters: VoterSet, end: int, offsets: str, high_watermark: int) -> None:
        """Check a leader's line of a table: newest set, log end, known offsets, high watermark."""
        self.voters(leader, voters)
        self.check(f"log end offset of N{leader}", self.state(leader).log.end_offset, end)
        self.offsets(leader, offsets)
        self.high_watermark(leader, high_watermark)

    def offsets(self, leader: int, expected: str) -> None:
        """Check the log ends of replicas as the leader knows them, including its own, as in `1:51 2:50 3-U3':0`.

        A replica without a named disk is a voter of the leader's set, or else one on its first disk.
        """
        state = self.state(leader)
        for name, offset in (token.split(":") for token in expected.split()):
            replica_id, _, disk = name.partition("-")
            entry = next((voter for voter in state.voters if voter.id == int(replica_id)), None)
            first = self.world.configuration.replicas[int(replica_id)].key
            key = ReplicaKey(int(replica_id), disk) if disk else entry or first
            acknowledged = state.log.end_offset if names(key, state.key) else state.fetch_offsets.get(key, 0)
            self.check(f"offset of {name} at N{leader}", acknowledged, int(offset))

    def answered(self, request: int, expected: str) -> None:
        """Check the reply to an admin client."""
        self.check(f"answer to request {request}", self.answers.get(request, "none yet"), expected)

    def unanswered(self, *requests: int) -> None:
        """Check the admin clients without a reply."""
        self.check("answered requests", [request for request in requests if request in self.answers], [])

    def fetched(self, replica_id: int, expected: bool) -> None:
        """Check that a Follower has fetched since it became one, or has not."""
        self.check(f"N{replica_id} has fetched", self.state(replica_id).fetched, expected)

    def never_nominates(self, replica_id: int) -> None:
        """Check that a replica has no election timer."""
        self.check(f"election timer of N{replica_id}", has_election_timer(self.state(replica_id)), False)

    def lasso(self, round_: Callable[[], None], *violated: str, rounds: int = 3, epochs_grow: bool = False) -> None:
        """Repeat a loop, and check that each round restores all states, so that it may continue forever.

        With `epochs_grow`, all epochs rise by the same amount, and the logs are not compared.
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

    def draw(self, replica_id: int) -> Draw:
        least_ms = self.world.configuration.timeouts.election_timeout_ms
        return self.world.draw(least_ms + 100 * replica_id, 100 * replica_id)

    def fire(self, replica_id: int, timer: Timer) -> Occurrence:
        deadline = self._deadlines.pop((replica_id, timer), 0)
        self.world.time_ms = max(self.world.time_ms, deadline - 1)
        return self.happen(replica_id, TIMER_EVENTS[timer])

    def happen(self, replica_id: int, event: Event) -> Occurrence:
        return self.do(lambda: self.world.happen(replica_id, event, self.draw(replica_id)))

    def do(self, move: Callable[[], Occurrence]) -> Occurrence:
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
        cuts = self.world.cuts
        self.watch.observe(occurrence, before, occurrence.state, cuts)
        for effect in occurrence.effects:
            if isinstance(effect, StartTimer):
                self._deadlines[occurrence.state.key.id, effect.timer] = occurrence.time_ms + effect.duration_ms
            elif isinstance(effect, Answer):
                request = effect.reply.request
                self.check(f"earlier answers to request {request}", self.answers.get(request, "none"), "none")
                self.answers[request] = str(effect.reply.error)
            elif isinstance(effect, Send) and (effect.message.source, effect.message.destination) in cuts:
                lost = message_id(occurrence.sequence, effect.message)
                self.do(lambda dropped=lost: self.world.drop(dropped))  # type: ignore[misc]
        return occurrence
